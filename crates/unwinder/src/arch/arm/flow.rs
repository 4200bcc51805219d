//! Control flow of 32-bit Arm instructions, of ARM and of Thumb. Targets of Thumb code have their lowest bit set, as in
//! registers and symbols.
//!
//! Source: Arm Architecture Reference Manual for Armv7-A, chapters A5 (ARM) and A6 (Thumb), "IT"; ELF for the Arm
//! Architecture, "Veneers", "Procedure Linkage Table".

use crate::arch::arm::THUMB;
use crate::arch::flow::{
    DecodedFlow, Flow, RegisterContents, RegisterValue, first_word, half_word, signed,
};

const SP: u32 = 13;
const LR: u32 = 14;
const PC: u32 = 15;
/// Register that veneers and procedure linkage tables compute addresses in.
const IP: u32 = 12;
/// Condition of instructions that always execute.
const ALWAYS: u32 = 14;

/// Decodes the instruction at an address, which has its lowest bit set for Thumb. `conditional` counts the next
/// instructions that an IT makes conditional.
pub(super) fn step(
    code: &[u8],
    at: u64,
    contents: &mut RegisterContents,
    conditional: &mut u8,
) -> Option<DecodedFlow> {
    if at & THUMB == 0 {
        step_arm(code, at, contents)
    } else {
        step_thumb(code, at & !THUMB, conditional, contents)
    }
}

/// Decodes the ARM instruction at an address.
fn step_arm(code: &[u8], at: u64, contents: &mut RegisterContents) -> Option<DecodedFlow> {
    let word = first_word(code)?;
    let flow = match word >> 28 {
        PC => exchange(word, at),
        condition => under(condition == ALWAYS, arm_flow(word, at, contents)),
    };
    Some(finish(4, flow, contents))
}

/// Decodes the Thumb instruction at an address. `left` counts the next instructions that an IT makes conditional.
fn step_thumb(
    code: &[u8],
    at: u64,
    left: &mut u8,
    contents: &mut RegisterContents,
) -> Option<DecodedFlow> {
    let half = half_word(code, 0)?;
    let is_conditional = std::mem::replace(left, left.saturating_sub(1)) > 0;
    let (len, flow) = if half >> 11 > 0b11100 {
        (4, thumb_wide(half, half_word(code, 2)?, at, contents))
    } else {
        if half >> 8 == 0xbf && half & 15 != 0 {
            *left = 4 - (half & 15).trailing_zeros() as u8;
        }
        (2, thumb_short(half, at, contents))
    };
    Some(finish(len, under(!is_conditional, flow), contents))
}

fn finish(len: u8, flow: Flow, contents: &mut RegisterContents) -> DecodedFlow {
    if matches!(flow, Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect) {
        contents.forget_all();
    }
    DecodedFlow { len, flow }
}

/// Returns the flow of an instruction that may not execute.
fn under(always: bool, flow: Flow) -> Flow {
    match flow {
        _ if always => flow,
        Flow::Jump(target) => Flow::Branch(target),
        Flow::Return | Flow::Stop => Flow::Next,
        flow => flow,
    }
}

/// Returns the sum modulo 32 bits.
fn plus(at: u64, distance: i64) -> u64 {
    at.wrapping_add_signed(distance) & 0xffff_ffff
}

/// Decodes BLX to Thumb code; other unconditional instructions do not branch.
fn exchange(word: u32, at: u64) -> Flow {
    if word & 0xfe00_0000 != 0xfa00_0000 {
        return Flow::Next;
    }
    let half = i64::from(word >> 24 & 1) * 2;
    Flow::Call(plus(at, 8 + 4 * signed(word, 24) + half) | THUMB)
}

/// Returns the flow of a jump to a register: a return, if it is the link register with unknown contents.
fn to_register(register: u32, contents: &RegisterContents) -> Flow {
    match contents.jump(register, 0) {
        Flow::JumpIndirect if register == LR => Flow::Return,
        flow => flow,
    }
}

