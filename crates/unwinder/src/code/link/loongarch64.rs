//! Registers and stack slots of `LoongArch`.
//!
//! Source: `LoongArch` Reference Manual, volume 1, "Table of Instruction Encoding"; ELF psABI, "Register Convention".

use crate::code::link::machine::{Machine, signed};

/// ra, a0 to a7, t0 to t8.
pub(super) const CALLER_SAVED: [u8; 18] =
    [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

/// Runs an instruction that is no branch.
pub(super) fn run(word: u32, machine: &mut Machine<'_>) {
    let (to, base) = ((word & 0x1f) as u8, (word >> 5 & 0x1f) as u8);
    let number = signed(word >> 10, 12);
    let long = signed(word >> 10, 14) * 4;
    match word >> 22 {
        // ST.B, ST.H, ST.W
        size @ 0xa4..=0xa6 => machine.overwrite(base, number, 1 << (size - 0xa4)),
        // ST.D; STPTR.D
        0xa7 if to != 0 => machine.store(to, base, number),
        0xa7 => machine.overwrite(base, number, 8),
        0x9c..=0x9f if to != 0 => machine.store(to, base, long),
        0x94..=0x97 => machine.overwrite(base, long, 4),
        // FST.S, FST.D; loads of floating point registers, prefetches
        0xad => machine.overwrite(base, number, 4),
        0xaf => machine.overwrite(base, number, 8),
        0xab | 0xac | 0xae => {}
        _ if to == 0 => {}
        // ADDI.D, LD.D; LDPTR.D
        0x0b if base == 0 => machine.constant(to, number),
        0x0b => machine.set(to, base, number),
        0xa3 => machine.load(to, base, number),
        0x98..=0x9b => machine.load(to, base, long),
        // OR with zero, which is a move
        _ if word & 0xffff_fc00 == 0x0015_0000 => machine.set(to, base, 0),
        // ADD.D
        _ if word >> 15 == 0x21 => machine.add(to, base, (word >> 10 & 0x1f) as u8),
        // LU12I.W
        _ if word >> 25 == 0x0a => machine.constant(to, signed(word >> 5, 20) << 12),
        _ => machine.kill(to),
    }
}
