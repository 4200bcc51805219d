//! The most common instructions of x86-64 without a full decoder: their lengths and their successors. Functions are
//! decoded from end to end for their jumps, and most instructions are not jumps. Other instructions are left to the
//! decoder; the tests compare both.
//!
//! Source: Intel SDM, volume 2, "Instruction Format" and "Opcode Map".

use crate::arch::flow::{Flow, FlowStep};

/// Number of bytes that a common instruction may need.
pub(super) const LONGEST: usize = 16;

/// Bits for the bytes after an opcode: a `ModRM` byte with its operand; a one-byte immediate; a four-byte immediate;
/// nothing else. The four-byte immediate has two bytes with an operand-size prefix, and eight together with [`PLAIN`]
/// and REX.W.
const MODRM: u8 = 1;
const IMM8: u8 = 2;
const IMM_Z: u8 = 4;
const PLAIN: u8 = 8;
/// For one-byte opcodes: the operand must be in memory; the opcode must be the first of its group; only the first two
/// of the group have the immediate.
const MEMORY: u8 = 32;
const FIRST: u8 = 64;
const TEST: u8 = 128;
/// For two-byte opcodes, the allowed prefixes: none; 0x66; 0xf2 or 0xf3.
const NONE: u8 = 32;
const P66: u8 = 64;
const REPEAT: u8 = 128;

/// The one-byte opcodes; 0 for those that are left to the decoder.
static ONE_BYTE: [u8; 256] = one_byte();
/// The opcodes after 0x0f.
static TWO_BYTES: [u8; 256] = two_bytes();

const fn fill(table: &mut [u8; 256], first: usize, last: usize, value: u8) {
    let mut at = first;
    while at <= last {
        table[at] = value;
        at += 1;
    }
}

const fn one_byte() -> [u8; 256] {
    let mut table = [0; 256];
    let mut row = 0;
    while row < 0x40 {
        fill(&mut table, row, row + 3, MODRM);
        table[row + 4] = IMM8;
        table[row + 5] = IMM_Z;
        row += 8;
    }
    fill(&mut table, 0x50, 0x5f, PLAIN);
    table[0x63] = MODRM;
    table[0x68] = IMM_Z;
    table[0x69] = MODRM | IMM_Z;
    table[0x6a] = IMM8;
    table[0x6b] = MODRM | IMM8;
    table[0x80] = MODRM | IMM8;
    table[0x81] = MODRM | IMM_Z;
    table[0x83] = MODRM | IMM8;
    fill(&mut table, 0x84, 0x8b, MODRM);
    table[0x8d] = MODRM | MEMORY;
    fill(&mut table, 0x90, 0x99, PLAIN);
    fill(&mut table, 0xa4, 0xa7, PLAIN);
    table[0xa8] = IMM8;
    table[0xa9] = IMM_Z;
    fill(&mut table, 0xaa, 0xaf, PLAIN);
    fill(&mut table, 0xb0, 0xb7, IMM8);
    fill(&mut table, 0xb8, 0xbf, PLAIN | IMM_Z);
    fill(&mut table, 0xc0, 0xc1, MODRM | IMM8);
    table[0xc6] = MODRM | IMM8 | FIRST;
    table[0xc7] = MODRM | IMM_Z | FIRST;
    table[0xc9] = PLAIN;
    fill(&mut table, 0xd0, 0xd3, MODRM);
    table[0xf5] = PLAIN;
    table[0xf6] = MODRM | IMM8 | TEST;
    table[0xf7] = MODRM | IMM_Z | TEST;
    fill(&mut table, 0xf8, 0xf9, PLAIN);
    fill(&mut table, 0xfc, 0xfd, PLAIN);
    table
}