fn arm_flow(word: u32, at: u64, contents: &mut RegisterContents) -> Flow {
    let (to, from) = (word >> 12 & 15, word >> 16 & 15);
    match word {
        _ if word & 0x0e00_0000 == 0x0a00_0000 => {
            let target = plus(at, 8 + 4 * signed(word, 24));
            if word & 1 << 24 == 0 { Flow::Jump(target) } else { Flow::Call(target) }
        }
        // UDF, BKPT
        _ if word & 0x0ff0_00f0 == 0x07f0_00f0 || word & 0x0ff0_00f0 == 0x0120_0070 => Flow::Stop,
        // BX, BXJ; BLX
        _ if matches!(word & 0x0fff_fff0, 0x012f_ff10 | 0x012f_ff20) => {
            to_register(word & 15, contents)
        }
        _ if word & 0x0fff_fff0 == 0x012f_ff30 => contents.call(word & 15, 0),
        // LDM of pc
        _ if word & 0x0e10_8000 == 0x0810_8000 => Flow::Return,
        // LDR of pc
        _ if word & 0x0c50_f000 == 0x0410_f000 => arm_load(word, at, contents),
        // Extra loads and stores, multiplications
        _ if word & 0x0e00_0090 == 0x0000_0090 => {
            contents.set(to, None);
            contents.set(from, None);
            Flow::Next
        }
        // Data processing to pc: MOV, others; not TST and similar
        _ if word & 0x0c00_f000 == 0x0000_f000 && !matches!(word >> 21 & 15, 8..=11) => {
            if word & 0x0fff_0ff0 == 0x01a0_0000 {
                to_register(word & 15, contents)
            } else {
                Flow::JumpIndirect
            }
        }
        _ => {
            arm_note(word, at, contents);
            Flow::Next
        }
    }
}

/// Decodes LDR of pc, with an offset in the instruction or in a register.
fn arm_load(word: u32, at: u64, contents: &RegisterContents) -> Flow {
    let from = word >> 16 & 15;
    let offset = i64::from(word & 0xfff);
    let offset = if word & 1 << 23 == 0 { -offset } else { offset };
    let is_indexed_first = word & 1 << 24 != 0;
    match (word & 1 << 25 == 0, from) {
        (true, SP) if !is_indexed_first => Flow::Return,
        (true, PC) => Flow::JumpSlot(plus(at, 8 + offset)),
        (true, _) if is_indexed_first => contents
            .plus(from, offset)
            .map_or(Flow::JumpIndirect, |slot| Flow::JumpSlot(plus(slot, 0))),
        _ => Flow::JumpIndirect,
    }
}

/// Records addresses that an instruction computes.
fn arm_note(word: u32, at: u64, contents: &mut RegisterContents) {
    let (to, from) = (word >> 12 & 15, word >> 16 & 15);
    let is_always = word >> 28 == ALWAYS;
    let base = if from == PC { Some(plus(at, 8)) } else { contents.plus(from, 0) };
    let immediate = i64::from((word & 0xff).rotate_right(word >> 7 & 0x1e));
    let half = u64::from(word >> 4 & 0xf000 | word & 0xfff);
    let address = match word >> 20 & 0xff {
        // ADD, SUB
        0x28 => base.map(|base| plus(base, immediate)),
        0x24 => base.map(|base| plus(base, -immediate)),
        // ADD of pc and a register
        0x08 if word & 0xff0 == 0 => match (from, word & 15) {
            (PC, other) | (other, PC) => contents.plus(other, 0).map(|it| plus(it, 8 + at as i64)),
            _ => None,
        },
        // MOVW, MOVT
        0x30 => Some(half),
        0x34 => contents.plus(to, 0).map(|low| low & 0xffff | half << 16),
        // Loads can change their base; those of several registers can change any of them.
        0x40..=0x7f => {
            contents.set(from, None);
            None
        }
        0x80..=0x9f => {
            contents.forget_all();
            None
        }
        _ => None,
    };
    contents.set_address(to, address.filter(|_| is_always));
    // LDR of a literal
    if word & 0x0f7f_0000 == 0x051f_0000 && is_always {
        let offset = i64::from(word & 0xfff);
        let offset = if word & 1 << 23 == 0 { -offset } else { offset };
        contents.set(to, Some(RegisterValue::WordAt(plus(at, 8 + offset))));
    }
}

