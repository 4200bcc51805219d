//! The counters of a run, with its losses and findings.

use address::Timestamp;

use crate::id::ThreadId;
use crate::quality::finding::FindingRow;
use crate::quality::loss::{EventLoss, ModuleLoss, NamelessModule};
use crate::quality::stack_needs::StackNeeds;

/// Counters of a run and what the input suffered from.
#[derive(Debug, Default, Clone)]
pub struct Summary {
    /// Samples in the recording (after filters).
    pub samples: u64,
    /// Samples that filters left out.
    pub samples_filtered: u64,
    /// Samples that could not be decoded, or belong to no known event.
    pub samples_dropped: u64,
    /// Frames of all samples, inlined ones not counted.
    pub frames: u64,
    /// Samples that the kernel reported as lost.
    pub lost_samples: u64,
    /// Other records that the kernel reported as lost.
    pub lost_records: u64,
    /// The same by event, of those that lost any.
    pub lost_by_event: Vec<EventLoss>,
    /// Times that the kernel throttled an event.
    pub throttled: u64,
    /// How many bytes of stack the chains need.
    pub stack_needs: StackNeeds,
    /// Modules at which chains ended before their root, most samples first.
    pub losses: Vec<ModuleLoss>,
    /// Whether names, inlined functions or lines are missing because files are damaged or not at hand; the findings say
    /// which.
    pub names_lost: bool,
    /// Modules with frames that have no name, or but the start of their function for one; those with most frames first.
    pub nameless: Vec<NamelessModule>,
    /// Threads without a context switch in the whole recording, if times off the processor were asked for.
    pub unswitched: Vec<UnswitchedThread>,
    /// Everything else that was found wrong with the input, in plain words.
    pub findings: Vec<FindingRow>,
}

/// What a thread without a context switch did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadState {
    /// It was off the processor.
    Asleep,
    /// It ran.
    Running,
    /// Nothing of the recording shows it.
    Unknown,
}

impl ThreadState {
    /// Every value, in the order of the summary.
    pub const ALL: &[Self] = &[Self::Asleep, Self::Running, Self::Unknown];

    /// The word in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asleep => "asleep",
            Self::Running => "running",
            Self::Unknown => "unknown",
        }
    }
}

/// A thread without a context switch in the whole recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnswitchedThread {
    /// The thread.
    pub thread: ThreadId,
    /// Its state.
    pub state: ThreadState,
    /// The start of the recording or of the thread, in nanoseconds on the recording's clock; with a filter by time no
    /// earlier than that.
    pub since: Timestamp,
    /// From there to the end of the recording, or of the filter's time, in nanoseconds.
    pub duration: u64,
}
