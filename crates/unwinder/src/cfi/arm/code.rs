//! A frame by the instructions of its function: from the address to the return, or from the function's start to the
//! address.

use crate::arch::arm::{DecodedInstruction, Effect, LR, PC, SP, decode};
use crate::cfi::arm::layout::FrameLayout;

/// Maximum number of instructions to follow from an address to the return.
const MOST_TO_RETURN: usize = 24;
/// Maximum number of instructions to follow from a function's start.
const MOST_FROM_START: usize = 4096;

/// Returns the frame at an index of the code of a function that begins at an address of its file; `None` if the
/// instructions do not show it.
pub(super) fn layout(code: &[u8], start: u64, at: usize) -> Option<FrameLayout> {
    let is_thumb = is_thumb(code, start);
    if !is_thumb && !at.is_multiple_of(4) {
        return None;
    }
    to_return(code, at, is_thumb)
        .or_else(|| from_start(code, at, is_thumb))
        .or_else(|| before_first_push(code, at, is_thumb))
}

/// Returns true if a function is Thumb code: ARM instructions are whole words, most of them with the condition "always"
/// in their upper bits.
fn is_thumb(code: &[u8], start: u64) -> bool {
    const LOOKED_AT: usize = 8;
    if !start.is_multiple_of(4) {
        return true;
    }
    let words = || code.chunks_exact(4).take(LOOKED_AT);
    let always = words().filter(|word| word.last().is_some_and(|byte| byte >> 4 == 0xe)).count();
    always * 2 <= words().count()
}

/// Returns the frame at an index, if the following instructions lead to a return and nowhere else.
fn to_return(code: &[u8], at: usize, is_thumb: bool) -> Option<FrameLayout> {
    // Position of the stack pointer, in bytes from a register's value at the index.
    let (mut base, mut moved) = (SP, 0_i64);
    // Growth of each register since then.
    let mut grown = [0_i64; 16];
    let mut saved = Vec::new();
    let mut here = at;
    for _ in 0..MOST_TO_RETURN {
        let DecodedInstruction { len, effect, conditional } = decode(code.get(here..)?, is_thumb)?;
        if conditional != 0 {
            return None;
        }
        match effect {
            Effect::Nothing => {}
            Effect::Move(SP, SP, bytes) => moved += bytes,
            // Popped registers are at the other stack pointer.
            Effect::Move(SP, from, bytes) if saved.is_empty() => {
                let grown = grown.get(usize::from(from)).copied()?;
                (base, moved) = (from, grown + bytes);
            }
            Effect::Move(SP, ..) => return None,
            Effect::Move(to, from, bytes) if to == from => {
                *grown.get_mut(usize::from(to))? += bytes;
            }
            // No frame of an epilogue is counted from it.
            Effect::Move(..) => return None,
            Effect::Pop(list) => {
                if list & 1 << SP != 0 {
                    return None;
                }
                pop(list, &mut saved, &mut moved);
                if list & 1 << PC != 0 {
                    return Some(finish(base, moved, saved));
                }
            }
            Effect::Return => return Some(finish(base, moved, saved)),
            Effect::Jump(distance) => {
                let target = i64::try_from(here).ok()? + distance;
                let is_inside = usize::try_from(target).is_ok_and(|target| target < code.len());
                return (!is_inside).then(|| finish(base, moved, saved));
            }
            Effect::Push(_) | Effect::Call | Effect::Unknown => return None,
        }
        here += len;
    }
    None
}

fn pop(list: u16, saved: &mut Vec<(u8, i64)>, moved: &mut i64) {
    for register in (0..16).filter(|register| list >> register & 1 != 0) {
        // The popped program counter is the return address.
        let register = if register == PC { LR } else { register };
        saved.retain(|&(known, _)| known != register);
        saved.push((register, *moved));
        *moved += 4;
    }
}

fn finish(base: u8, size: i64, saved: Vec<(u8, i64)>) -> FrameLayout {
    let saved = saved.into_iter().map(|(register, slot)| (register, slot - size)).collect();
    FrameLayout { base, size, saved }
}

