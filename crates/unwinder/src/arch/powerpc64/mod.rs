//! 64-bit POWER, little-endian: register numbers, slots of simple rules, recognized code.
//!
//! Source: 64-bit ELF V2 ABI of POWER, table 2.20: 0 to 31 are r0 to r31, 65 is the link register. Here the link
//! register and the program counter have the numbers after r31.

mod effect;
mod flow;

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, NO_REGISTERS, Trampoline, no_slot, slot_of, word_of,
};
use crate::arch::effect::EffectForm;
use crate::arch::flow::FlowForm;
use crate::arch::{Arch, N_SLOTS, UNUSED};

/// The processor. The back chain from the stack pointer leads to the caller, not a frame pointer.
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::Powerpc64,
    word: word_of(Arch::Powerpc64),
    columns: 32,
    further_column: Some((DWARF_LINK, LINK)),
    sp: 1,
    fp: FP,
    fp_slot: slot_of(FP, &SLOTS),
    frame_record: None,
    return_address: LINK,
    pc: PC,
    slots: SLOTS,
    has_simple_rules: true,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 32,
    may_be_unknown: &[],
    return_addresses: u64::MAX,
    flow: Some(FlowForm::Words(flow::step)),
    table_of_contents: Some(2),
    effect: Some(EffectForm { run: effect::run, returns_to: None }),
    conventions: Conventions {
        preserved: SLOTS,
        callee_saved: NO_REGISTERS,
        caller_saved: &effect::CALLER_SAVED,
        // The C library's entry code passes a table.
        first_argument: None,
        cfa_above_sp: 0,
        handler_data: &[3, 4, 5, 6],
    },
    code: CodeForms {
        alignment: 4,
        mode_bit: 0,
        longest_call: CALL,
        ends_with_call,
        direct_call_target,
        slot_of_call: no_slot,
        system_call: 4,
        trampoline: Trampoline::Forms { begins: is_signal_trampoline, form: signal_form },
        signal_frame,
        is_signal_frame: None,
        padding: &[&[0, 0, 0, 0x60]],
        fillers: &[&[0, 0, 0, 0x60], &[0; 4]],
        longest_push: 4,
        moves_stack_pointer,
    },
};

const FP: u8 = 31;
const LINK: u8 = 32;
const PC: u8 = 33;
/// The DWARF number of the link register.
const DWARF_LINK: u16 = 65;

/// The link register, then r31 to r17: functions save a range of registers that ends at r31.
const SLOTS: [u8; N_SLOTS] = [LINK, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17];

/// r0 to r31, the program counter, and the link register.
///
/// Source: `enum perf_event_powerpc_regs` in `arch/powerpc/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 37] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, PC, UNUSED, UNUSED, UNUSED, LINK,
];

/// `li r0, 172; sc`, usually after `addi r1, r1, 128` (`__kernel_sigtramp_rt64`).
const TRAMPOLINE: [u8; 8] = [0xac, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44];
const POP: [u8; 4] = [0x80, 0x00, 0x21, 0x38];

/// Size of a call, in bytes.
const CALL: usize = 4;

/// Returns true if the code is the start of a signal trampoline.
fn is_signal_trampoline(code: &[u8]) -> bool {
    code.strip_prefix(&POP).unwrap_or(code).starts_with(&TRAMPOLINE)
}

/// Returns the form of the frame on the stack, if the address at an index of the code is in a signal trampoline or one
/// byte before it. The form is 0 if its first instruction has not executed or is absent, 1 after it.
fn signal_form(code: &[u8], at: usize) -> Option<usize> {
    let is_at = |start: Option<usize>, bytes: &[u8]| {
        start.and_then(|start| code.get(start..)).is_some_and(|code| code.starts_with(bytes))
    };
    let whole = [POP.as_slice(), &TRAMPOLINE].concat();
    let is_whole = |start: Option<usize>| is_at(start, &whole);
    let is_bare = |start: Option<usize>| {
        is_at(start, &TRAMPOLINE) && !is_whole(start.and_then(|start| start.checked_sub(POP.len())))
    };
    let (here, next) = (Some(at), at.checked_add(1));
    let is_first = is_whole(here) || is_whole(next) || is_bare(here) || is_bare(next);
    if is_first || is_bare(at.checked_sub(4)) {
        Some(0)
    } else {
        (is_whole(at.checked_sub(4)) || is_whole(at.checked_sub(8))).then_some(1)
    }
}

