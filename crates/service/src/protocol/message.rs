//! Requests and replies.

use options::{ChoiceOrValue, SampleFilter, StackRoot, Weight};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::live::{LiveTask, LiveTick};
use super::options::RunOptions;
use super::query::Query;
use super::symbols::{CodeTask, FileTask, SourceTask, SymbolizeTask};
use crate::problem::Problem;

/// Task for the worker. Its descriptors are those of the recordings that are files, in order, then that of the output
/// if the task has one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorkerRequest {
    /// Number of the request, repeated in replies.
    pub(crate) id: u64,
    /// Task.
    pub(crate) task: Task,
}

/// Recording; its descriptor comes with the message unless it is a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordingRef {
    /// Path, for messages; a folder is opened by it.
    pub(crate) path: String,
    /// Name below its root, for display.
    pub(crate) name: String,
    /// Key of its content together with the options of the run.
    pub(crate) key: String,
    /// True for a folder of `perf record --threads`.
    pub(crate) is_folder: bool,
}

/// Task for the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Returns the header of a recording.
    Describe(RecordingRef),
    /// Returns the files of a recording's modules by its maps: build-ids and paths.
    Modules(RecordingRef),
    /// Writes the compressed tables of the page to the output; the answer is the account of the run.
    Analyze {
        /// Recording.
        recording: RecordingRef,
        /// Options of the run.
        options: RunOptions,
    },
    /// Writes an export format to the output.
    Export(Box<ExportTask>),
    /// Answers a query on the profile.
    Query {
        /// Recording.
        recording: RecordingRef,
        /// Options of the run.
        options: RunOptions,
        /// Query.
        query: Box<Query>,
    },
    /// Compares recordings and writes the result to the output.
    Diff(Box<DiffTask>),
    /// Returns the instructions of the function at an address.
    #[serde(rename = "place")]
    Instructions(InstructionsTask),
    /// Returns the text of a source file.
    Source {
        /// Recording.
        recording: RecordingRef,
        /// Options of the run.
        options: RunOptions,
        /// Name of the file in the debug information.
        file: String,
    },
    /// Symbolizes addresses of files that are located by build-id.
    Symbolize(SymbolizeTask),
    /// Returns the text of a source file that the debug information of an address names.
    SourceAt(SourceTask),
    /// Returns instructions of a file that is located by build-id.
    Code(CodeTask),
    /// Opens a file by build-id: its descriptor comes with the answer, a [`HandedFile`](super::HandedFile).
    File(FileTask),
    /// Follows a stream to its end; the answer is the account of the run.
    Live(LiveTask),
    /// Writes the compressed current tables of the live recording to the output; the answer is their tick, or null if
    /// there are no data yet.
    LiveColumns,
    /// Cancels an earlier request.
    Cancel(u64),
}

/// Export of a recording.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExportTask {
    /// Recording.
    pub(crate) recording: RecordingRef,
    /// Options of the run.
    pub(crate) options: RunOptions,
    /// Name of the format.
    pub(crate) format: String,
    /// Filter for samples.
    pub(crate) samples: SampleFilter,
    /// Weight of a stack.
    pub(crate) weight: Weight,
    /// Outermost frame of a folded stack.
    pub(crate) root: ChoiceOrValue<StackRoot>,
    /// Modification time of the recording's file, in milliseconds since 1970.
    pub(crate) written: Option<i64>,
}

/// Format name that selects the compressed tables of the page of a comparison.
pub(crate) const DIFF_TABLES: &str = "columns";

/// Comparison.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DiffTask {
    /// Recordings of the baseline.
    pub(crate) before: Vec<RecordingRef>,
    /// Recordings of the candidate.
    pub(crate) after: Vec<RecordingRef>,
    /// Options of the runs.
    pub(crate) options: RunOptions,
    /// Divisor of costs: `time`, `share`, `samples` or `A=F,B=F`; `None` selects the most suitable one.
    pub(crate) normalize: Option<String>,
    /// True if functions match only if their full names are equal.
    pub(crate) exact_names: bool,
    /// Name of the format.
    pub(crate) format: String,
}

/// Location whose instructions are requested.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct InstructionsTask {
    /// Recording.
    pub(crate) recording: RecordingRef,
    /// Options of the run.
    pub(crate) options: RunOptions,
    /// Build-id of the module, or its path if it has no build-id.
    pub(crate) module: String,
    /// Address, as stated in the module's file.
    pub(crate) address: u64,
}

/// Message of the worker about a request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// Number of the request.
    pub(crate) id: u64,
    /// Event.
    pub(crate) event: WorkerEvent,
}

/// Event of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WorkerEvent {
    /// A stage began.
    Stage(String),
    /// Progress of unwinding.
    Progress {
        /// Number of unwound samples.
        done: u64,
        /// Expected total number of samples.
        expected: u64,
    },
    /// Update of the live recording.
    Live(Box<LiveTick>),
    /// Success, with the answer.
    Done(Box<RawValue>),
    /// Failure.
    Failed(Problem),
}
