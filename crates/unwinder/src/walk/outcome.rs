//! The end of a walk: its reason, and the facts from which other methods can continue.

use address::Avma;
use profile::EndReason;

use crate::state::{Registers, WalkContext, WalkMode};

/// The last function of a chain, if a method other than a rule may lead to its caller.
#[derive(Debug)]
pub(super) struct LastFunction {
    /// Its looked-up address.
    pub(super) lookup: Avma,
    /// The caller's registers if a return probe replaced its return address; its own if it continues on another stack
    /// than its caller.
    pub(super) registers: Registers,
}

/// The end of a chain.
#[derive(Debug)]
pub(super) struct ChainEnd {
    pub(super) reason: EndReason,
    /// CFA of the last function, if the caller's bytes are missing.
    pub(super) truncated_at: Option<u64>,
    /// The last function, after a return probe or on another stack than its caller.
    pub(super) last: Option<Box<LastFunction>>,
}

impl From<EndReason> for ChainEnd {
    fn from(reason: EndReason) -> Self {
        Self { reason, truncated_at: None, last: None }
    }
}

impl ChainEnd {
    /// A chain end after a frame with a CFA past the recorded bytes.
    pub(super) const fn truncated_at(end: u64) -> Self {
        Self { reason: EndReason::StackExhausted, truncated_at: Some(end), last: None }
    }
}

/// The end of a walk, and the doubts about its frames.
#[derive(Debug)]
pub(super) struct WalkOutcome {
    pub(super) end: ChainEnd,
    /// True if a frame relies on a frame pointer in unreadable code, or if the walk started after a guess.
    pub(super) is_guessed: bool,
    /// True if frames are missing between two others.
    pub(super) has_gap: bool,
}

impl From<EndReason> for WalkOutcome {
    fn from(reason: EndReason) -> Self {
        Self { end: reason.into(), is_guessed: false, has_gap: false }
    }
}

impl WalkOutcome {
    /// Returns the context for a walk that continues from this end.
    pub(super) const fn context_beyond<'m>(&self, context: &WalkContext<'m>) -> WalkContext<'m> {
        let mode = if self.is_guessed { WalkMode::BeyondGuess } else { context.mode };
        WalkContext { mode, ..*context }
    }

    /// Returns the same frames with another reason.
    pub(super) fn with_reason(self, reason: EndReason) -> Self {
        Self { end: reason.into(), ..self }
    }
}
