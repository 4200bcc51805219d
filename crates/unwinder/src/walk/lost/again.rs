//! A sampled frame whose call frame information leads to no return address: what the code says decides. Descriptions that are
//! written by hand hold in a line, and not along the jumps.

use address::Avma;
use profile::{EndReason, FoundBy};

use crate::arch::Arch;
use crate::cache::StackCache;
use crate::code::{Called, locate};
use crate::frame::Frame;
use crate::state::{Memory, Registers};
use crate::walk::Walker;

impl Walker<'_> {
    /// Whether the first step of a chain cannot be right: it leads to no code, or to an address that no call stands before.
    #[cold]
    pub(in crate::walk) fn is_first_refuted(
        &mut self,
        end: EndReason,
        pc: Avma,
        frames: &[Frame],
        memory: &Memory<'_>,
        arch: Arch,
    ) -> bool {
        if arch != Arch::X86_64 || self.left_at.is_some() || self.probed.is_some() {
            return false;
        }
        match frames {
            [_] => matches!(end, EndReason::NotMapped | EndReason::OtherStack),
            [_, second, ..] if second.found_by == FoundBy::Cfi && end != EndReason::MaxFrames => {
                // Handlers of signals return to an address that is looked up itself.
                let returns = [1, 0].map(|behind| second.in_process().add(behind).0);
                let fallback = &mut self.cache.fallback;
                let at = locate(pc, memory);
                let mut is_called = |word| {
                    at.is_some_and(|at| fallback.called(word, at, memory, arch) != Called::Never)
                };
                at.is_some() && !returns.into_iter().any(&mut is_called)
            }
            _ => false,
        }
    }

    /// Walks again from a sampled frame, whose frames begin at `first`, by its code. `None`, and nothing has changed, if the
    /// code proves no caller.
    #[cold]
    pub(in crate::walk) fn walk_again(
        &mut self,
        (pc, first): (Avma, usize),
        mut registers: Registers,
        memory: &Memory<'_>,
        arch: Arch,
        frames: &mut Vec<Frame>,
    ) -> Option<EndReason> {
        let at = locate(pc, memory)?;
        let before = registers.clone();
        let how = (true, true);
        let by_code = self.cache.fallback.by_code(at, how, &mut registers, memory, arch).ok();
        let caller = match by_code {
            Some(caller) => caller,
            None => {
                registers = before;
                self.step_from_start((at, pc), true, &mut registers, memory, arch).ok()?
            }
        };
        self.cut_at = None;
        frames.truncate(first + 1);
        let from = (caller.lookup(), false);
        let mut previous = StackCache::default();
        let end = self.walk_from(from, &mut previous, registers, memory, arch, frames);
        if let Some(frame) = frames.get_mut(first + 1) {
            frame.found_by = caller.found_by;
        }
        Some(end)
    }
}