fn thumb_short(half: u32, at: u64, contents: &mut RegisterContents) -> Flow {
    let target = |distance: i64| plus(at, 4 + distance) | THUMB;
    match half >> 8 {
        // UDF; SVC; Bcc
        0xde => Flow::Stop,
        0xdf => Flow::Next,
        0xd0..=0xdd => Flow::Branch(target(2 * signed(half, 8))),
        0xe0..=0xe7 => Flow::Jump(target(2 * signed(half, 11))),
        // CBZ, CBNZ
        0xb1 | 0xb3 | 0xb9 | 0xbb => {
            Flow::Branch(target(i64::from((half >> 9 & 1) << 6 | half >> 2 & 0x3e)))
        }
        // BX, BLX
        0x47 => {
            let register = half >> 3 & 15;
            match (half & 0x80 == 0, register) {
                // To the ARM code that follows.
                (true, PC) => Flow::Jump(plus(at, 4) & !3),
                (true, _) => to_register(register, contents),
                (false, _) => contents.call(register, 0),
            }
        }
        // POP of pc; BKPT
        0xbd => Flow::Return,
        0xbe => Flow::Stop,
        // ADD, MOV of upper registers
        0x44 | 0x46 => {
            let (to, from) = (half & 7 | half >> 4 & 8, half >> 3 & 15);
            match (half >> 8, to) {
                (0x46, PC) => return to_register(from, contents),
                (_, PC) => return Flow::JumpIndirect,
                (0x44, IP) if from == PC => {
                    let sum = contents.plus(IP, 0).map(|it| plus(it, 4 + at as i64));
                    contents.set_address(IP, sum);
                }
                _ => contents.set(to, None),
            }
            Flow::Next
        }
        _ => Flow::Next,
    }
}

fn thumb_wide(first: u32, second: u32, at: u64, contents: &mut RegisterContents) -> Flow {
    if first & 0xf800 == 0xf000 && second & 0x8000 != 0 {
        return thumb_branch(first, second, at);
    }
    let (to, from) = (second >> 12 & 15, first & 15);
    match first {
        // LDM that includes pc
        _ if matches!(first & 0xffd0, 0xe890 | 0xe910) && second & 0x8000 != 0 => Flow::Return,
        // TBB, TBH
        _ if first & 0xfff0 == 0xe8d0 && second & 0xffe0 == 0xf000 => Flow::JumpIndirect,
        // LDR of pc
        _ if matches!(first & 0xff70, 0xf850) && to == PC => {
            thumb_load(first, second, at, contents)
        }
        // MOVW, MOVT
        _ if matches!(first & 0xfbf0, 0xf240 | 0xf2c0) => {
            let half = from << 12 | (first >> 10 & 1) << 11 | second >> 4 & 0x700 | second & 0xff;
            let (half, to) = (u64::from(half), second >> 8 & 15);
            let is_upper = first & 0x80 != 0;
            let low = if is_upper { contents.plus(to, 0) } else { Some(half) };
            let upper = if is_upper { half << 16 } else { 0 };
            contents.set_address(to, low.map(|low| low & 0xffff | upper));
            Flow::Next
        }
        // Loads and stores of several registers
        _ if first & 0xfe00 == 0xe800 => {
            contents.forget_all();
            Flow::Next
        }
        _ => {
            contents.set(to, None);
            contents.set(second >> 8 & 15, None);
            Flow::Next
        }
    }
}

/// Decodes B, BL, BLX, and the instructions without a target in that part of the table.
fn thumb_branch(first: u32, second: u32, at: u64) -> Flow {
    let (sign, j1, j2) = (first >> 10 & 1, second >> 13 & 1, second >> 11 & 1);
    let (i1, i2) = (!(j1 ^ sign) & 1, !(j2 ^ sign) & 1);
    let low = (second & 0x7ff) << 1;
    let far = signed(sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ff) << 12 | low, 25);
    match second >> 12 & 5 {
        5 => Flow::Call(plus(at, 4 + far) | THUMB),
        4 => Flow::Call(plus(plus(at, 4) & !3, far) & !3),
        1 => Flow::Jump(plus(at, 4 + far) | THUMB),
        // UDF
        _ if first & 0xfff0 == 0xf7f0 && second & 0xf000 == 0xa000 => Flow::Stop,
        // Hints, barriers, special registers
        _ if first >> 7 & 7 == 7 => Flow::Next,
        _ => {
            let near = sign << 20 | j2 << 19 | j1 << 18 | (first & 0x3f) << 12 | low;
            Flow::Branch(plus(at, 4 + signed(near, 21)) | THUMB)
        }
    }
}

/// Decodes LDR of pc.
fn thumb_load(first: u32, second: u32, at: u64, contents: &RegisterContents) -> Flow {
    let from = first & 15;
    let is_long = first & 0x80 != 0;
    let long = i64::from(second & 0xfff);
    match (from, is_long) {
        (PC, true) => Flow::JumpSlot(plus(plus(at, 4) & !3, long)),
        (PC, false) => Flow::JumpSlot(plus(plus(at, 4) & !3, -long)),
        (_, true) => contents.plus(from, long).map_or(Flow::JumpIndirect, Flow::JumpSlot),
        // Post-indexed: from the stack.
        (SP, false) if second & 0xd00 == 0x900 => Flow::Return,
        _ => Flow::JumpIndirect,
    }
}