const fn two_bytes() -> [u8; 256] {
    let mut table = [0; 256];
    let all = MODRM | NONE | P66 | REPEAT;
    let packed = MODRM | NONE | P66;
    fill(&mut table, 0x10, 0x11, all);
    fill(&mut table, 0x14, 0x15, packed);
    table[0x1f] = packed;
    fill(&mut table, 0x28, 0x29, packed);
    table[0x2a] = MODRM | REPEAT;
    fill(&mut table, 0x2c, 0x2d, MODRM | REPEAT);
    fill(&mut table, 0x2e, 0x2f, packed);
    fill(&mut table, 0x40, 0x4f, packed);
    table[0x51] = all;
    fill(&mut table, 0x54, 0x57, packed);
    fill(&mut table, 0x58, 0x5a, all);
    fill(&mut table, 0x5c, 0x5f, all);
    fill(&mut table, 0x60, 0x6b, packed);
    fill(&mut table, 0x6c, 0x6d, MODRM | P66);
    fill(&mut table, 0x6e, 0x6f, packed);
    table[0x70] = packed | IMM8;
    fill(&mut table, 0x74, 0x76, packed);
    fill(&mut table, 0x7e, 0x7f, packed);
    fill(&mut table, 0x90, 0x9f, packed);
    table[0xa2] = PLAIN | NONE;
    table[0xa3] = packed;
    table[0xa4] = packed | IMM8;
    table[0xa5] = packed;
    table[0xab] = packed;
    table[0xac] = packed | IMM8;
    table[0xad] = packed;
    table[0xaf] = packed;
    fill(&mut table, 0xb0, 0xb1, packed);
    table[0xb3] = packed;
    fill(&mut table, 0xb6, 0xb7, packed);
    table[0xbb] = packed;
    fill(&mut table, 0xbc, 0xbd, packed);
    fill(&mut table, 0xbe, 0xbf, packed);
    fill(&mut table, 0xc0, 0xc1, packed);
    table[0xc2] = all | IMM8;
    table[0xc6] = packed | IMM8;
    fill(&mut table, 0xc8, 0xcf, PLAIN | NONE);
    fill(&mut table, 0xd1, 0xd5, packed);
    table[0xd6] = MODRM | P66;
    fill(&mut table, 0xd8, 0xdf, packed);
    fill(&mut table, 0xe0, 0xe5, packed);
    fill(&mut table, 0xe8, 0xef, packed);
    fill(&mut table, 0xf1, 0xf6, packed);
    fill(&mut table, 0xf8, 0xfe, packed);
    table
}

/// Size of a `ModRM` byte with its SIB byte and displacement, if the SIB byte has a base.
static OPERAND: [u8; 256] = operands();

const fn operands() -> [u8; 256] {
    let mut table = [0; 256];
    let mut modrm = 0;
    while modrm < 256 {
        let (form, rm) = (modrm >> 6, modrm & 7);
        let sib = if form != 3 && rm == 4 { 1 } else { 0 };
        table[modrm] = match form {
            0 if rm == 5 => 5,
            0 | 3 => 1 + sib,
            1 => 2 + sib,
            _ => 5 + sib,
        };
        modrm += 1;
    }
    table
}

/// Returns the length of the instruction at the start of some code, if it is a common one with the next instruction as
/// its only successor; otherwise 0.
#[inline]
pub(super) fn plain(code: &[u8; LONGEST]) -> usize {
    let mut next = 0;
    let has_66 = code[0] == 0x66;
    if has_66 {
        next = 1;
    }
    let mut opcode = code[next];
    let mut is_wide = false;
    if opcode & 0xf0 == 0x40 {
        is_wide = opcode & 8 != 0;
        next += 1;
        opcode = code[next];
    }
    let kind = if opcode == 0x0f {
        next += 1;
        let kind = TWO_BYTES[usize::from(code[next])];
        let is_allowed = kind & if has_66 { P66 } else { NONE } != 0;
        if is_allowed { kind & (MODRM | IMM8 | PLAIN) } else { 0 }
    } else {
        ONE_BYTE[usize::from(opcode)]
    };
    next += 1;
    let modrm = code[next];
    let mut len = next;
    match kind {
        0 => return 0,
        MODRM => {}
        PLAIN => return next,
        _ => {
            let group = modrm >> 3 & 7;
            let is_other = kind & MEMORY != 0 && modrm >> 6 == 3 || kind & FIRST != 0 && group != 0;
            if is_other {
                return 0;
            }
            if kind & TEST == 0 || group < 2 {
                len += usize::from(kind & IMM8 != 0);
                len += match kind & (IMM_Z | PLAIN) {
                    IMM_Z if has_66 && !is_wide => 2,
                    IMM_Z => 4,
                    both if both & IMM_Z == 0 => 0,
                    _ if is_wide => 8,
                    _ if has_66 => 2,
                    _ => 4,
                };
            }
            if kind & MODRM == 0 {
                return len;
            }
        }
    }
    len + operand(modrm, code[next + 1])
}

