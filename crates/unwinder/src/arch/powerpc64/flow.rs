//! Control flow of POWER instructions, of four and of eight bytes.
//!
//! Source: Power ISA, "Branch Instructions", ADDI, ADDIS, LD, PADDI, PLD, MTSPR; 64-bit ELF V2 ABI, "Procedure Linkage
//! Table" (stubs read their target from a slot that is counted from r2, the table of contents).

use crate::arch::flow::{DecodedFlow, Flow, RegisterContents, first_word, signed};

/// Number of CTR in this module.
const CTR: u32 = 32;
const TRAP: u32 = 0x7fe0_0008;

/// Decodes the instruction at an address.
pub(super) fn step(
    code: &[u8],
    at: u64,
    contents: &mut RegisterContents,
    _conditional: &mut u8,
) -> Option<DecodedFlow> {
    let word = first_word(code)?;
    if word >> 26 == 1 {
        prefixed(word, first_word(code.get(4..)?)?, at, contents);
        return Some(DecodedFlow { len: 8, flow: Flow::Next });
    }
    let flow = flow(word, at, contents);
    if matches!(flow, Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect) {
        contents.forget_all();
    }
    Some(DecodedFlow { len: 4, flow })
}

fn flow(word: u32, at: u64, contents: &mut RegisterContents) -> Flow {
    let links = word & 1 != 0;
    let base = if word & 2 == 0 { at } else { 0 };
    // A branch that ignores both conditions, CR and CTR.
    let always = word >> 21 & 0x14 == 0x14;
    match (word >> 26, word >> 1 & 0x3ff) {
        (18, _) => {
            let target = base.wrapping_add_signed(signed(word & 0x03ff_fffc, 26));
            if links { Flow::Call(target) } else { Flow::Jump(target) }
        }
        (16, _) => {
            let target = base.wrapping_add_signed(signed(word & 0xfffc, 16));
            match (links, always) {
                // Code that reads its own address.
                (true, _) if target == at.wrapping_add(4) => Flow::Next,
                (true, _) => Flow::Call(target),
                (false, true) => Flow::Jump(target),
                (false, false) => Flow::Branch(target),
            }
        }
        // BCLR
        (19, 16) if links => Flow::CallIndirect,
        (19, 16) => {
            if always {
                Flow::Return
            } else {
                Flow::Next
            }
        }
        // BCCTR, BCTAR
        (19, 528) if links => contents.call(CTR, 0),
        (19, 528) if always => contents.jump(CTR, 0),
        (19, 560) if links => Flow::CallIndirect,
        (19, 528 | 560) => Flow::JumpIndirect,
        _ if word == 0 || word == TRAP => Flow::Stop,
        _ => {
            note(word, contents);
            Flow::Next
        }
    }
}

/// Records addresses that an instruction computes.
fn note(word: u32, contents: &mut RegisterContents) {
    let (to, from) = (word >> 21 & 0x1f, word >> 16 & 0x1f);
    let immediate = signed(word, 16);
    match word >> 26 {
        // LD
        58 if word & 3 == 0 => contents.set_word_at(to, contents.plus(from, immediate)),
        // ADDI, ADDIS
        14 if from != 0 => contents.set_address(to, contents.plus(from, immediate)),
        15 if from != 0 => contents.set_address(to, contents.plus(from, immediate << 16)),
        // MTCTR
        31 if word & 0xfc1f_ffff == 0x7c09_03a6 => contents.set(CTR, contents.get(to)),
        // stores
        36..=39 | 44 | 45 | 52..=55 | 62 => {}
        _ => {
            contents.set(to, None);
            contents.set(from, None);
        }
    }
}

/// Records addresses that an eight-byte instruction computes relative to itself.
fn prefixed(prefix: u32, suffix: u32, at: u64, contents: &mut RegisterContents) {
    let to = suffix >> 21 & 0x1f;
    let distance = signed(prefix, 18) << 16 | i64::from(suffix & 0xffff);
    let address = Some(at.wrapping_add_signed(distance)).filter(|_| prefix & 1 << 20 != 0);
    match (prefix >> 23, suffix >> 26) {
        (0b0_0000_1000, 57) => contents.set_word_at(to, address),
        (0b0_0000_1100, 14) => contents.set_address(to, address),
        _ => contents.set(to, None),
    }
}