/// State of the stack along the code from a function's start: each location of a function has one state, on every path.
#[derive(Default)]
struct StackState {
    /// Position of the stack pointer, in bytes from the CFA.
    sp: Option<i64>,
    /// Positions of registers that were derived from it.
    made: [Option<i64>; 16],
    saved: Vec<(u8, i64)>,
    /// True if no known path leads here: after a return, a jump, or a call that lost the return address.
    is_lost: bool,
}

/// Returns the frame at an index, if the preceding instructions lead there. Functions with equal frames can share an
/// entry of the table: after a lost state, the next function begins at its first push.
fn from_start(code: &[u8], at: usize, is_thumb: bool) -> Option<FrameLayout> {
    let mut way = StackState { sp: Some(0), ..StackState::default() };
    let (mut here, mut conditional) = (0, 0_u32);
    for _ in 0..MOST_FROM_START {
        if here == at {
            return if way.is_lost { None } else { way.state() };
        }
        let decoded = decode(code.get(here..at)?, is_thumb)?;
        way.apply(decoded.effect, conditional > 0);
        conditional = match decoded.conditional {
            0 => conditional.saturating_sub(1),
            new => new,
        };
        here += decoded.len;
    }
    None
}

/// Returns the frame at an index before its function's first push.
fn before_first_push(code: &[u8], at: usize, is_thumb: bool) -> Option<FrameLayout> {
    let mut here = at;
    for _ in 0..MOST_TO_RETURN {
        let DecodedInstruction { len, effect, conditional } = decode(code.get(here..)?, is_thumb)?;
        match effect {
            Effect::Nothing if conditional == 0 => here += len,
            Effect::Push(_) => return Some(FrameLayout { base: SP, size: 0, saved: Vec::new() }),
            _ => return None,
        }
    }
    None
}

impl StackState {
    fn has_saved(&self, register: u8) -> bool {
        self.saved.iter().any(|&(known, _)| known == register)
    }

    /// Passes an instruction, which may not have executed if it is conditional.
    fn apply(&mut self, effect: Effect, is_conditional: bool) {
        // No function saves its return address twice: after a call that never returns, another function follows.
        if let Effect::Push(list) = effect
            && (self.is_lost || (list & 1 << LR != 0 && self.has_saved(LR)))
        {
            *self = Self { sp: Some(0), ..Self::default() };
        }
        if self.is_lost {
            return;
        }
        match effect {
            Effect::Nothing => {}
            Effect::Call | Effect::Jump(_) | Effect::Return if is_conditional => {}
            _ if is_conditional => self.is_lost = true,
            Effect::Push(list) => self.push(list),
            Effect::Move(to, from, bytes) => self.move_to(to, from, bytes),
            // A return address that is stored nowhere else is lost.
            Effect::Call => self.is_lost = !self.has_saved(LR),
            // An unknown number of bytes is allocated; the frame pointer stays.
            Effect::Unknown if self.frame_pointer().is_some() => self.sp = None,
            _ => self.is_lost = true,
        }
    }

    fn push(&mut self, list: u16) {
        let Some(sp) = self.sp else {
            self.is_lost = true;
            return;
        };
        let mut slot = sp - 4 * i64::from(list.count_ones());
        self.sp = Some(slot);
        for register in (0..16).filter(|register| list >> register & 1 != 0) {
            if !self.has_saved(register) {
                self.saved.push((register, slot));
            }
            slot += 4;
        }
    }

    fn move_to(&mut self, to: u8, from: u8, bytes: i64) {
        let source = if from == SP { self.sp } else { self.made(from) };
        let sum = source.map(|source| source + bytes);
        if to == SP {
            self.sp = sum;
        } else if let Some(made) = self.made.get_mut(usize::from(to)) {
            *made = sum;
        }
    }

    fn made(&self, register: u8) -> Option<i64> {
        self.made.get(usize::from(register)).copied().flatten()
    }

    /// Returns the frame pointer and its position, if there is one.
    fn frame_pointer(&self) -> Option<(u8, i64)> {
        [7, 11].into_iter().find_map(|register| Some((register, self.made(register)?)))
    }

    /// Returns the frame, counted from the stack pointer, or from the frame pointer if that is unknown.
    fn state(self) -> Option<FrameLayout> {
        let (base, at) = self.sp.map(|sp| (SP, sp)).or_else(|| self.frame_pointer())?;
        Some(FrameLayout { base, size: -at, saved: self.saved })
    }
}
