//! Registers and stack slots of IBM Z.
//!
//! Source: z/Architecture Principles of Operation, "General Instructions"; ELF ABI s390x Supplement, "Registers".

use crate::arch::effect::EffectMachine;
use crate::arch::flow::signed;

/// r0 to r5, the link register, f0 to f7.
pub(super) const CALLER_SAVED: [u8; 15] = [0, 1, 2, 3, 4, 5, 14, 16, 17, 18, 19, 20, 21, 22, 23];

/// Numbers of the floating point registers in frames: functions save general registers in them.
const FLOATS: [u8; 16] = [16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31];

/// Runs an instruction that is not a branch.
pub(super) fn run(code: &[u8], _at: u64, machine: &mut EffectMachine<'_>) {
    let mut bytes = [0; 6];
    bytes.iter_mut().zip(code).for_each(|(to, &from)| *to = from);
    let [op, registers, a, b, c, last] = bytes;
    let (first, second) = (registers >> 4, registers & 15);
    let base = a >> 4;
    let low = u32::from(u16::from_be_bytes([a & 15, b]));
    let long = signed(u32::from(c) << 12 | low, 20);
    match (op, second, last) {
        // LMG, STMG
        (0xeb, last_register, 0x04) => load_all(first, last_register, base, long, machine),
        (0xeb, last_register, 0x24) => {
            let store = |(register, offset)| machine.store(register, base, offset);
            slots(first, last_register, long).for_each(store);
        }
        // LM, LMY and others of more than one register
        (0x98, ..) | (0xeb, _, 0x96 | 0x98) => {
            slots(first, second, 0).for_each(|(register, _)| machine.kill(register));
        }
        // LG, STG, LAY
        (0xe3, 0, 0x04) => machine.load(first, base, long),
        (0xe3, 0, 0x24) => machine.store(first, base, long),
        (0xe3, 0, 0x71) if base != 0 => machine.set(first, base, long),
        // LA
        (0x41, 0, _) if base != 0 => machine.set(first, base, low.into()),
        (0xa7 | 0xc2, ..) => immediate(bytes, machine),
        (0xb3 | 0xb9, ..) => of_registers([op, registers, a, b], machine),
        _ if is_without_target(op, second, last) => {}
        _ => machine.kill(first),
    }
}

/// Returns true if an instruction writes no general register: stores, comparisons, tests, operations on memory and on
/// floating point registers.
const fn is_without_target(op: u8, second: u8, last: u8) -> bool {
    match op {
        0x40 | 0x42 | 0x50 | 0x60 | 0x70 | 0x90..=0x97 | 0xd2..=0xdf | 0xe5 => true,
        0x07 | 0x0a | 0x15 | 0x19 | 0x49 | 0x55 | 0x59 => true,
        0x28 | 0x38 | 0x68 | 0x78 | 0xc6 | 0xe7 | 0xed => true,
        0xc4 => matches!(second, 7 | 11 | 15),
        0xe3 => matches!(
            last,
            0x20 | 0x21 | 0x26 | 0x30 | 0x31 | 0x3e | 0x3f | 0x50 | 0x55 | 0x59 | 0x70 | 0x72
        ),
        _ => false,
    }
}

/// Runs an instruction with a constant.
fn immediate([op, registers, a, b, c, d]: [u8; 6], machine: &mut EffectMachine<'_>) {
    let (to, operation) = (registers >> 4, registers & 15);
    let half = i64::from(i16::from_be_bytes([a, b]));
    let word = i64::from(i32::from_be_bytes([a, b, c, d]));
    match (op, operation) {
        // AGHI, LGHI, AGFI, SLGFI
        (0xa7, 11) => machine.set(to, to, half),
        (0xa7, 9) => machine.constant(to, half),
        (0xc2, 8) => machine.set(to, to, word),
        (0xc2, 4) => machine.set(to, to, -word),
        // Tests, comparisons
        (0xa7, 0..=3 | 14 | 15) | (0xc2, 12..=15) => {}
        _ => machine.kill(to),
    }
}

/// Runs LMG. The base register is loaded last, because the others need it.
fn load_all(first: u8, last: u8, base: u8, start: i64, machine: &mut EffectMachine<'_>) {
    let of_base = slots(first, last, start).find(|&(register, _)| register == base);
    let others = slots(first, last, start).filter(|&(register, _)| register != base);
    others.chain(of_base).for_each(|(register, offset)| machine.load(register, base, offset));
}

/// Returns the registers from one to another, wrapping, with the offsets of their slots.
fn slots(first: u8, last: u8, start: i64) -> impl Iterator<Item = (u8, i64)> {
    let count = last.wrapping_sub(first) & 15;
    (0..=count).map(move |at| (first.wrapping_add(at) & 15, start + 8 * i64::from(at)))
}

fn of_registers([op, operation, a, b]: [u8; 4], machine: &mut EffectMachine<'_>) {
    let (to, from) = (b >> 4, b & 15);
    let float = |register: u8| FLOATS.get(usize::from(register)).copied().unwrap_or(u8::MAX);
    match (op, operation) {
        // LGR; AGR; AGRK
        (0xb9, 0x04) => machine.set(to, from, 0),
        (0xb9, 0x08) => machine.add(to, to, from),
        (0xb9, 0xe8) => machine.add(to, from, a >> 4),
        // Comparisons
        (0xb9, 0x20 | 0x21 | 0x30 | 0x31) => {}
        (0xb9, _) => machine.kill(to),
        // LDGR, LGDR
        (_, 0xc1) => machine.set(float(to), from, 0),
        (_, 0xcd) => machine.set(to, float(from), 0),
        // Conversions to general registers
        (_, 0x98..=0x9f | 0xa8..=0xaf | 0xb8..=0xbb | 0xc8..=0xcb) => machine.kill(to),
        _ => {}
    }
}
