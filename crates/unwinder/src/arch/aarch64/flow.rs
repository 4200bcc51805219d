//! Control flow of aarch64 instructions.
//!
//! Source: Arm ARM, "Branches, Exception Generating and System instructions"; ADR, ADRP, ADD (immediate), LDR
//! (immediate, literal).

use crate::arch::flow::{DecodedFlow, Flow, RegisterContents, first_word, signed};

/// Size of an instruction, in bytes.
const LEN: u8 = 4;

/// Decodes the instruction at an address.
pub(super) fn step(
    code: &[u8],
    at: u64,
    contents: &mut RegisterContents,
    _conditional: &mut u8,
) -> Option<DecodedFlow> {
    let word = first_word(code)?;
    let flow = branch(word, at, contents);
    match flow {
        Flow::Next => note(word, at, contents),
        Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect => contents.forget_all(),
        _ => {}
    }
    Some(DecodedFlow { len: LEN, flow })
}

fn branch(word: u32, at: u64, contents: &RegisterContents) -> Flow {
    let target = |field: u32, bits: u32| at.wrapping_add_signed(4 * signed(field, bits));
    let register = word >> 5 & 0x1f;
    match word >> 24 {
        0x14..=0x17 => return Flow::Jump(target(word, 26)),
        0x94..=0x97 => return Flow::Call(target(word, 26)),
        // B.cond, BC.cond; conditions 14 and 15 always hold
        0x54 if word & 0xe == 0xe => return Flow::Jump(target(word >> 5, 19)),
        0x54 | 0x34 | 0x35 | 0xb4 | 0xb5 => return Flow::Branch(target(word >> 5, 19)),
        // TBZ, TBNZ
        0x36 | 0x37 | 0xb6 | 0xb7 => return Flow::Branch(target(word >> 5, 14)),
        _ => {}
    }
    match word {
        // RETAASPPC, RETABSPPC
        _ if word & 0xff80_001f == 0x5500_001f => Flow::Return,
        // UDF; BRK; HLT
        _ if word & 0xffff_0000 == 0 => Flow::Stop,
        _ if matches!(word & 0xffe0_001f, 0xd420_0000 | 0xd440_0000) => Flow::Stop,
        // RET, RETAA, RETAB
        _ if word & 0xffff_fc1f == 0xd65f_0000 || word & 0xffff_f800 == 0xd65f_0800 => Flow::Return,
        // ERET
        _ if word & 0xffff_f000 == 0xd69f_0000 => Flow::Stop,
        // BR, BRAAZ, BRABZ; BRAA, BRAB
        _ if word & 0xffff_fc1f == 0xd61f_0000 || word & 0xfeff_f800 == 0xd61f_0800 => {
            contents.jump(register, 0)
        }
        // BLR and similar
        _ if word & 0xffff_fc1f == 0xd63f_0000 || word & 0xfeff_f800 == 0xd63f_0800 => {
            contents.call(register, 0)
        }
        _ => Flow::Next,
    }
}

/// Records addresses that an instruction computes.
fn note(word: u32, at: u64, contents: &mut RegisterContents) {
    let (to, from) = (word & 0x1f, word >> 5 & 0x1f);
    // ADR, ADRP: the two lower bits are separate
    let distance = || signed((word >> 5 & 0x7_ffff) << 2 | word >> 29 & 3, 21);
    match word {
        _ if word & 0x9f00_0000 == 0x9000_0000 => {
            contents.set_address(to, Some((at & !0xfff).wrapping_add_signed(distance() << 12)));
        }
        _ if word & 0x9f00_0000 == 0x1000_0000 => {
            contents.set_address(to, Some(at.wrapping_add_signed(distance())));
        }
        // ADD of 64 bits; the only shift is 12 bits
        _ if word & 0xff80_0000 == 0x9100_0000 => {
            let shift = if word & 1 << 22 == 0 { 0 } else { 12 };
            contents.set_address(to, contents.plus(from, i64::from(word >> 10 & 0xfff) << shift));
        }
        _ if word & 0xffc0_0000 == 0xf940_0000 => {
            contents.set_word_at(to, contents.plus(from, i64::from(word >> 10 & 0xfff) * 8));
        }
        _ if word & 0xff00_0000 == 0x5800_0000 => {
            contents.set_word_at(to, Some(at.wrapping_add_signed(4 * signed(word >> 5, 19))));
        }
        _ => {
            contents.set(to, None);
            // loads and stores of pairs
            if word & 0x3a00_0000 == 0x2800_0000 {
                contents.set(word >> 10 & 0x1f, None);
            }
            // loads and stores that change their base
            if word & 0x0a00_0000 == 0x0800_0000 {
                contents.set(from, None);
            }
        }
    }
}
