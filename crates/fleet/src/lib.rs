//! Conversion of many recordings to one tree of Parquet files: each recording once, regardless of the order and number
//! of calls.
//!
//! ```text
//!   Source: arguments, list, watched folder
//!        |
//!      Queue ----> worker: digest -> manifest exists? -> child process -> part.parquet -> _manifest.json
//!        |           ...
//!        '-------> worker
//! ```
//!
//! A worker has only paths and manifests in memory. A child process of the same program reads the recording and writes
//! the rows, so that a crash, an endless run or too much memory concerns one recording.
//! [`Compactor`] merges the files of a day into few large ones; a [`TableMerger`] reads and writes the rows.
//! `docs/SCALE.md` describes the tree and the manifests.

mod compact;
mod convert;
mod day;
mod error;
mod manifest;
#[cfg(feature = "urls")]
mod object_tree;
mod paths;
mod remote;
mod tree;

pub use compact::{
    CompactedDay, Compactor, MergeFailure, MergeInput, MergedRows, MergedTree, PartFile,
    SourceTree, TableMerger,
};
pub use convert::{Account, Converted, Converter, NamedOptions, Runner, Tally, convert_all};
pub use error::{Error, Failure};
pub use manifest::{FindingCount, Manifest, ModuleFrames, Status};
pub use paths::{ListedPaths, Queue, Source, WatchedFolder};
pub use remote::Remote;
pub use tree::Tree;
