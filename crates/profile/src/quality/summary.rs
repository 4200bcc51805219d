//! Counters of a run, with its losses and findings.

use address::Timestamp;

use crate::encoding::{encoding, enum_encoding};
use crate::id::ThreadId;
use crate::quality::finding::FindingRow;
use crate::quality::function_filter::AppliedFilter;
use crate::quality::loss::{EventLoss, ModuleLoss, NamelessModule};
use crate::quality::stack_needs::StackNeeds;

/// Counters of a run, and problems of its input.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Number of samples in the recording, after filters.
    pub samples: u64,
    /// Number of samples rejected by filters.
    pub samples_filtered: u64,
    /// Number of samples that could not be decoded or belong to no known event.
    pub samples_dropped: u64,
    /// Number of frames in all samples, without inlined ones.
    pub frames: u64,
    /// Number of samples that the kernel reported as lost.
    pub lost_samples: u64,
    /// Number of other records that the kernel reported as lost.
    pub lost_records: u64,
    /// Losses by event, for events with losses.
    pub lost_by_event: Vec<EventLoss>,
    /// Number of times that the kernel throttled an event.
    pub throttled: u64,
    /// Stack bytes needed by the chains.
    pub stack_needs: StackNeeds,
    /// Modules at which chains ended before their root, sorted by decreasing number of samples.
    pub losses: Vec<ModuleLoss>,
    /// Whether names, inlined functions or lines are missing because files are damaged or unavailable. The findings
    /// list the files.
    pub names_lost: bool,
    /// Modules with frames without a name, or named only by the start of their function; sorted by decreasing number of
    /// such frames.
    pub nameless: Vec<NamelessModule>,
    /// Threads without a context switch in the whole recording, if off-CPU times were requested.
    pub threads_without_switch: Vec<ThreadWithoutSwitch>,
    /// The filter of functions that was applied to the profile.
    pub applied_filter: Option<AppliedFilter>,
    /// Other problems of the input, in plain words.
    pub findings: Vec<FindingRow>,
}

encoding! { Summary {
    samples: u64,
    samples_filtered: u64,
    samples_dropped: u64,
    frames: u64,
    lost_samples: u64,
    lost_records: u64,
    lost_by_event: Vec<EventLoss>,
    throttled: u64,
    stack_needs: StackNeeds,
    losses: Vec<ModuleLoss>,
    names_lost: bool,
    nameless: Vec<NamelessModule>,
    threads_without_switch: Vec<ThreadWithoutSwitch>,
    applied_filter: Option<AppliedFilter>,
    findings: Vec<FindingRow>,
} }

/// State of a thread without a context switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadState {
    /// The thread was off-CPU.
    Asleep,
    /// The thread was running.
    Running,
    /// The recording does not show the state.
    Unknown,
}

impl ThreadState {
    /// All values, in the order of the summary.
    pub const ALL: &[Self] = &[Self::Asleep, Self::Running, Self::Unknown];

    /// Keyword in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asleep => "asleep",
            Self::Running => "running",
            Self::Unknown => "unknown",
        }
    }
}

enum_encoding! { ThreadState }

/// A thread without a context switch in the whole recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadWithoutSwitch {
    /// The thread.
    pub thread: ThreadId,
    /// Its state.
    pub state: ThreadState,
    /// Start of the recording or of the thread, in nanoseconds on the recording's clock; with a time filter, at least
    /// the filter's start.
    pub since: Timestamp,
    /// Time from `since` to the end of the recording or of the time filter, in nanoseconds.
    pub duration: u64,
}

encoding! { ThreadWithoutSwitch {
    thread: ThreadId,
    state: ThreadState,
    since: Timestamp,
    duration: u64,
} }
