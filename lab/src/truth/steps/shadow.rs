//! Calls, jumps and returns of a program that runs instruction by instruction: its true chain at each instruction.
//!
//! A call adds an entry with the address of its return address. The entry is removed as soon as the stack pointer is
//! above that address, after a return, an exception or `longjmp`. A jump out of a function with the stack pointer at
//! that address is a tail call: the jump is added to the entry, and removed with it.

use iced_x86::{Decoder, DecoderOptions, FlowControl};

use super::functions::Functions;
use crate::truth::stepped::Step;

/// Maximum number of jumps in one entry: more than a compared chain has.
const MOST_JUMPS: usize = 1000;

/// A frame of the true chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TrueFrame {
    /// Address of the current instruction, a return address, or that of a jump.
    pub(super) addr: u64,
    /// True if it was left by a jump.
    pub(super) tail: bool,
    /// First address of the function that jumped.
    pub(super) start: u64,
    /// True after a call through a register or memory: the code does not state the target.
    pub(super) indirect: bool,
    /// True if a chain may show or omit it.
    pub(super) optional: bool,
}

/// A call that has not returned.
#[derive(Clone, Debug, Default)]
struct Call {
    /// Address of the return address on the stack.
    place: u64,
    /// Return address.
    ret: u64,
    /// True if the call states no target.
    indirect: bool,
    /// Jumps since the call, oldest first.
    jumps: Vec<TrueFrame>,
}

/// The true chain of a thread.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// Calls, outermost first; the entry of the program has no call.
    calls: Vec<Call>,
    last: Option<Step>,
    /// Number of calls that ended without a return to their return address, such as by exceptions.
    pub(super) irregular: u64,
    /// Number of jumps that replaced a function.
    pub(super) jumps: u64,
    /// Number of calls.
    pub(super) total: u64,
}

impl Shadow {
    /// Takes the next instruction, which shows the effect of the previous one.
    pub(super) fn step(&mut self, step: &Step, functions: &mut Functions) {
        let Some(last) = self.last.replace(*step) else { return };
        let mut decoder = Decoder::with_ip(64, &last.code, last.pc, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let mut gone = None;
        while self.calls.last().is_some_and(|call| call.place < step.sp) {
            gone = self.calls.pop();
        }
        if gone.is_some_and(|call| call.ret != step.pc) {
            self.irregular += 1;
        }
        if step.pc == instruction.next_ip() || step.pc == last.pc {
            return;
        }
        match instruction.flow_control() {
            kind @ (FlowControl::Call | FlowControl::IndirectCall) => {
                self.total += 1;
                let (ret, indirect) = (instruction.next_ip(), kind == FlowControl::IndirectCall);
                self.calls.push(Call { place: step.sp, ret, indirect, jumps: Vec::new() });
            }
            FlowControl::UnconditionalBranch
            | FlowControl::ConditionalBranch
            | FlowControl::IndirectBranch => self.jump(&last, step, functions),
            _ => {}
        }
    }

    fn jump(&mut self, from: &Step, to: &Step, functions: &mut Functions) {
        let Some(call) = self.calls.last_mut().filter(|call| call.place == to.sp) else { return };
        let source = functions.at(from.pc).clone();
        if source.linkage || source.function == functions.at(to.pc).function {
            return;
        }
        self.jumps += 1;
        if call.jumps.len() < MOST_JUMPS {
            let (start, indirect, optional) = (source.start, call.indirect, source.made_up);
            call.jumps.push(TrueFrame { addr: from.pc, tail: true, start, indirect, optional });
        }
    }

    /// Returns the chain at the last instruction, innermost first.
    pub(super) fn chain(&self) -> Vec<TrueFrame> {
        let plain = |addr| TrueFrame { addr, ..TrueFrame::default() };
        let mut chain = vec![plain(self.last.map_or(0, |step| step.pc))];
        for call in self.calls.iter().rev() {
            chain.extend(call.jumps.iter().rev());
            chain.push(plain(call.ret));
        }
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(pc: u64, sp: u64, code: &[u8]) -> Step {
        let mut bytes = [0x90; 16];
        bytes[..code.len()].copy_from_slice(code);
        Step { pc, sp, code: bytes }
    }

    /// Returns the addresses of the chain; those of jumps are negative.
    fn chain(shadow: &Shadow) -> Vec<i64> {
        let sign = |frame: &TrueFrame| if frame.tail { -1 } else { 1 };
        shadow.chain().iter().map(|frame| sign(frame) * frame.addr as i64).collect()
    }

    #[test]
    fn calls_jumps_and_returns() {
        let mut functions = Functions::default();
        let mut shadow = Shadow::default();
        let mut go = |pc, sp, code: &[u8]| {
            shadow.step(&step(pc, sp, code), &mut functions);
            chain(&shadow)
        };
        assert_eq!(go(0x100, 0x80, &[0xe8, 0xfb, 0, 0, 0]), [0x100]);
        assert_eq!(go(0x200, 0x78, &[0x55]), [0x200, 0x105]);
        assert_eq!(go(0x201, 0x70, &[0x5d]), [0x201, 0x105]);
        // A jump after the prologue was undone is a tail call; without a mapping each address is a function.
        assert_eq!(go(0x202, 0x78, &[0xe9, 0xf9, 0, 0, 0]), [0x202, 0x105]);
        assert_eq!(go(0x300, 0x78, &[0xeb, 0x10]), [0x300, -0x202, 0x105]);
        assert_eq!(go(0x312, 0x78, &[0xff, 0xd0]), [0x312, -0x300, -0x202, 0x105]);
        assert_eq!(go(0x400, 0x70, &[0xc3]), [0x400, 0x314, -0x300, -0x202, 0x105]);
        assert_eq!(go(0x314, 0x78, &[0xc3]), [0x314, -0x300, -0x202, 0x105]);
        assert_eq!(go(0x105, 0x80, &[0x90]), [0x105]);
        assert_eq!((shadow.total, shadow.jumps, shadow.irregular), (2, 2, 0));
    }

    #[test]
    fn frames_above_which_the_stack_pointer_is_are_gone() {
        let mut functions = Functions::default();
        let mut shadow = Shadow::default();
        for one in [
            step(0x100, 0x80, &[0xe8, 0xfb, 0, 0, 0]),
            step(0x200, 0x78, &[0xe8, 0xfb, 0, 0, 0]),
            step(0x300, 0x70, &[0xff, 0xe0]),
            step(0x150, 0x80, &[0x90]),
        ] {
            shadow.step(&one, &mut functions);
        }
        assert_eq!(chain(&shadow), [0x150]);
        assert_eq!(shadow.irregular, 1);
    }
}