/// Returns the size of a `ModRM` byte with its SIB byte and displacement.
#[inline]
fn operand(modrm: u8, sib: u8) -> usize {
    // Without a base there is a displacement.
    let has_no_base = modrm & 0xc7 == 4 && sib & 7 == 5;
    usize::from(OPERAND[usize::from(modrm)]) + if has_no_base { 4 } else { 0 }
}

/// Returns the instruction at the start of some code, if it is a common one that can branch, or a common one of
/// floating point.
#[inline]
pub(super) fn turn(code: &[u8; LONGEST], at: u64) -> Option<FlowStep> {
    let to = |end: usize, number: i64| at.wrapping_add(end as u64).wrapping_add_signed(number);
    let near = |end: usize| to(end, code[end - 1].cast_signed().into());
    let far = |end: usize| {
        let number = [code[end - 4], code[end - 3], code[end - 2], code[end - 1]];
        to(end, i32::from_le_bytes(number).into())
    };
    let (len, flow) = match code[0] {
        0x70..=0x7f => (2, Flow::Branch(near(2))),
        0xeb => (2, Flow::Jump(near(2))),
        0xe8 => (5, Flow::Call(far(5))),
        0xe9 => (5, Flow::Jump(far(5))),
        0xc2 => (3, Flow::Return),
        0xc3 => (1, Flow::Return),
        0xcc | 0xf4 => (1, Flow::Stop),
        0x0f if code[1] == 0x0b => (2, Flow::Stop),
        0x0f if code[1] & 0xf0 == 0x80 => (6, Flow::Branch(far(6))),
        0xff => indirect(&code[1..], 1, far(6))?,
        0x41 if code[1] == 0xff => indirect(&code[2..], 2, far(7))?,
        0xf2 | 0xf3 => (repeated(code)?, Flow::Next),
        _ => return None,
    };
    Some(FlowStep { at, next: at.wrapping_add(len as u64), flow })
}

/// Returns the length and the flow of an instruction with the opcode 0xff, which has `before` bytes before `code`.
#[inline]
fn indirect(code: &[u8], before: usize, slot: u64) -> Option<(usize, Flow)> {
    let (&modrm, &sib) = (code.first()?, code.get(1)?);
    // Relative to the instruction pointer, with the displacement at the end.
    let is_slot = modrm & 0xc7 == 5;
    let flow = match modrm >> 3 & 7 {
        0 | 1 | 6 => Flow::Next,
        2 if is_slot => Flow::CallSlot(slot),
        2 => Flow::CallIndirect,
        4 if is_slot => Flow::JumpSlot(slot),
        4 => Flow::JumpIndirect,
        _ => return None,
    };
    Some((before + operand(modrm, sib), flow))
}

/// Returns the length of an instruction with a two-byte opcode after 0xf2 or 0xf3.
#[inline]
fn repeated(code: &[u8; LONGEST]) -> Option<usize> {
    let at = if code[1] & 0xf0 == 0x40 { 2 } else { 1 };
    let kind = TWO_BYTES[usize::from(code[at + 1])];
    let is_allowed = code[at] == 0x0f && kind & REPEAT != 0;
    let immediate = usize::from(kind & IMM8 != 0);
    is_allowed.then(|| at + 2 + operand(code[at + 2], code[at + 3]) + immediate)
}
