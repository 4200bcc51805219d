//! 64-bit RISC-V: register numbers, slots of simple rules, recognized code.
//!
//! Source: RISC-V ELF psABI, "DWARF Register Numbers": 0 to 31 are x0 to x31. The program counter has none; it follows
//! them.

mod effect;
mod flow;

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, NO_REGISTERS, Trampoline, no_slot, slot_of, word_of,
};
use crate::arch::effect::EffectForm;
use crate::arch::flow::FlowForm;
use crate::arch::{Arch, N_SLOTS, UNUSED};

/// The processor. The frame pointer equals the CFA (psABI, "Frame Pointer Convention").
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::Riscv64,
    word: word_of(Arch::Riscv64),
    columns: 32,
    further_column: None,
    sp: SP,
    fp: FP,
    fp_slot: slot_of(FP, &SLOTS),
    frame_record: Some(-16),
    return_address: RETURN_ADDRESS,
    pc: PC,
    slots: SLOTS,
    has_simple_rules: true,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 0,
    may_be_unknown: &[],
    return_addresses: u64::MAX,
    flow: Some(FlowForm::Words(flow::step)),
    table_of_contents: None,
    effect: Some(EffectForm { run: effect::run, returns_to: Some(effect::returns_to) }),
    conventions: Conventions {
        preserved: SLOTS,
        callee_saved: NO_REGISTERS,
        caller_saved: &effect::CALLER_SAVED,
        first_argument: Some(10),
        cfa_above_sp: 0,
        handler_data: &[10, 11, 12, 13],
    },
    code: CodeForms {
        alignment: 2,
        mode_bit: 0,
        longest_call: CALL,
        ends_with_call,
        direct_call_target,
        slot_of_call: no_slot,
        system_call: 4,
        trampoline: Trampoline::Plain { code: &TRAMPOLINE, first: TRAMPOLINE_FIRST },
        signal_frame,
        is_signal_frame: None,
        padding: &[&[0x13, 0, 0, 0], &[1, 0]],
        fillers: &[&[0x13, 0, 0, 0], &[1, 0], &[0, 0]],
        longest_push: 4,
        moves_stack_pointer,
    },
};

const SP: u8 = 2;
/// s0.
const FP: u8 = 8;
/// ra.
const RETURN_ADDRESS: u8 = 1;
const PC: u8 = 32;

/// ra, then s0 to s11.
const SLOTS: [u8; N_SLOTS] =
    [1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, UNUSED, UNUSED, UNUSED];

/// The program counter, then x1 to x31.
///
/// Source: `enum perf_event_riscv_regs` in `arch/riscv/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 32] = [
    PC, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31,
];

/// `li a7, 139; ecall` (`__vdso_rt_sigreturn`).
const TRAMPOLINE: [u8; 8] = [0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00];
/// Size of its first instruction, in bytes.
const TRAMPOLINE_FIRST: usize = 4;

/// Size of the longest call instruction, in bytes.
const CALL: usize = 4;

/// Returns the offset of each saved register from the stack pointer at a signal trampoline. `siginfo` of 128 bytes
/// comes first, then `ucontext` with its registers, the program counter first, at offset 176.
///
/// Source: `struct rt_sigframe` in `arch/riscv/kernel/signal.c`, `struct ucontext`, `struct user_regs_struct`.
fn signal_frame(_form: usize) -> Vec<(u8, u64)> {
    OF_MASK_BITS.iter().zip(0..).map(|(&register, at)| (register, 128 + 176 + 8 * at)).collect()
}

/// Returns true if the code ends with a call.
///
/// Source: RISC-V unprivileged ISA, JAL and JALR with x1 as their target, C.JALR. The lower two bits distinguish
/// two-byte from four-byte instructions.
fn ends_with_call(code: &[u8]) -> bool {
    let word = code.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let half = word >> 16;
    word & 0xfff == 0x0ef
        || word & 0x7fff == 0x00e7
        || (half & 0xf07f == 0x9002 && half & 0xf80 != 0)
}

