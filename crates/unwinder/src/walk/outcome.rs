//! The end of a walk: its reason, and the facts by which something else may go on from there.

use address::Avma;
use profile::EndReason;

use crate::state::{Mode, Registers, WalkContext};

/// The last function of a chain, if something else than a rule may lead to its caller.
#[derive(Debug)]
pub(super) struct LastFunction {
    /// Its own address that is looked up.
    pub(super) lookup: Avma,
    /// The registers in its caller if a return probe replaced its return address, and in itself if it goes on on another
    /// stack than its caller.
    pub(super) registers: Registers,
}

/// Why a chain ends.
#[derive(Debug)]
pub(super) struct ChainEnd {
    pub(super) reason: EndReason,
    /// The CFA of the last function, if the bytes of the caller are missing.
    pub(super) cut_at: Option<u64>,
    /// The last function, after a return probe or on another stack than its caller.
    pub(super) last: Option<Box<LastFunction>>,
}

impl From<EndReason> for ChainEnd {
    fn from(reason: EndReason) -> Self {
        Self { reason, cut_at: None, last: None }
    }
}

impl ChainEnd {
    /// The end of a chain whose last frame ends at an address past the recorded bytes.
    pub(super) const fn cut_off_at(end: u64) -> Self {
        Self { reason: EndReason::StackExhausted, cut_at: Some(end), last: None }
    }
}

/// The end of a walk, and the doubts about its frames.
#[derive(Debug)]
pub(super) struct WalkOutcome {
    pub(super) end: ChainEnd,
    /// A frame stands on a frame pointer in code that cannot be read, or a guess came before the walk.
    pub(super) is_guessed: bool,
    /// Frames are missing between two others.
    pub(super) has_gap: bool,
}

impl From<EndReason> for WalkOutcome {
    fn from(reason: EndReason) -> Self {
        Self { end: reason.into(), is_guessed: false, has_gap: false }
    }
}

impl WalkOutcome {
    /// The context of a walk that goes on from this end.
    pub(super) const fn context_beyond<'m>(&self, context: &WalkContext<'m>) -> WalkContext<'m> {
        let mode = if self.is_guessed { Mode::BeyondGuess } else { context.mode };
        WalkContext { mode, ..*context }
    }

    /// The same frames with another reason.
    pub(super) fn with_reason(self, reason: EndReason) -> Self {
        Self { end: reason.into(), ..self }
    }
}
