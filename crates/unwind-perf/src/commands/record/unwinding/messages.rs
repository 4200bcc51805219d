//! Messages between the unwinder and its recorder. Each message of the unwinder has one reply.

use bundle::GrowingOptions;
use confine::HostRequest;
use profile::StackNeeds;
use serde::{Deserialize, Serialize};

use crate::commands::callchains::evidence_writer;

/// Message of the unwinder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum UnwinderMessage {
    /// Asks for the output; the reply is [`UnwinderReply::Output`].
    Begin,
    /// Asks for a file; the reply is a `HostReply`.
    Host(HostRequest),
    /// Asks whether a file is to be completed.
    IsDue,
    /// A requested file would have no samples.
    Omitted,
    /// Asks for the next file; the current one has that number of bytes.
    Next(u64),
    /// A file is complete with that number of bytes, or cannot be completed.
    Completed(Result<u64, String>),
    /// The current file has that number of bytes.
    Grown(u64),
    /// Copies of that number of bytes serve; the reply may have the stream of another perf.
    StackSize(u32),
    /// All samples are written.
    Ended(UnwoundAccount),
}

/// Reply of the recorder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum UnwinderReply {
    /// Kind of the output; its first file is attached.
    Output(OutputKind),
    /// Whether a file is to be completed.
    IsDue(bool),
    /// A new file is attached, or a stream if there is one.
    File,
    /// Nothing else to reply.
    Done,
    /// The request failed, for that reason.
    Failed(String),
}

/// Kind of the output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::commands) struct OutputKind {
    /// True if further files follow.
    pub(super) has_further_files: bool,
    /// Duration in nanoseconds of the records that are written on request and at the end; `None` to write all.
    pub(super) last: Option<u64>,
    /// True if stacks are dropped while the unwinder is behind, so that perf does not wait for it.
    pub(super) drops_stacks: bool,
    /// True if the records are compressed.
    pub(super) is_compressed: bool,
    /// True if a smaller size of the stack copies is to be found.
    pub(super) finds_stack_size: bool,
    /// Command line of the recording; `None` for that of the stream.
    pub(super) command_line: Option<Vec<Vec<u8>>>,
}

impl OutputKind {
    /// An uncompressed file for a converted stream, whose command line stays.
    pub(super) const CONVERTED: Self = Self {
        has_further_files: false,
        last: None,
        drops_stacks: false,
        is_compressed: false,
        finds_stack_size: false,
        command_line: None,
    };

    /// Returns the options of its files.
    pub(super) fn growing(&self) -> GrowingOptions {
        GrowingOptions {
            evidence: evidence_writer(),
            is_compressed: self.is_compressed,
            command_line: self.command_line.clone(),
            has_further_files: self.has_further_files,
        }
    }
}

/// Account of the unwound samples.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::commands) struct UnwoundAccount {
    /// Number of samples.
    pub(in crate::commands) samples: u64,
    /// Number of samples that were damaged, or whose callchain exceeds a record.
    pub(in crate::commands) omitted: u64,
    /// Stack bytes that the chains need since the tables were last cleared, and the number of these samples.
    pub(super) needs: (StackNeeds, u64),
    /// Number of samples that two perfs took, and that are written once.
    pub(super) overlap: u64,
    /// Samples whose stacks were dropped.
    pub(super) dropped: u64,
    /// Reason why the recording ends early; it has all records up to there.
    pub(in crate::commands) failed: Option<String>,
}
