//! Control flow of `LoongArch` instructions.
//!
//! Source: `LoongArch` Reference Manual, volume 1, "Branch Instructions", PCADDI, PCALAU12I, PCADDU12I, PCADDU18I, ADDI.D,
//! LD.D; the ELF psABI for procedure linkage tables.

use crate::arch::flow::Flow;
use crate::arch::flow::known::{Known, first_word, signed};
use crate::arch::flow::words::Decoded;

const RA: u32 = 1;
/// Bytes of an instruction.
const LEN: u8 = 4;

/// Decodes the instruction at an address.
pub(super) fn step(code: &[u8], at: u64, known: &mut Known) -> Option<Decoded> {
    let word = first_word(code)?;
    let flow = flow(word, at, known);
    if matches!(flow, Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect) {
        known.forget_all();
    }
    Some(Decoded { len: LEN, flow })
}

fn flow(word: u32, at: u64, known: &mut Known) -> Flow {
    let (rd, rj) = (word & 0x1f, word >> 5 & 0x1f);
    let low = word >> 10 & 0xffff;
    let target = |field: u32, bits: u32| at.wrapping_add_signed(4 * signed(field, bits));
    match word >> 26 {
        0b01_0100 => return Flow::Jump(target((word & 0x3ff) << 16 | low, 26)),
        0b01_0101 => return Flow::Call(target((word & 0x3ff) << 16 | low, 26)),
        // BEQZ, BNEZ, BCEQZ, BCNEZ
        0b01_0000..=0b01_0010 => return Flow::Branch(target((word & 0x1f) << 16 | low, 21)),
        // BEQ, BNE, BLT, BGE, BLTU, BGEU
        0b01_0110..=0b01_1011 => return Flow::Branch(target(low, 16)),
        // JIRL
        0b01_0011 => {
            let offset = 4 * signed(low, 16);
            return match (rd, known.jump(rj, offset)) {
                (0, Flow::JumpIndirect) if rj == RA && offset == 0 => Flow::Return,
                (0, flow) => flow,
                _ => known.call(rj, offset),
            };
        }
        _ => {}
    }
    // BREAK; no instruction is 0
    if word == 0 || word >> 15 == 0x54 {
        return Flow::Stop;
    }
    let upper = |shift: u32| at.wrapping_add_signed(signed(word >> 5, 20) << shift);
    match word >> 25 {
        0b000_1100 => known.set_address(rd, Some(upper(2))),
        0b000_1101 => known.set_address(rd, Some(upper(12) & !0xfff)),
        0b000_1110 => known.set_address(rd, Some(upper(12))),
        0b000_1111 => known.set_address(rd, Some(upper(18))),
        _ => match word >> 22 {
            // ADDI.D, LD.D
            0x0b => known.set_address(rd, known.plus(rj, signed(word >> 10, 12))),
            0xa3 => known.set_word_at(rd, known.plus(rj, signed(word >> 10, 12))),
            _ => known.set(rd, None),
        },
    }
    Flow::Next
}
