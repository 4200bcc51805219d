//! Control flow of RISC-V instructions, of four and of two bytes.
//!
//! Source: RISC-V unprivileged ISA, "RV32/64G Instruction Set Listings", "RVC Instruction Set Listings"; psABI,
//! "Procedure Linkage Table" and "Procedure Calling Convention" (ra, and t0 as the alternate link register).

use crate::arch::flow::{DecodedFlow, Flow, RegisterContents, first_word, half_word, signed};

const RA: u32 = 1;
const T0: u32 = 5;

/// Decodes the instruction at an address.
pub(super) fn step(
    code: &[u8],
    at: u64,
    contents: &mut RegisterContents,
    _conditional: &mut u8,
) -> Option<DecodedFlow> {
    let half = half_word(code, 0)?;
    let (len, flow) = match half & 3 {
        3 if half & 0x1c == 0x1c => return None,
        3 => (4, wide(first_word(code)?, at, contents)),
        _ => (2, short(half, at, contents)),
    };
    if matches!(flow, Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect) {
        contents.forget_all();
    }
    Some(DecodedFlow { len, flow })
}

/// Returns the flow of a jump through a register: a return, if it is a link register with unknown contents.
fn jump(register: u32, offset: i64, contents: &RegisterContents) -> Flow {
    let is_link = matches!(register, RA | T0) && offset == 0;
    match contents.jump(register, offset) {
        Flow::JumpIndirect if is_link => Flow::Return,
        flow => flow,
    }
}

fn wide(word: u32, at: u64, contents: &mut RegisterContents) -> Flow {
    let (rd, rs1) = (word >> 7 & 0x1f, word >> 15 & 0x1f);
    let function = word >> 12 & 7;
    let immediate = signed(word >> 20, 12);
    let upper = i64::from((word & 0xffff_f000).cast_signed());
    match word & 0x7f {
        // JAL
        0x6f => {
            let bits =
                (word >> 31) << 20 | word & 0xf_f000 | (word >> 20 & 1) << 11 | word >> 20 & 0x7fe;
            let target = at.wrapping_add_signed(signed(bits, 21));
            return if rd == 0 { Flow::Jump(target) } else { Flow::Call(target) };
        }
        // JALR; the lowest bit of the sum is ignored
        0x67 if function == 0 => {
            let flow = if rd == 0 {
                jump(rs1, immediate, contents)
            } else {
                contents.call(rs1, immediate)
            };
            return match flow {
                Flow::Jump(target) => Flow::Jump(target & !1),
                Flow::Call(target) => Flow::Call(target & !1),
                flow => flow,
            };
        }
        // Bcc
        0x63 => {
            let bits =
                (word >> 31) << 12 | (word >> 7 & 1) << 11 | word >> 20 & 0x7e0 | word >> 7 & 0x1e;
            return Flow::Branch(at.wrapping_add_signed(signed(bits, 13)));
        }
        // EBREAK; CSRRW of a read-only register: `unimp`
        0x73 if matches!(word, 0x0010_0073 | 0xc000_1073) => return Flow::Stop,
        // AUIPC, LUI
        0x17 => contents.set_address(rd, Some(at.wrapping_add_signed(upper))),
        0x37 => contents.set_address(rd, Some(upper.cast_unsigned())),
        // ADDI, LD
        0x13 if function == 0 => contents.set_address(rd, contents.plus(rs1, immediate)),
        0x03 if function == 3 => contents.set_word_at(rd, contents.plus(rs1, immediate)),
        // stores, loads of floating point registers
        0x23 | 0x27 | 0x07 => {}
        _ => contents.set(rd, None),
    }
    Flow::Next
}

fn short(half: u32, at: u64, contents: &mut RegisterContents) -> Flow {
    let bit = |from: u32, to: u32| (half >> from & 1) << to;
    let (rd, rs2) = (half >> 7 & 0x1f, half >> 2 & 0x1f);
    let (rd_small, rs1_small) = (8 + (half >> 2 & 7), 8 + (half >> 7 & 7));
    match (half & 3, half >> 13) {
        _ if half == 0 => return Flow::Stop,
        // C.LD
        (0, 3) => {
            let offset = half >> 7 & 0x38 | half << 1 & 0xc0;
            contents.set_word_at(rd_small, contents.plus(rs1_small, offset.into()));
        }
        (0, 0..=2) => contents.set(rd_small, None),
        (0, _) => {}
        // C.ADDI
        (1, 0) => {
            let immediate = signed(bit(12, 5) | rs2, 6);
            contents.set_address(rd, contents.plus(rd, immediate));
        }
        (1, 1..=3) => contents.set(rd, None),
        (1, 4) => contents.set(rs1_small, None),
        // C.J
        (1, 5) => {
            let bits =
                bit(12, 11) | bit(11, 4) | half >> 1 & 0x300 | bit(8, 10) | bit(7, 6) | bit(6, 7);
            let bits = bits | half >> 2 & 0xe | bit(2, 5);
            return Flow::Jump(at.wrapping_add_signed(signed(bits, 12)));
        }
        // C.BEQZ, C.BNEZ
        (1, _) => {
            let bits = bit(12, 8) | half >> 7 & 0x18 | half << 1 & 0xc0 | half >> 2 & 6 | bit(2, 5);
            return Flow::Branch(at.wrapping_add_signed(signed(bits, 9)));
        }
        (2, 4) => match (half >> 12 & 1, rd, rs2) {
            (0, register, 0) => return jump(register, 0, contents),
            (1, 0, 0) => return Flow::Stop,
            (1, register, 0) => return contents.call(register, 0),
            (0, register, other) => contents.set(register, contents.get(other)),
            (_, register, _) => contents.set(register, None),
        },
        (2, 0..=3) => contents.set(rd, None),
        _ => {}
    }
    Flow::Next
}
