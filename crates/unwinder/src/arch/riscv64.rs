//! 64-bit RISC-V: register numbers, the slots of a simple rule, code that is recognized.
//!
//! Source: RISC-V ELF psABI, "DWARF Register Numbers": 0 to 31 are x0 to x31. The program counter has none; it follows them.

use crate::arch::numbers::Numbers;
use crate::arch::{N_SLOTS, UNUSED, WIDE};

/// Its registers and words. The frame pointer is the frame's address (psABI, "Frame Pointer Convention").
pub(super) const NUMBERS: Numbers = Numbers {
    word: WIDE,
    columns: 32,
    sp: SP,
    fp: FP,
    frame_record: Some(-16),
    return_address: RETURN_ADDRESS,
    pc: PC,
    slots: SLOTS,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 0,
    may_be_unknown: &[],
    return_addresses: u64::MAX,
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
pub(super) const TRAMPOLINE: [u8; 8] = [0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00];
/// Bytes of the first of its instructions.
pub(super) const TRAMPOLINE_FIRST: usize = 4;

/// Bytes of the longest instruction that is a call.
pub(super) const CALL: usize = 4;

/// Where a signal trampoline finds each saved register, from the stack pointer: `siginfo` of 128 bytes, then `ucontext`
/// with its registers, the program counter first, 176 bytes into it.
///
/// Source: `struct rt_sigframe` in `arch/riscv/kernel/signal.c`, `struct ucontext`, `struct user_regs_struct`.
pub(super) fn signal_frame() -> Vec<(u8, u64)> {
    OF_MASK_BITS.iter().zip(0..).map(|(&register, at)| (register, 128 + 176 + 8 * at)).collect()
}

/// Whether the code ends with a call.
///
/// Source: RISC-V unprivileged ISA, JAL and JALR with x1 as their target, C.JALR. Shorter instructions have other lower two
/// bits than those of four bytes.
pub(super) fn ends_with_call(code: &[u8]) -> bool {
    let word = code.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let half = word >> 16;
    word & 0xfff == 0x0ef
        || word & 0x7fff == 0x00e7
        || (half & 0xf07f == 0x9002 && half & 0xf80 != 0)
}

/// The address that a direct call calls.
///
/// Source: RISC-V unprivileged ISA, JAL: bits 20, 10 to 1, 11 and 19 to 12 of a distance, counted from the instruction.
pub(super) fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let word = u32::from_le_bytes(*code.last_chunk()?);
    let half = word >> 16;
    let is_short = half & 0xf07f == 0x9002 && half & 0xf80 != 0;
    let bits = (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 | word & 0xff000;
    let distance = i64::from(bits) - i64::from(word >> 31) * (1 << 20);
    let call = return_address.wrapping_sub(CALL as u64);
    (word & 0xfff == 0x0ef && !is_short).then_some(call.wrapping_add_signed(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_other_code() {
        let four = |word: u32| word.to_le_bytes();
        let two = |half: u32| (half << 16 | 1).to_le_bytes(); // behind a nop
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
}
