//! Registers and stack slots of RISC-V.
//!
//! Source: RISC-V unprivileged ISA, "RV32/64G Instruction Set Listings", "RVC Instruction Set Listings"; psABI,
//! "Integer Register Convention".

use crate::arch::effect::{EffectMachine, padded_word};
use crate::arch::flow::signed;

const SP: u8 = 2;

/// ra, t0 to t2, a0 to a7, t3 to t6.
pub(super) const CALLER_SAVED: [u8; 16] =
    [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];

/// Runs an instruction that is not a branch, of four bytes or in the lower half.
pub(super) fn run(bytes: &[u8], _at: u64, machine: &mut EffectMachine<'_>) {
    let word = padded_word(bytes);
    if word & 3 == 3 { wide(word, machine) } else { short(word & 0xffff, machine) }
}

fn wide(word: u32, machine: &mut EffectMachine<'_>) {
    let register = |at: u32| (word >> at & 0x1f) as u8;
    let (to, one, other) = (register(7), register(15), register(20));
    let immediate = signed(word >> 20, 12);
    let stored_at = signed(word >> 25, 7) << 5 | i64::from(to);
    match (word & 0x7f, word >> 12 & 7) {
        // stores
        (0x23, 3) if other != 0 => machine.store(other, one, stored_at),
        (0x23, size) => machine.overwrite(one, stored_at, 1 << (size & 3)),
        (0x27, size) => machine.overwrite(one, stored_at, 1 << (size & 7)),
        // loads of floating point registers, fences
        (0x07 | 0x0f, _) => {}
        _ if to == 0 => {}
        // LD, ADDI, ADDIW, LUI, ADD
        (0x03, 3) => machine.load(to, one, immediate),
        (0x13 | 0x1b, 0) if one == 0 => machine.constant(to, immediate),
        (0x13, 0) => machine.set(to, one, immediate),
        (0x1b, 0) => machine.set(to, one, immediate),
        (0x37, _) => machine.constant(to, i64::from((word & 0xffff_f000).cast_signed())),
        (0x33, 0) if word >> 25 == 0 => machine.add(to, one, other),
        _ => machine.kill(to),
    }
}

fn short(half: u32, machine: &mut EffectMachine<'_>) {
    let (to, other) = ((half >> 7 & 0x1f) as u8, (half >> 2 & 0x1f) as u8);
    let (small, base) = (8 + (half >> 2 & 7) as u8, 8 + (half >> 7 & 7) as u8);
    let bit = |from: u32, to: u32| (half >> from & 1) << to;
    let number = signed(bit(12, 5) | u32::from(other), 6);
    let near = i64::from(half >> 7 & 0x38 | half << 1 & 0xc0);
    match (half & 3, half >> 13) {
        // C.ADDI4SPN, C.LD, C.SD
        (0, 0) => {
            let size = half >> 7 & 0x30 | half >> 1 & 0x3c0 | bit(6, 2) | bit(5, 3);
            machine.set(small, SP, size.into());
        }
        (0, 3) => machine.load(small, base, near),
        (0, 7) => machine.store(small, base, near),
        (0, 2) => machine.kill(small),
        (0, 5) => machine.overwrite(base, near, 8),
        (0, 6) => machine.overwrite(base, i64::from(half >> 7 & 0x38 | bit(6, 2) | bit(5, 6)), 4),
        (0, 4) => machine.kill(small),
        // C.ADDI, C.ADDIW, C.LI
        (1, 0) => machine.set(to, to, number),
        (1, 1) => machine.kill(to),
        (1, 2) => machine.constant(to, number),
        // C.ADDI16SP, C.LUI
        (1, 3) if to == SP => {
            let bits = bit(12, 9) | bit(6, 4) | bit(5, 6) | half << 4 & 0x180 | bit(2, 5);
            machine.set(SP, SP, signed(bits, 10));
        }
        (1, 3) => machine.constant(to, number << 12),
        (1, 4) => machine.kill(base),
        // C.LWSP, C.LDSP, C.SDSP, C.SWSP, C.FSDSP
        (2, 2) => machine.kill(to),
        (2, 3) => {
            let offset = bit(12, 5) | half >> 2 & 0x18 | half << 4 & 0x1c0;
            machine.load(to, SP, offset.into());
        }
        (2, 7) => machine.store(other, SP, i64::from(half >> 7 & 0x38 | half >> 1 & 0x1c0)),
        (2, 5) => machine.overwrite(SP, i64::from(half >> 7 & 0x38 | half >> 1 & 0x1c0), 8),
        (2, 6) => machine.overwrite(SP, i64::from(half >> 7 & 0x3c | half >> 1 & 0xc0), 4),
        // C.MV, C.ADD
        (2, 4) if half & 1 << 12 == 0 && other != 0 => machine.set(to, other, 0),
        (2, 4) if other != 0 => machine.add(to, to, other),
        (2, 0) => machine.kill(to),
        _ => {}
    }
}

/// Returns the register that a return jumps to.
pub(super) fn returns_to(bytes: &[u8], _at: u64, _machine: &mut EffectMachine<'_>) -> u8 {
    let word = padded_word(bytes);
    let register = if word & 3 == 3 { word >> 15 & 0x1f } else { word >> 7 & 0x1f };
    register as u8
}
