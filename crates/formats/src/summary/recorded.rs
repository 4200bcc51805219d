//! The evidence on stacks in a recording, by which the summary chooses its words.

use profile::{EndReason, Profile};

/// The evidence on stacks in a recording.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    /// Copies of them, or nothing that would need one.
    Stacks,
    /// Callchains that the recorder made.
    Chains,
    /// Nothing.
    Nothing,
}

impl Recorded {
    /// The evidence in the recording of a profile.
    pub(super) fn of(profile: &Profile) -> Self {
        if profile.recording.stack_bytes.is_some() {
            return Self::Stacks;
        }
        let ended = |wanted: EndReason| profile.samples.iter().any(|it| it.end == wanted);
        if ended(EndReason::Recorded) {
            Self::Chains
        } else if ended(EndReason::NoUserRegs) {
            Self::Nothing
        } else {
            Self::Stacks
        }
    }
}