/// Returns the offset of each saved register from the stack pointer at a signal trampoline. The area reserved for the
/// handler's callees comes first, then `ucontext` with its registers at offset 232.
///
/// Source: `struct rt_sigframe` in `arch/powerpc/kernel/signal_64.c`; `struct ucontext`, `struct sigcontext`, `struct
/// pt_regs`.
fn signal_frame(form: usize) -> Vec<(u8, u64)> {
    const CALLEE_AREA: u64 = 128;
    let registers = 232 + if form == 0 { CALLEE_AREA } else { 0 };
    let general = (0..32).map(|register| (register, registers + 8 * u64::from(register)));
    general.chain([(PC, registers + 8 * 32), (LINK, registers + 8 * 36)]).collect()
}

/// Returns true if the code is a call.
///
/// Source: Power ISA, branches that set the link register: B, BC, BCLR, BCCTR.
fn ends_with_call(code: &[u8]) -> bool {
    let word = code.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let is_indirect = matches!(word & 0xfc00_07ff, 0x4c00_0421 | 0x4c00_0021);
    word & 1 != 0 && (matches!(word >> 26, 16 | 18) || is_indirect)
}

/// Returns the target of a direct call.
///
/// Source: Power ISA, B: 24 bits of words, counted from the instruction.
fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let word = u32::from_le_bytes(*code.last_chunk()?);
    let distance = i64::from((word << 6).cast_signed() >> 8) * 4;
    let call = return_address.wrapping_sub(CALL as u64);
    (word & 0xfc00_0003 == 0x4800_0001).then_some(call.wrapping_add_signed(distance))
}

/// Returns true if the code is `stdu r1, -bytes(r1)`.
///
/// Source: Power ISA, STDU.
fn moves_stack_pointer(code: &[u8], bytes: i64, _register: Option<u8>) -> Option<bool> {
    let is_near = (32..=32768).contains(&bytes);
    let word = code.last_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    is_near.then_some(word? == 0xf821_0001 | (-bytes) as u32 & 0xfffc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_other_code() {
        let is_call = |word: u32| ends_with_call(&word.to_le_bytes());
        assert!(is_call(0x4800_0009)); // bl
        assert!(is_call(0x4e80_0421)); // bctrl
        assert!(is_call(0x4e80_0021)); // blrl
        assert!(!is_call(0x4800_0008)); // b
        assert!(!is_call(0x4e80_0020)); // blr
        assert!(!is_call(0x3821_0081)); // addi, an odd number
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn a_direct_call_says_where_it_goes() {
        let target = |word: u32| direct_call_target(&word.to_le_bytes(), 0x1004);
        assert_eq!(target(0x4800_0009), Some(0x1008));
        assert_eq!(target(0x4bff_fffd), Some(0xffc));
        assert_eq!(target(0x4e80_0421), None);
    }

    #[test]
    fn places_in_trampolines_have_their_frames() {
        let nop = [0, 0, 0, 0x60];
        let forms = |code: &[u8], ats: [usize; 5]| ats.map(|at| signal_form(code, at));
        let kernel = [&nop[..], &POP, &TRAMPOLINE].concat();
        assert_eq!(forms(&kernel, [0, 3, 4, 8, 12]), [None, Some(0), Some(0), Some(1), Some(1)]);
        let bare = [&nop[..], &TRAMPOLINE].concat();
        assert_eq!(forms(&bare, [0, 3, 4, 8, 12]), [None, Some(0), Some(0), Some(0), None]);
    }

    #[test]
    fn stores_that_make_a_frame_are_recognized() {
        let power = |word: u32| moves_stack_pointer(&word.to_le_bytes(), 64, None);
        assert_eq!(power(0xf821_ffc1), Some(true)); // stdu r1, -64(r1)
    }
}
