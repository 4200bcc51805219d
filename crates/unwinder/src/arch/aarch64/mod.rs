//! aarch64: register numbers, slots of simple rules, recognized code.
//!
//! Source: DWARF for the Arm 64-bit Architecture, section 4.1, for the DWARF numbers.

mod effect;
mod flow;

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, NO_REGISTERS, Trampoline, no_slot, slot_of, word_of,
};
use crate::arch::effect::EffectForm;
use crate::arch::flow::FlowForm;
use crate::arch::{Arch, N_REGISTERS, N_SLOTS, UNUSED};

/// The processor.
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::Aarch64,
    word: word_of(Arch::Aarch64),
    columns: N_REGISTERS as u8,
    further_column: None,
    sp: SP,
    fp: FP,
    fp_slot: slot_of(FP, &SLOTS),
    frame_record: Some(0),
    return_address: RETURN_ADDRESS,
    pc: PC,
    slots: SLOTS,
    has_simple_rules: true,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 32,
    may_be_unknown: &[],
    return_addresses: ADDRESS,
    flow: Some(FlowForm::Words(flow::step)),
    table_of_contents: None,
    effect: Some(EffectForm { run: effect::run, returns_to: Some(effect::returns_to) }),
    conventions: Conventions {
        preserved: SLOTS,
        callee_saved: NO_REGISTERS,
        caller_saved: &effect::CALLER_SAVED,
        first_argument: Some(0),
        cfa_above_sp: 0,
        handler_data: &[0, 1, 2, 3],
    },
    code: CodeForms {
        alignment: 4,
        mode_bit: 0,
        longest_call: CALL,
        ends_with_call,
        direct_call_target,
        slot_of_call: no_slot,
        system_call: 4,
        trampoline: Trampoline::Plain { code: &TRAMPOLINE, first: TRAMPOLINE_FIRST },
        signal_frame,
        is_signal_frame: None,
        padding: &[&[0x1f, 0x20, 0x03, 0xd5]],
        fillers: &[&[0x1f, 0x20, 0x03, 0xd5], &[0; 4]],
        longest_push: 4,
        moves_stack_pointer,
    },
};

const SP: u8 = 31;
const FP: u8 = 29;
/// The link register.
const RETURN_ADDRESS: u8 = 30;
const PC: u8 = 32;

/// The return address, then callee-saved registers.
const SLOTS: [u8; N_SLOTS] =
    [30, 29, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, UNUSED, UNUSED, UNUSED, UNUSED];

/// Source: `enum perf_event_arm_regs` in `arch/arm64/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 33] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 32,
];

/// Mask of the address bits that pointer authentication does not use.
///
/// Source: Arm ARM, "Pointer authentication": user addresses have bit 55 clear; addresses are of 48 bits at most
/// unless a process asks for more.
const ADDRESS: u64 = 0x0000_ffff_ffff_ffff;

/// `mov x8, #139; svc #0` (`__kernel_rt_sigreturn`).
const TRAMPOLINE: [u8; 8] = [0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4];
/// Size of its first instruction, in bytes.
const TRAMPOLINE_FIRST: usize = 4;

/// Size of a call, in bytes.
const CALL: usize = 4;

/// Returns the offset of each saved register from the stack pointer at a signal trampoline. `siginfo` of 128 bytes
/// comes first, then `ucontext` with `uc_mcontext` at offset 176, and its registers 8 bytes further.
///
/// Source: `struct rt_sigframe` and `struct sigcontext`.
fn signal_frame(_form: usize) -> Vec<(u8, u64)> {
    (0..=32).map(|register| (register, 128 + 176 + 8 + 8 * u64::from(register))).collect()
}

/// Returns true if the code is a call.
///
/// Source: Arm ARM, BL; BLR; BLRAA, BLRAB, BLRAAZ and BLRABZ.
fn ends_with_call(code: &[u8]) -> bool {
    let word = code.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    word & 0xfc00_0000 == 0x9400_0000
        || word & 0xffff_f81f == 0xd63f_0800
        || word & 0xffff_fc1f == 0xd63f_0000
}

/// Returns the target of a direct call.
///
/// Source: Arm ARM, BL: 26 bits of words, counted from the instruction.
fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let word = u32::from_le_bytes(*code.last_chunk()?);
    let words = (word << 6).cast_signed() >> 6;
    let call = return_address.wrapping_sub(CALL as u64);
    (word & 0xfc00_0000 == 0x9400_0000).then_some(call.wrapping_add_signed(i64::from(words) * 4))
}

/// Returns true if the code is `stp x29, x30, [sp, #-bytes]!`.
///
/// Source: Arm ARM, STP (pre-index).
fn moves_stack_pointer(code: &[u8], bytes: i64, register: Option<u8>) -> Option<bool> {
    let is_record = register == Some(FP) && (16..=512).contains(&bytes);
    let expected = 0xa980_7bfd | ((-bytes / 8) as u32 & 0x7f) << 15;
    let word = code.last_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    is_record.then_some(word? == expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direct_call_says_where_it_goes() {
        assert_eq!(direct_call_target(&0x9400_0001_u32.to_le_bytes(), 0x1004), Some(0x1004));
        assert_eq!(direct_call_target(&0x97ff_ffff_u32.to_le_bytes(), 0x1004), Some(0xffc));
        assert_eq!(direct_call_target(&0xd63f_0000_u32.to_le_bytes(), 0x1004), None); // blr x0
        assert_eq!(direct_call_target(&[], 0x1004), None);
    }

    #[test]
    fn frame_records_are_recognized() {
        let arm = |word: u32, bytes| moves_stack_pointer(&word.to_le_bytes(), bytes, Some(29));
        assert_eq!(arm(0xa9bf_7bfd, 16), Some(true)); // stp x29, x30, [sp, #-16]!
        assert_eq!(arm(0xa9bd_7bfd, 48), Some(true));
        assert_eq!(arm(0xa9bd_7bfd, 32), Some(false));
    }
}
