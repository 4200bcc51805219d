//! Requests and replies.

use options::{SampleFilter, Weight};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::live::{LiveTask, LiveTick};
use super::options::RunOptions;
use super::symbols::{CodeTask, FileTask, SourceTask, SymbolizeTask};
use crate::problem::Problem;
use crate::query::Query;

/// Something for the worker to do. Its descriptors are those of the recordings that are files, in order, and then that
/// of the output, where the task has one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Names the request in replies.
    pub(crate) id: u64,
    /// What is to be done.
    pub(crate) task: Task,
}

/// A recording, whose descriptor comes with the message unless it is a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    /// Its path, for messages; that of a folder is opened.
    pub(crate) path: String,
    /// Its name below its root, as people know it.
    pub(crate) name: String,
    /// What identifies its content together with the options of the run.
    pub(crate) key: String,
    /// Whether it is the folder of `perf record --threads`.
    pub(crate) is_folder: bool,
}

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Tell what the header says.
    Describe(Given),
    /// Make the tables of the page and write them, packed, into the output; the answer is the account of the run.
    Analyze {
        /// The recording.
        recording: Given,
        /// How it is read.
        options: RunOptions,
    },
    /// Write a format into the output.
    Export(ExportTask),
    /// Answer a question about the profile.
    Query {
        /// The recording.
        recording: Given,
        /// How it is read.
        options: RunOptions,
        /// The question.
        query: Box<Query>,
    },
    /// Compare recordings, and write the result into the output.
    Diff(Box<DiffTask>),
    /// The instructions of the function at an address.
    Place(PlaceTask),
    /// The text of a source file.
    Source {
        /// The recording.
        recording: Given,
        /// How it is read.
        options: RunOptions,
        /// The file's name, as debug information has it.
        file: String,
    },
    /// The names of addresses of files, which are found by build-id.
    Symbolize(SymbolizeTask),
    /// The text of a source file, which debug information of an address names.
    SourceAt(SourceTask),
    /// Instructions of a file that is found by build-id.
    Code(CodeTask),
    /// A file that is found by build-id: its descriptor comes with the answer, a [`HandedFile`](super::HandedFile).
    File(FileTask),
    /// Watch a stream to its end; the answer is the account of the run.
    Live(LiveTask),
    /// Write the tables of what is watched, packed, into the output; the answer is the tick that they are of, or nothing
    /// where nothing has come yet.
    LiveColumns,
    /// Stop working at an earlier request.
    Cancel(u64),
}

/// A format to be written.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExportTask {
    /// The recording.
    pub(crate) recording: Given,
    /// How it is read.
    pub(crate) options: RunOptions,
    /// The name of the format.
    pub(crate) format: String,
    /// Which samples are wanted.
    pub(crate) samples: SampleFilter,
    /// What a stack weighs.
    pub(crate) weight: Weight,
    /// When the recording's file was written, in milliseconds since 1970.
    pub(crate) written: Option<i64>,
}

/// What stands for the packed tables of the page of a difference, where a format is named.
pub(crate) const DIFF_TABLES: &str = "columns";

/// A comparison.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DiffTask {
    /// The recordings before.
    pub(crate) before: Vec<Given>,
    /// Those after.
    pub(crate) after: Vec<Given>,
    /// How they are read.
    pub(crate) options: RunOptions,
    /// What costs are divided by: `time`, `share`, `samples` or `A=F,B=F`; what fits best where nothing is said.
    pub(crate) normalize: Option<String>,
    /// Whether functions are the same only where their names are in full.
    pub(crate) exact_names: bool,
    /// The name of the format.
    pub(crate) format: String,
}

/// A place in a program whose instructions are wanted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlaceTask {
    /// The recording.
    pub(crate) recording: Given,
    /// How it is read.
    pub(crate) options: RunOptions,
    /// The module's build-id, or its path where it has none.
    pub(crate) module: String,
    /// The address, as the module's file states it.
    pub(crate) address: u64,
}

/// What the worker says of a request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// The request.
    pub(crate) id: u64,
    /// What happened.
    pub(crate) event: Event,
}

/// What happened with a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Event {
    /// A stage began.
    Stage(String),
    /// So many samples are unwound, of so many that are expected.
    Progress {
        /// Samples that are done.
        done: u64,
        /// Samples that there will be.
        expected: u64,
    },
    /// Something is new of what is watched.
    Live(Box<LiveTick>),
    /// It is done; the answer.
    Done(Box<RawValue>),
    /// It cannot be done.
    Failed(Problem),
}
