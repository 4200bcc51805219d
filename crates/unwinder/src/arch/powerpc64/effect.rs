//! Registers and stack slots of POWER. The link register has its number in frames.
//!
//! Source: Power ISA, "Fixed-Point Facility"; 64-bit ELF V2 ABI, "Register Roles".

use crate::arch::effect::{EffectMachine, padded_word};
use crate::arch::flow::signed;

const LINK: u8 = 32;

/// r0, r3 to r12, and the link register.
pub(super) const CALLER_SAVED: [u8; 12] = [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, LINK];

/// Runs an instruction that is not a branch.
pub(super) fn run(bytes: &[u8], _at: u64, machine: &mut EffectMachine<'_>) {
    let word = padded_word(bytes);
    if word >> 26 == 1 {
        // Eight-byte instructions write one register.
        let suffix = bytes.get(4..).map_or(0, padded_word);
        machine.kill((suffix >> 21 & 0x1f) as u8);
    } else {
        of_four_bytes(word, machine);
    }
}

fn of_four_bytes(word: u32, machine: &mut EffectMachine<'_>) {
    let (to, base) = ((word >> 21 & 0x1f) as u8, (word >> 16 & 0x1f) as u8);
    let number = signed(word, 16);
    let words = signed(word & 0xfffc, 16);
    match (word >> 26, word & 3) {
        // LD, LDU, LWA
        (58, 0) => machine.load(to, base, words),
        (58, 1) => {
            machine.load(to, base, words);
            machine.set(base, base, words);
        }
        (58, _) => machine.kill(to),
        // STD, STDU
        (62, 0) => machine.store(to, base, words),
        (62, 1) => {
            machine.store(to, base, words);
            machine.set(base, base, words);
        }
        // ADDI, ADDIS; with base 0 they are constants
        (14, _) if base == 0 => machine.constant(to, number),
        (14, _) => machine.set(to, base, number),
        (15, _) if base == 0 => machine.constant(to, number << 16),
        (15, _) => machine.set(to, base, number << 16),
        // STW, STB, STH
        (36, _) => machine.overwrite(base, number, 4),
        (38, _) => machine.overwrite(base, number, 1),
        (44, _) => machine.overwrite(base, number, 2),
        // STWU, STBU, STHU, LWZU, LBZU, LHZU, LHAU
        (37 | 39 | 45, _) => machine.kill(base),
        (33 | 35 | 41 | 43, _) => {
            machine.kill(to);
            machine.kill(base);
        }
        // Other loads, MULLI, SUBFIC, ADDIC
        (7 | 8 | 12 | 13 | 32 | 34 | 40 | 42, _) => machine.kill(to),
        // Comparisons, traps; floating point and vectors
        (2 | 3 | 4 | 10 | 11 | 17 | 48..=57 | 59..=61 | 63, _) => {}
        // BC that only reads its own address
        (16 | 18, _) => machine.kill(LINK),
        // Of immediates and bits: the target is the second register.
        (20..=30, _) => machine.kill(base),
        (31, _) => of_registers(word, to, base, machine),
        _ => {}
    }
}

fn of_registers(word: u32, to: u8, base: u8, machine: &mut EffectMachine<'_>) {
    let other = (word >> 11 & 0x1f) as u8;
    match word >> 1 & 0x3ff {
        // MFLR, MTLR
        339 if word & 0x001f_f800 == 0x0008_0000 => machine.set(to, LINK, 0),
        467 if word & 0x001f_f800 == 0x0008_0000 => machine.set(LINK, to, 0),
        467 => {}
        // OR of a register with itself, which is a move
        444 if to == other => machine.set(base, to, 0),
        // ADD
        266 => machine.add(to, base, other),
        // STDUX, STWUX
        181 | 183 => machine.kill(base),
        // Comparisons, traps
        0 | 32 | 4 | 68 => {}
        _ => {
            machine.kill(to);
            machine.kill(base);
        }
    }
}
