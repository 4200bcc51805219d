//! 32-bit Arm, ARM and Thumb code: register numbers, slots of simple rules, recognized code.
//!
//! Source: DWARF for the Arm Architecture, section 4.1: 0 to 15 are r0 to r15.

mod decode;
mod effect;
mod flow;

pub(crate) use decode::{DecodedInstruction, Effect, LR, PC, SP, decode};

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, NO_REGISTERS, Trampoline, no_push, no_slot, slot_of,
    word_of,
};
use crate::arch::effect::EffectForm;
use crate::arch::flow::FlowForm;
use crate::arch::{Arch, N_SLOTS, UNUSED};

/// The processor. A return address into Thumb code has its lowest bit set. There are several conventions for frame
/// pointers, and none is followed.
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::Arm,
    word: word_of(Arch::Arm),
    columns: 16,
    further_column: None,
    sp: SP,
    fp: FP,
    fp_slot: slot_of(FP, &SLOTS),
    frame_record: None,
    return_address: LR,
    pc: PC,
    slots: SLOTS,
    has_simple_rules: true,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 15,
    may_be_unknown: &[],
    return_addresses: 0xffff_fffe,
    flow: Some(FlowForm::Words(flow::step)),
    table_of_contents: None,
    effect: Some(EffectForm { run: effect::run, returns_to: Some(effect::returns_to) }),
    conventions: Conventions {
        preserved: SLOTS,
        callee_saved: NO_REGISTERS,
        caller_saved: &effect::CALLER_SAVED,
        first_argument: Some(0),
        cfa_above_sp: 0,
        handler_data: &[0, 1],
    },
    code: CodeForms {
        alignment: 2,
        mode_bit: THUMB,
        longest_call: CALL,
        ends_with_call,
        direct_call_target: no_target,
        slot_of_call: no_slot,
        system_call: 4,
        trampoline: Trampoline::Forms { begins: is_signal_trampoline, form: signal_form },
        signal_frame,
        is_signal_frame: None,
        padding: &[&[0, 0xf0, 0x20, 0xe3], &[0, 0xbf]],
        fillers: &[&[0, 0xf0, 0x20, 0xe3], &[0, 0xbf], &[0, 0]],
        longest_push: 4,
        moves_stack_pointer: no_push,
    },
};

const FP: u8 = 11;
/// The bit that marks an address of Thumb code.
const THUMB: u64 = 1;

/// lr, then r4 to r11.
const SLOTS: [u8; N_SLOTS] =
    [14, 4, 5, 6, 7, 8, 9, 10, 11, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED];

/// r0 to r15, in recordings of 32-bit Arm machines and of aarch64 machines. The latter also have r13 to r15 in the
/// positions of their sp, lr and pc; older kernels have the program counter only there.
///
/// Source: `enum perf_event_arm_regs` in `arch/arm/include/uapi/asm/perf_regs.h`; `perf_reg_value` in
/// `arch/arm64/kernel/perf_regs.c`.
const OF_MASK_BITS: [u8; 33] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED,
    UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, 14, 13, PC,
];

/// The numbers of `sigreturn` and `rt_sigreturn`. Their indexes are the forms of signal frames.
const CALLS: [u8; 2] = [119, 173];

/// Size of the longest call instruction, in bytes.
const CALL: usize = 4;

/// Returns the index in [`CALLS`] if the code begins with a return from a signal: `mov r7, #number; svc`, of ARM or
/// Thumb.
fn returns_from_signal(code: &[u8]) -> Option<usize> {
    let is_arm = |number: u8| {
        code.starts_with(&[number, 0x70, 0xa0, 0xe3]) && code.get(7).is_some_and(|it| *it == 0xef)
    };
    let is_thumb = |number: u8| code.starts_with(&[number, 0x27, 0x00, 0xdf]);
    CALLS.iter().position(|&number| is_arm(number) || is_thumb(number))
}

