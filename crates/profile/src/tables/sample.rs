//! Samples: a few words each, the rest is in the other tables.

use address::Timestamp;

use crate::id::{EventId, LayoutId, StackId, ThreadId};
use crate::reason::EndReason;

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRow {
    /// When, on the recording's clock; `None` where it was not recorded.
    pub time: Option<Timestamp>,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// The event that was sampled.
    pub event: EventId,
    /// Why the chain ended.
    pub end: EndReason,
    /// On which processor; `None` where it was not recorded.
    pub cpu: Option<u32>,
    /// The weight of the sample in units of its event; `None` where it was not recorded (then it counts 1).
    pub period: Option<u64>,
    /// The innermost frame's node; `None` for a sample without frames.
    pub stack: Option<StackId>,
    /// Where the modules of its process lay.
    pub layout: LayoutId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_small() {
        assert_eq!(size_of::<SampleRow>(), 56);
    }
}
