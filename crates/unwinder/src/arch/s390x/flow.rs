//! Control flow of IBM Z instructions, of two, four and six bytes.
//!
//! Source: z/Architecture Principles of Operation, "Branching", LARL, LG, LGRL, AGHI; ELF ABI s390x Supplement,
//! "Procedure Linkage Table".

use crate::arch::flow::{DecodedFlow, Flow, RegisterContents, signed};

/// The link register.
const LINK: u32 = 14;
/// The mask of branches that are always taken.
const ALWAYS: u32 = 15;

/// Decodes the instruction at an address.
pub(super) fn step(
    code: &[u8],
    at: u64,
    contents: &mut RegisterContents,
    _conditional: &mut u8,
) -> Option<DecodedFlow> {
    let len = match code.first()? >> 6 {
        0 => 2,
        1 | 2 => 4,
        _ => 6,
    };
    let mut bytes = [0; 6];
    bytes.get_mut(..len)?.copy_from_slice(code.get(..len)?);
    let flow = flow(bytes, at, contents);
    if matches!(flow, Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect) {
        contents.forget_all();
    }
    Some(DecodedFlow { len: len as u8, flow })
}

fn flow(bytes: [u8; 6], at: u64, contents: &mut RegisterContents) -> Flow {
    let [op, registers, a, b, c, d] = bytes;
    let (first, second) = (u32::from(registers >> 4), u32::from(registers & 15));
    let half = u32::from(u16::from_be_bytes([a, b]));
    let near = || at.wrapping_add_signed(2 * signed(half, 16));
    let far = || at.wrapping_add_signed(2 * i64::from(i32::from_be_bytes([a, b, c, d])));
    match (op, second, d) {
        // Not an instruction.
        (0, ..) => Flow::Stop,
        // BRAS, BRASL
        (0xa7, 5, _) => called(first, near()),
        (0xc0, 5, _) => called(first, far()),
        // BRC, BRCL
        (0xa7, 4, _) => conditional(first, near()),
        (0xc0, 4, _) => conditional(first, far()),
        // BRCT, BRCTG; BRCTH; BRXH, BRXLE
        (0xa7, 6 | 7, _) | (0x84 | 0x85, ..) => Flow::Branch(near()),
        (0xcc, 6, _) => Flow::Branch(far()),
        // BRXHG, BRXLG; compare and branch relative
        (0xec, _, 0x44 | 0x45 | 0x64 | 0x65 | 0x76 | 0x77 | 0x7c..=0x7f) => Flow::Branch(near()),
        // Compare and branch: usually to the caller
        (0xec, _, 0xe4 | 0xe5 | 0xf6 | 0xf7 | 0xfc..=0xff) => {
            if half == LINK << 12 {
                Flow::Next
            } else {
                Flow::JumpIndirect
            }
        }
        (0x07, ..) => by_register(first, second, contents),
        // BALR, BASSM, BASR
        (0x05 | 0x0c | 0x0d, 0, _) => {
            contents.set_address(first, Some(at.wrapping_add(2)));
            Flow::Next
        }
        (0x05 | 0x0c | 0x0d, ..) => contents.call(second, 0),
        // BAL, BAS
        (0x45 | 0x4d, ..) => Flow::CallIndirect,
        // BC: with mask 0, nothing
        (0x47, ..) if first == 0 => Flow::Next,
        // BC, BCT, BXH, BXLE
        (0x46 | 0x47 | 0x86 | 0x87, ..) => Flow::JumpIndirect,
        // BIC
        (0xe3, _, 0x47) if first == 0 => Flow::Next,
        (0xe3, 0, 0x47) if first == ALWAYS => {
            plus_displacement(bytes, contents).map_or(Flow::JumpIndirect, Flow::JumpSlot)
        }
        (0xe3, _, 0x47) => Flow::JumpIndirect,
        _ => {
            note(bytes, far(), contents);
            Flow::Next
        }
    }
}

fn called(link: u32, target: u64) -> Flow {
    if link == 0 { Flow::Jump(target) } else { Flow::Call(target) }
}

fn conditional(mask: u32, target: u64) -> Flow {
    match mask {
        0 => Flow::Next,
        ALWAYS => Flow::Jump(target),
        _ => Flow::Branch(target),
    }
}

/// BCR.
fn by_register(mask: u32, register: u32, contents: &RegisterContents) -> Flow {
    match (mask, register) {
        (0, _) | (_, 0) => Flow::Next,
        (ALWAYS, register) => match contents.jump(register, 0) {
            Flow::JumpIndirect if register == LINK => Flow::Return,
            flow => flow,
        },
        // A conditional return.
        (_, LINK) => Flow::Next,
        _ => Flow::JumpIndirect,
    }
}

/// Returns the sum of a known base and a 20-bit displacement.
fn plus_displacement([_, _, a, b, c, _]: [u8; 6], contents: &RegisterContents) -> Option<u64> {
    let low = u32::from(a & 15) << 8 | u32::from(b);
    contents.plus(u32::from(a >> 4), signed(u32::from(c) << 12 | low, 20))
}

/// Records addresses that an instruction computes.
fn note(bytes: [u8; 6], far: u64, contents: &mut RegisterContents) {
    let [op, registers, a, b, _, last] = bytes;
    let (first, second) = (u32::from(registers >> 4), u32::from(registers & 15));
    match (op, second, last) {
        // LARL, LGRL
        (0xc0, 0, _) => contents.set_address(first, Some(far)),
        (0xc4, 8, _) => contents.set_word_at(first, Some(far)),
        // LG without an index
        (0xe3, 0, 0x04) => contents.set_word_at(first, plus_displacement(bytes, contents)),
        // AGHI
        (0xa7, 11, _) => {
            let immediate = i64::from(i16::from_be_bytes([a, b]));
            contents.set_address(first, contents.plus(first, immediate));
        }
        // LM, LMG, LMY: more than one register
        (0x98, ..) | (0xeb, _, 0x04 | 0x96 | 0x98) => contents.forget_all(),
        _ => contents.set(first, None),
    }
}