/// Returns true if the code is the start of a signal trampoline.
fn is_signal_trampoline(code: &[u8]) -> bool {
    returns_from_signal(code).is_some()
}

/// Returns the form of the frame on the stack, if the address at an index of the code is at a signal trampoline. It is
/// its first instruction, its system call, or one byte before the first.
fn signal_form(code: &[u8], at: usize) -> Option<usize> {
    let starts = [Some(at), at.checked_add(1), at.checked_sub(4), at.checked_sub(2)];
    let is_there = |(index, start): (usize, usize)| {
        let code = code.get(start..)?;
        // The system call is four bytes after the first instruction in ARM code, two in Thumb code.
        let is_arm = code.get(3).is_some_and(|byte| *byte == 0xe3);
        let fits = match index {
            2 => is_arm,
            3 => !is_arm,
            _ => true,
        };
        returns_from_signal(code).filter(|_| fits)
    };
    starts.into_iter().enumerate().filter_map(|(index, at)| Some((index, at?))).find_map(is_there)
}

/// Returns the offset of each saved register from the stack pointer at a signal trampoline. `siginfo` of 128 bytes
/// comes first if the handler requested it, then `ucontext` with its registers at offset 32.
///
/// Source: `struct sigframe` and `struct rt_sigframe` in `arch/arm/kernel/signal.h`; `struct sigcontext` in
/// `arch/arm/include/uapi/asm/sigcontext.h`.
fn signal_frame(form: usize) -> Vec<(u8, u64)> {
    let registers = if form == 0 { 32 } else { 128 + 32 };
    (0..16).map(|register| (register, registers + 4 * u64::from(register))).collect()
}

/// Returns true if the code ends with a call, of ARM or Thumb.
///
/// Source: Arm Architecture Reference Manual, BL, BLX (immediate) and BLX (register).
fn ends_with_call(code: &[u8]) -> bool {
    let word = code.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let (first, second) = (word & 0xffff, word >> 16);
    let is_thumb = first & 0xf800 == 0xf000 && second & 0xc000 == 0xc000;
    let is_arm = word & 0x0f00_0000 == 0x0b00_0000
        || word & 0xfe00_0000 == 0xfa00_0000
        || word & 0x0fff_fff0 == 0x012f_ff30;
    is_thumb || second & 0xff87 == 0x4780 || is_arm
}

/// Returns no target for a direct call, because the code does not show whether the call is ARM or Thumb.
const fn no_target(_code: &[u8], _return_address: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_other_code() {
        let arm = |word: u32| ends_with_call(&word.to_le_bytes());
        let thumb = |first: u32, second: u32| arm(second << 16 | first);
        assert!(arm(0xeb00_0010)); // bl
        assert!(arm(0xfa00_0010)); // blx
        assert!(arm(0xe12f_ff33)); // blx r3
        assert!(thumb(0xf7ff, 0xffef)); // bl
        assert!(thumb(0xf7ff, 0xeffe)); // blx
        assert!(thumb(0xbf00, 0x4798)); // blx r3
        assert!(!arm(0xe12f_ff1e)); // bx lr
        assert!(!arm(0xea00_0010)); // b
        assert!(!thumb(0xf7ff, 0xbfef)); // b.w
        assert!(!thumb(0xbf00, 0x4770)); // bx lr
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn places_in_trampolines_have_their_frames() {
        let nop = [0, 0xf0, 0x20, 0xe3];
        let forms = |code: &[u8], ats: [usize; 5]| ats.map(|at| signal_form(code, at));
        let arm = [&nop[..], &[119, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef]].concat();
        assert_eq!(forms(&arm, [0, 3, 4, 6, 8]), [None, Some(0), Some(0), None, Some(0)]);
        let thumb = [&nop[..], &[173, 0x27, 0x00, 0xdf]].concat();
        assert_eq!(forms(&thumb, [0, 3, 4, 6, 8]), [None, Some(1), Some(1), Some(1), None]);
    }
}
