//! Registers and stack slots of aarch64. Instructions without a detailed model make their target unknown.
//!
//! Source: Arm ARM, "A64 Instruction Set Encoding"; Procedure Call Standard for the Arm 64-bit Architecture, section
//! 6.1.

use crate::arch::effect::{EffectMachine, padded_word};
use crate::arch::flow::signed;

/// Number 31 means the stack pointer in some instructions, and zero in others.
const SP: u8 = 31;

/// Registers that functions may change: x0 to x18, and the link register.
pub(super) const CALLER_SAVED: [u8; 20] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 30];

/// Runs an instruction that is not a branch.
pub(super) fn run(bytes: &[u8], _at: u64, machine: &mut EffectMachine<'_>) {
    let word = padded_word(bytes);
    let (to, from) = ((word & 0x1f) as u8, (word >> 5 & 0x1f) as u8);
    match word >> 25 & 0xf {
        0b1000 | 0b1001 => immediate(word, to, from, machine),
        0b0101 | 0b1101 => registers(word, to, machine),
        0b0100 | 0b0110 | 0b1100 | 0b1110 => memory(word, to, from, machine),
        // MRS; hints sign and strip the link register, which changes no bit of the address.
        0b1010 | 0b1011 if word & 0xfff0_0000 == 0xd530_0000 => machine.kill(to),
        // FMOV, FCVT and others to general registers; UMOV, SMOV
        0b0111 | 0b1111
            if word & 0x5f20_fc00 == 0x1e20_0000 || word & 0x9fe0_dc00 == 0x0e00_0c00 =>
        {
            machine.kill(to);
        }
        // SVE: some instructions count in general registers.
        0b0010 => machine.kill(to),
        _ => {}
    }
}

fn immediate(word: u32, to: u8, from: u8, machine: &mut EffectMachine<'_>) {
    let shift = if word & 1 << 22 == 0 { 0 } else { 12 };
    let number = i64::from(word >> 10 & 0xfff) << shift;
    match word & 0xff80_0000 {
        0x9100_0000 => machine.set(to, from, number),
        0xd100_0000 => machine.set(to, from, -number),
        // MOVZ, MOVN of 64 bits; MOVK is not modelled
        0xd280_0000 if to != SP => {
            let number = u64::from(word >> 5 & 0xffff) << (16 * (word >> 21 & 3));
            machine.constant(to, number.cast_signed());
        }
        0x9280_0000 if to != SP => {
            let number = u64::from(word >> 5 & 0xffff) << (16 * (word >> 21 & 3));
            machine.constant(to, !number.cast_signed());
        }
        // AND, ORR and EOR write the stack pointer, all others zero.
        _ if to == SP && word & 0x1f80_0000 == 0x1200_0000 && word >> 29 & 3 != 3 => {
            machine.kill(SP)
        }
        _ if to == SP && word & 0x3f80_0000 == 0x1100_0000 => machine.kill(SP),
        _ if to == SP => {}
        _ => machine.kill(to),
    }
}

fn registers(word: u32, to: u8, machine: &mut EffectMachine<'_>) {
    let other = (word >> 16 & 0x1f) as u8;
    let from = (word >> 5 & 0x1f) as u8;
    match word {
        // MOV
        _ if word & 0xffe0_ffe0 == 0xaa00_03e0 && to != SP && other != SP => {
            machine.set(to, other, 0);
        }
        // ADD and SUB with an extended register, which can use the stack pointer
        _ if word & 0xffe0_fc00 == 0x8b20_6000 => machine.add(to, from, other),
        _ if word & 0x3fe0_0000 == 0x0b20_0000 => machine.kill(to),
        // PACIA and similar, of the link register
        _ if word & 0xffff_0000 == 0xdac1_0000 && to == 30 => {}
        _ if to == SP => {}
        _ => machine.kill(to),
    }
}

fn memory(word: u32, to: u8, from: u8, machine: &mut EffectMachine<'_>) {
    let is_vector = word & 1 << 26 != 0;
    match word >> 27 & 7 {
        // Pairs
        0b101 => pair(word, to, (word >> 10 & 0x1f) as u8, from, is_vector, machine),
        0b111 => single(word, to, from, is_vector, machine),
        // LDR of a literal
        0b011 if !is_vector && to != SP => machine.kill(to),
        // Exclusive and ordered accesses, compare and swap
        0b001 if !is_vector => {
            let status = (word >> 16 & 0x1f) as u8;
            [to, (word >> 10 & 0x1f) as u8, status]
                .into_iter()
                .filter(|&register| register != SP)
                .for_each(|register| machine.kill(register));
        }
        _ => {}
    }
}

fn pair(word: u32, one: u8, other: u8, base: u8, is_vector: bool, machine: &mut EffectMachine<'_>) {
    let size = match (is_vector, word >> 30) {
        (true, size) => 4_i64 << size,
        (false, 2) => 8,
        (false, _) => 4,
    };
    let number = signed(word >> 15, 7) * size;
    // Post-indexed, not indexed, pre-indexed
    let (offset, moved) = match word >> 23 & 3 {
        1 => (0, number),
        3 => (number, number),
        _ => (number, 0),
    };
    let is_load = word & 1 << 22 != 0;
    let is_word = !is_vector && size == 8;
    let both = [(one, offset), (other, offset + size)];
    for (register, offset) in both {
        match (is_load, is_word) {
            (true, true) if register != SP => machine.load(register, base, offset),
            (true, false) if !is_vector && register != SP => machine.kill(register),
            (false, true) if register != SP => machine.store(register, base, offset),
            (false, _) => machine.overwrite(base, offset, size),
            _ => {}
        }
    }
    if moved != 0 {
        machine.set(base, base, moved);
    }
}

fn single(word: u32, to: u8, base: u8, is_vector: bool, machine: &mut EffectMachine<'_>) {
    let opc = word >> 22 & 3;
    let size = if is_vector && opc >= 2 { 16 } else { 1_i64 << (word >> 30) };
    let is_load = if is_vector { opc & 1 != 0 } else { opc != 0 };
    let is_prefetch = !is_vector && word >> 30 == 3 && opc >= 2;
    let is_word = !is_vector && size == 8;
    let number = signed(word >> 12, 9);
    let (offset, moved) = match (word & 1 << 24 != 0, word >> 21 & 1, word >> 10 & 3) {
        (true, ..) => (Some(i64::from(word >> 10 & 0xfff) * size), 0),
        (false, 0, 1) => (Some(0), number),
        (false, 0, 3) => (Some(number), number),
        (false, 0, _) => (Some(number), 0),
        // With an index in a register; operations on memory
        _ => (None, 0),
    };
    match (is_load || word >> 21 & 1 != 0 && offset.is_none(), offset) {
        _ if is_prefetch => {}
        (true, Some(offset)) if is_word && to != SP => machine.load(to, base, offset),
        (true, _) if !is_vector && to != SP => machine.kill(to),
        (false, Some(offset)) if is_word && to != SP => machine.store(to, base, offset),
        (false, Some(offset)) => machine.overwrite(base, offset, size),
        _ => {}
    }
    if moved != 0 {
        machine.set(base, base, moved);
    }
}

/// Returns the register that a return jumps to.
pub(super) fn returns_to(bytes: &[u8], _at: u64, _machine: &mut EffectMachine<'_>) -> u8 {
    let word = padded_word(bytes);
    // RET names it; RETAA and similar use the link register.
    if word & 0xffff_fc1f == 0xd65f_0000 { (word >> 5 & 0x1f) as u8 } else { 30 }
}
