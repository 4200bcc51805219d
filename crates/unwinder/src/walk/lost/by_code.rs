//! Sampled frames with CFI that does not lead to a return address: the code decides. Hand-written CFI is correct in
//! straight-line order, but not along jumps.

use address::Avma;
use profile::{EndReason, FoundBy};

use crate::arch::Arch;
use crate::cache::StackCache;
use crate::code::{Called, ImageAddress, enters, locate};
use crate::frame::Frame;
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::outcome::WalkOutcome;
use crate::walk::start::WalkStart;

/// Maximum length of a chain with a possibly wrong first step.
const MOST_REFUTED: usize = 4;

impl Walker<'_> {
    /// Returns true if the first step of a short chain cannot be right: it leads to no code, or to an address without a
    /// preceding call. After a wrong step the next ones fail, so a longer chain had a right one.
    #[cold]
    pub(in crate::walk) fn is_first_refuted(
        &mut self,
        outcome: &WalkOutcome,
        pc: Avma,
        frames: &[Frame],
        context: &WalkContext<'_>,
    ) -> bool {
        if !context.arch.is(Arch::X86_64) || outcome.end.last.is_some() {
            return false;
        }
        let end = outcome.end.reason;
        match frames {
            [_] => matches!(end, EndReason::NotMapped | EndReason::OtherStack),
            [_, second, ..] if second.found_by == FoundBy::Cfi && frames.len() <= MOST_REFUTED => {
                // Signal handlers return to an address that is itself looked up.
                let returns = [1, 0].map(|offset| second.in_process().add(offset).0);
                // Frames larger than the recorded bytes are long, but do not indicate a wrong step.
                if end == EndReason::StackExhausted {
                    return !returns.into_iter().any(|word| is_after_call(word, context));
                }
                let Some(at) = locate(pc, &context.memory) else { return false };
                let description = self.description_of(at, &context.memory);
                let start = description.map(|range| ImageAddress { svma: range.start, ..at });
                // Most calls target the function itself. It can also be entered by jumps, which takes longer to find.
                let may_enter = |start| {
                    let enters = |word| enters(word, start, context) != Called::Never;
                    returns.into_iter().any(enters)
                };
                if start.is_some_and(may_enter) {
                    return false;
                }
                let fallback = &mut self.cache.fallback;
                let is_called = |word| fallback.called(word, at, context) != Called::Never;
                !returns.into_iter().any(is_called)
            }
            _ => false,
        }
    }

    /// Walks again from a sampled frame, at index `first`, by its code. Returns `None` without changes if the code
    /// proves no caller.
    #[cold]
    pub(in crate::walk) fn walk_by_code(
        &mut self,
        pc: Avma,
        first: usize,
        mut registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> Option<WalkOutcome> {
        let at = locate(pc, &context.memory)?;
        let before = registers.clone();
        let by_code = self.cache.fallback.by_code(at, true, true, &mut registers, context).ok();
        let caller = match by_code {
            Some(caller) => caller,
            None => {
                registers = before;
                self.step_from_start(at, pc, true, &mut registers, context).ok()?
            }
        };
        frames.truncate(first + 1);
        let start = WalkStart { lookup: caller.lookup(), is_leaf: false };
        let mut previous = StackCache::default();
        let outcome = self.walk_from(start, &mut previous, registers, context, frames);
        if let Some(frame) = frames.get_mut(first + 1) {
            frame.found_by = caller.found_by;
        }
        Some(outcome)
    }
}

/// Returns true if a call precedes an address, or if the code there is unreadable.
fn is_after_call(address: u64, context: &WalkContext<'_>) -> bool {
    let len = context.arch.longest_call();
    let code = context.memory.code(Avma(address).sub(len as u64), len);
    code.is_none_or(|code| context.arch.call_target(code, address).is_some())
}
