//! Chains that no rule continues. They are recovered by code from a function's start, past memory without a file, or
//! from the start of the thread inwards.

mod anchor;
mod by_code;
mod from_start;
mod memory;

use address::Avma;
use module_map::MappedKind;
use profile::EndReason;

use crate::frame::Frame;
use crate::state::{Registers, SampleMemory, WalkContext};
use crate::walk::Walker;
use crate::walk::outcome::WalkOutcome;

impl Walker<'_> {
    /// Continues a chain that ended early, if other evidence proves its frames.
    #[cold]
    pub(super) fn recover(
        &mut self,
        mut outcome: WalkOutcome,
        pc: Avma,
        first: usize,
        registers: impl FnOnce() -> Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let own = frames.get(first..).unwrap_or_default();
        let is_refuted = outcome.end.reason != EndReason::Root
            && self.is_first_refuted(&outcome, pc, own, context);
        let mut is_lost = false;
        if is_refuted {
            let beyond = outcome.context_beyond(context);
            match self.walk_by_code(pc, first, registers(), &beyond, frames) {
                Some(again) => {
                    outcome = WalkOutcome { has_gap: outcome.has_gap || again.has_gap, ..again };
                }
                None => is_lost = frames.len() == first + 1,
            }
        }
        match outcome.end.reason {
            EndReason::AnonymousMemory | EndReason::NoUnwindInfo => {
                self.walk_from_anchor(outcome, first, context, frames)
            }
            _ if is_lost => self.walk_from_anchor(outcome, first, context, frames),
            EndReason::Root if outcome.has_gap => outcome.with_reason(EndReason::RootAcrossGap),
            _ => outcome,
        }
    }
}

/// Returns true if an address is in the code of a mapped file. Kernel mappings are not looked up for a word of the
/// stack.
fn is_in_file(address: Avma, memory: &SampleMemory<'_>) -> bool {
    memory.space.lookup(address).is_some_and(|mapping| {
        let kind = memory.space.module(&mapping).map(|module| module.kind);
        mapping.executable && kind == Some(MappedKind::File)
    })
}
