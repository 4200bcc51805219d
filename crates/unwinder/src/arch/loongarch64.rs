//! 64-bit `LoongArch`: register numbers, the slots of a simple rule, code that is recognized.
//!
//! Source: `LoongArch` ELF psABI, "DWARF": 0 to 31 are r0 to r31. The program counter has no number; it follows them.

use crate::arch::numbers::Numbers;
use crate::arch::{N_SLOTS, UNUSED, WIDE};

/// Its registers and words. The frame pointer is the frame's address.
pub(super) const NUMBERS: Numbers = Numbers {
    word: WIDE,
    columns: 32,
    sp: 3,
    fp: 22,
    frame_record: Some(-16),
    return_address: 1,
    pc: PC,
    slots: SLOTS,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 0,
    may_be_unknown: &[],
    return_addresses: u64::MAX,
};

const PC: u8 = 32;

/// ra, then fp and s0 to s8.
const SLOTS: [u8; N_SLOTS] =
    [1, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED];

/// The program counter, then r1 to r31.
///
/// Source: `enum perf_event_loongarch_regs` in `arch/loongarch/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 32] = [
    PC, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31,
];

/// `ori $a7, $zero, 139; syscall 0` (`__vdso_rt_sigreturn`).
pub(super) const TRAMPOLINE: [u8; 8] = [0x0b, 0x2c, 0x82, 0x03, 0x00, 0x00, 0x2b, 0x00];
/// Bytes of the first of its instructions.
pub(super) const TRAMPOLINE_FIRST: usize = 4;

/// Bytes of a call.
pub(super) const CALL: usize = 4;

/// Where a signal trampoline finds each saved register, from the stack pointer: `siginfo` of 128 bytes, then `ucontext`
/// with the program counter 176 bytes into it, and the registers behind that, from r0 on.
///
/// Source: `struct rt_sigframe` in `arch/loongarch/kernel/signal.c`, `struct ucontext`, `struct sigcontext`.
pub(super) fn signal_frame() -> Vec<(u8, u64)> {
    let registers = (1..32).map(|register| (register, 128 + 176 + 8 + 8 * u64::from(register)));
    registers.chain([(PC, 128 + 176)]).collect()
}

/// Whether the code is a call.
///
/// Source: `LoongArch` Reference Manual, volume 1, BL, and JIRL with r1 as its target.
pub(super) fn ends_with_call(code: &[u8]) -> bool {
    let word = code.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    word >> 26 == 0b01_0101 || word & 0xfc00_001f == 0x4c00_0001
}

/// The address that a direct call calls.
///
/// Source: `LoongArch` Reference Manual, volume 1, BL: 26 bits of words, of which the upper ten come last.
pub(super) fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let word = u32::from_le_bytes(*code.last_chunk()?);
    let words = ((word & 0x3ff) << 16 | word >> 10 & 0xffff) << 6;
    let call = return_address.wrapping_sub(CALL as u64);
    let distance = i64::from(words.cast_signed() >> 6) * 4;
    (word >> 26 == 0b01_0101).then_some(call.wrapping_add_signed(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_other_code() {
        let is_call = |word: u32| ends_with_call(&word.to_le_bytes());
        assert!(is_call(0x5400_1000)); // bl
        assert!(is_call(0x4c00_0181)); // jirl $ra, $t0, 0
        assert!(!is_call(0x4c00_0020)); // jirl $zero, $ra, 0: ret
        assert!(!is_call(0x5000_1000)); // b
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn a_direct_call_says_where_it_goes() {
        let target = |word: u32| direct_call_target(&word.to_le_bytes(), 0x1004);
        assert_eq!(target(0x5400_1000), Some(0x1010));
        assert_eq!(target(0x57ff_ffff), Some(0xffc));
        assert_eq!(target(0x4c00_0181), None);
    }
}