/// Returns the target of a direct call.
///
/// Source: RISC-V unprivileged ISA, JAL: bits 20, 10 to 1, 11 and 19 to 12 of a distance, counted from the instruction.
fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let word = u32::from_le_bytes(*code.last_chunk()?);
    let half = word >> 16;
    let is_short = half & 0xf07f == 0x9002 && half & 0xf80 != 0;
    let bits = (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 | word & 0xff000;
    let distance = i64::from(bits) - i64::from(word >> 31) * (1 << 20);
    let call = return_address.wrapping_sub(CALL as u64);
    (word & 0xfff == 0x0ef && !is_short).then_some(call.wrapping_add_signed(distance))
}

/// Returns true if the code ends with an instruction that adds `-bytes` to the stack pointer.
fn moves_stack_pointer(code: &[u8], bytes: i64, _register: Option<u8>) -> Option<bool> {
    let word = code.last_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    (1..=2048).contains(&bytes).then_some(adds(word?) == Some(-bytes))
}

/// Returns the number that an instruction adds to the stack pointer.
///
/// Source: RISC-V unprivileged ISA, ADDI, C.ADDI, C.ADDI16SP.
fn adds(word: u32) -> Option<i64> {
    let half = word >> 16;
    if word & 0x000f_ffff == 0x0001_0113 {
        return Some(i64::from(word.cast_signed() >> 20));
    }
    let bit = |from: u32, to: u32| i64::from(half >> from & 1) << to;
    let sign = -(bit(12, 0));
    if half & 0xef83 == 0x6101 {
        let value = bit(6, 4) | bit(2, 5) | bit(5, 6) | bit(3, 7) | bit(4, 8);
        return Some(value + sign * (1 << 9));
    }
    let value = i64::from(half >> 2 & 0x1f) + sign * (1 << 5);
    (half & 0xef83 == 0x0101).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_other_code() {
        let four = |word: u32| word.to_le_bytes();
        let two = |half: u32| (half << 16 | 1).to_le_bytes(); // after a nop
        assert!(ends_with_call(&four(0x1bc0_00ef))); // jal ra
        assert!(ends_with_call(&four(0x0007_80e7))); // jalr ra, a5
        assert!(ends_with_call(&two(0x9782))); // c.jalr a5
        assert!(!ends_with_call(&four(0x1bc0_006f))); // j
        assert!(!ends_with_call(&four(0x0000_8067))); // ret
        assert!(!ends_with_call(&two(0x8782))); // c.jr a5
        assert!(!ends_with_call(&two(0x9002))); // c.ebreak
        assert!(!ends_with_call(&two(0x953e))); // c.add a0, a5
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn a_direct_call_says_where_it_goes() {
        let target = |word: u32, next| direct_call_target(&word.to_le_bytes(), next);
        assert_eq!(target(0x1bc0_00ef, 0x10180), Some(0x10338));
        assert_eq!(target(0xfe9f_f0ef, 0x101d4), Some(0x101b8));
        assert_eq!(target(0x0007_80e7, 0x10180), None); // jalr ra, a5
        assert_eq!(target(0x9782_00ef, 0x10180), None); // c.jalr a5
        assert_eq!(direct_call_target(&[], 0x10180), None);
    }

    #[test]
    fn steps_of_the_stack_pointer_are_recognized() {
        let risc = |word: u32, bytes| moves_stack_pointer(&word.to_le_bytes(), bytes, None);
        assert_eq!(risc(0xfd01_0113, 48), Some(true)); // addi sp, sp, -48
        assert_eq!(risc(0x7179_0001, 48), Some(true)); // c.addi16sp -48
        assert_eq!(risc(0x1141_0001, 16), Some(true)); // c.addi sp, -16
        assert_eq!(risc(0x1141_0001, 32), Some(false));
    }
}
