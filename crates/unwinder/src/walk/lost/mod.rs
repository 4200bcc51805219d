//! Chains that no rule continues: by code from the start of a function, past memory without a file, and from the beginning
//! of the thread inwards.

mod again;
mod anchor;
mod from_start;
mod memory;

use address::Avma;
use module_map::MappedKind;
use profile::{EndReason, FoundBy};

use crate::frame::Frame;
use crate::state::{Memory, Registers, WalkContext};
use crate::walk::Walker;

impl Walker<'_> {
    /// Adds a gap to the frames, if some are missing before the caller that a step found.
    #[inline]
    pub(super) fn add_gap(&mut self, frames: &mut Vec<Frame>) {
        if self.skips_frames {
            (self.skips_frames, self.has_gap) = (false, true);
            frames.push(Frame::nowhere(Avma(0), FoundBy::Gap));
        }
    }

    /// Continues a chain that ended early, as far as something else is proven.
    #[cold]
    pub(super) fn complete(
        &mut self,
        mut reason: EndReason,
        pc: Avma,
        first: usize,
        registers: impl FnOnce() -> Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> EndReason {
        let own = frames.get(first..).unwrap_or_default();
        let is_refuted =
            reason != EndReason::Root && self.is_first_refuted(reason, pc, own, context);
        let mut is_lost = false;
        if is_refuted {
            match self.walk_again(pc, first, registers(), context, frames) {
                Some(again) => reason = again,
                None => is_lost = frames.len() == first + 1,
            }
        }
        match reason {
            EndReason::AnonymousMemory | EndReason::NoUnwindInfo => {
                self.walk_from_anchor(reason, first, context, frames)
            }
            _ if is_lost => self.walk_from_anchor(reason, first, context, frames),
            EndReason::Root if self.has_gap => EndReason::RootAcrossGap,
            reason => reason,
        }
    }
}

/// Whether an address is in the code of a mapped file. Mappings of the kernel are not looked at for a word of the stack: it would
/// have to be found first.
fn is_in_file(address: Avma, memory: &Memory<'_>) -> bool {
    memory.space.lookup(address).is_some_and(|mapping| {
        let kind = memory.space.module(&mapping).map(|module| module.kind);
        mapping.executable && kind == Some(MappedKind::File)
    })
}
