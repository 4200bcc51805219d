//! 64-bit IBM Z, big-endian: register numbers, recognized code.
//!
//! Source: ELF ABI s390x Supplement, "DWARF Register Number Mapping": 0 to 15 are r0 to r15, 16 to 31 the floating
//! point registers in their own order; functions save other registers in them. The program counter (PSWA) is 65; here
//! it is 32.

mod effect;
mod flow;

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, NO_REGISTERS, Trampoline, no_push, no_slot, slot_of,
    word_of,
};
use crate::arch::effect::EffectForm;
use crate::arch::flow::FlowForm;
use crate::arch::{Arch, N_SLOTS, UNUSED};

/// The processor. No frame pointer leads to a record.
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::S390x,
    word: word_of(Arch::S390x),
    columns: 32,
    further_column: None,
    sp: 15,
    fp: FP,
    fp_slot: slot_of(FP, &NO_SLOTS),
    frame_record: None,
    return_address: 14,
    pc: PC,
    slots: NO_SLOTS,
    // They save registers above the CFA.
    has_simple_rules: false,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 33,
    may_be_unknown: &[],
    return_addresses: u64::MAX,
    flow: Some(FlowForm::Words(flow::step)),
    table_of_contents: None,
    effect: Some(EffectForm { run: effect::run, returns_to: None }),
    conventions: Conventions {
        preserved: PRESERVED,
        callee_saved: NO_REGISTERS,
        caller_saved: &effect::CALLER_SAVED,
        first_argument: Some(2),
        cfa_above_sp: SAVE_AREA,
        // Other functions save them, too.
        handler_data: &[],
    },
    code: CodeForms {
        alignment: 2,
        mode_bit: 0,
        longest_call: CALL,
        ends_with_call,
        direct_call_target,
        slot_of_call: no_slot,
        system_call: 2,
        trampoline: Trampoline::Forms { begins: is_signal_trampoline, form: signal_form },
        signal_frame,
        is_signal_frame: None,
        padding: &[&[7, 7]],
        fillers: &[&[7, 7], &[7, 0], &[0, 0]],
        longest_push: 4,
        moves_stack_pointer: no_push,
    },
};

const FP: u8 = 11;
const PC: u8 = 32;

const NO_SLOTS: [u8; N_SLOTS] = [UNUSED; N_SLOTS];

/// Registers that functions preserve: r6 to r13, f8 to f15.
///
/// Source: ELF ABI s390x Supplement, "Registers".
const PRESERVED: [u8; N_SLOTS] = [6, 7, 8, 9, 10, 11, 12, 13, 24, 25, 26, 27, 28, 29, 30, 31];

/// Distance of the CFA above the stack pointer at function entry, in bytes: the save area that the caller reserves.
///
/// Source: ELF ABI s390x Supplement, "The Stack Frame": the register save area.
const SAVE_AREA: u64 = 160;

/// r0 to r15, f0 to f15, the mask and the address of the program status word.
///
/// Source: `enum perf_event_s390_regs` in `arch/s390/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 34] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 17, 21, 18, 22, 19, 23, 24, 28,
    25, 29, 26, 30, 27, 31, UNUSED, PC,
];

/// Size of the longest call instruction, in bytes.
const CALL: usize = 6;

/// `svc 119` (`sigreturn`) and `svc 173` (`rt_sigreturn`). Their indexes are the forms of signal frames.
const TRAMPOLINES: [[u8; 2]; 2] = [[0x0a, 119], [0x0a, 173]];

/// Returns true if the code is a signal trampoline.
fn is_signal_trampoline(code: &[u8]) -> bool {
    TRAMPOLINES.iter().any(|trampoline| code.starts_with(trampoline))
}

/// Returns the form of the frame on the stack, if the address at an index of the code is at a signal trampoline. It may
/// also be one byte before it, or after it, while the kernel executes the call.
fn signal_form(code: &[u8], at: usize) -> Option<usize> {
    let starts = [Some(at), at.checked_add(1), at.checked_sub(2)];
    let is_there = |start: usize| {
        let code = code.get(start..)?;
        TRAMPOLINES.iter().position(|trampoline| code.starts_with(trampoline))
    };
    starts.into_iter().flatten().find_map(is_there)
}

/// Returns the offset of each saved register from the stack pointer at a signal trampoline. The register save area
/// comes first. Then come a mask and a pointer, or an instruction, `siginfo` of 128 bytes and 40 bytes of `ucontext`.
/// The program status word and the registers follow.
///
/// Source: `struct sigframe` and `struct rt_sigframe` in `arch/s390/kernel/signal.c`; `_sigregs` in
/// `arch/s390/include/uapi/asm/sigcontext.h`.
fn signal_frame(form: usize) -> Vec<(u8, u64)> {
    const FLOATS: [u8; 16] = [16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31];
    let status = SAVE_AREA + if form == 0 { 16 } else { 8 + 128 + 40 };
    let general = (0..16).map(|register| (register, status + 16 + 8 * u64::from(register)));
    // Access registers, of four bytes, and the control word are in between.
    let floats = FLOATS.iter().zip(0..).map(|(&it, at)| (it, status + 16 + 128 + 64 + 8 + 8 * at));
    general.chain(floats).chain([(PC, status + 8)]).collect()
}

/// Returns true if the code ends with a call.
///
/// Source: z/Architecture Principles of Operation, BRAS and BRASL with r14, BASR with r14 and a register to branch to.
fn ends_with_call(code: &[u8]) -> bool {
    let ends = |len: usize, start: [u8; 2], mask: u8| {
        let at = code.len().checked_sub(len).and_then(|at| code.get(at..)?.first_chunk::<2>());
        at.is_some_and(|it| it[0] == start[0] && it[1] & mask == start[1])
    };
    let is_indirect = ends(2, [0x0d, 0xe0], 0xf0) && !ends(2, [0x0d, 0xe0], 0xff);
    ends(6, [0xc0, 0xe5], 0xff) || ends(4, [0xa7, 0xe5], 0xff) || is_indirect
}

/// Returns the target of a direct call.
///
/// Source: z/Architecture Principles of Operation, BRASL: 32 bits of half words, counted from the instruction.
fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let (op, distance) = code.last_chunk::<6>()?.split_first_chunk::<2>()?;
    let halves = i32::from_be_bytes(*distance.first_chunk()?);
    let call = return_address.wrapping_sub(6);
    (*op == [0xc0, 0xe5]).then_some(call.wrapping_add_signed(i64::from(halves) * 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_other_code() {
        assert!(ends_with_call(&[0xc0, 0xe5, 0, 0, 0, 8])); // brasl %r14
        assert!(ends_with_call(&[7, 7, 0xa7, 0xe5, 0, 8])); // bras %r14
        assert!(ends_with_call(&[7, 7, 7, 7, 0x0d, 0xe1])); // basr %r14, %r1
        assert!(!ends_with_call(&[7, 7, 7, 7, 0x0d, 0xe0])); // basr %r14, 0
        assert!(!ends_with_call(&[0xc0, 0xf4, 0, 0, 0, 8])); // jg
        assert!(!ends_with_call(&[7, 7, 7, 7, 0x07, 0xfe])); // br %r14
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn a_direct_call_says_where_it_goes() {
        assert_eq!(direct_call_target(&[0xc0, 0xe5, 0, 0, 0, 8], 0x1006), Some(0x1010));
        let back = [0xc0, 0xe5, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(direct_call_target(&back, 0x1006), Some(0xffe));
        assert_eq!(direct_call_target(&[7, 7, 7, 7, 0x0d, 0xe1], 0x1006), None);
    }
}
