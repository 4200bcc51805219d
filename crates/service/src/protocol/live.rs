//! What is said of a recording that is watched.

use serde::{Deserialize, Serialize};

use super::options::RunOptions;

/// A stream that is to be watched. Its descriptors are that of the stream, that of the file which gets the tables at the
/// end, and that of the file which gets a copy of the stream, where one is wanted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LiveTask {
    /// What the stream is called in messages.
    pub(crate) name: String,
    /// How it is read.
    pub(crate) options: RunOptions,
    /// Samples that are so many milliseconds old are forgotten; `None` for none.
    pub(crate) keep: Option<u64>,
    /// Whether a copy is wanted.
    pub(crate) copied: bool,
}

/// Something new of a recording that is watched.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LiveTick {
    /// Counts up with each change of the tables.
    pub(crate) tick: u64,
    /// How the watching goes.
    pub(crate) numbers: LiveNumbers,
    /// What became of the tables.
    pub(crate) change: LiveChange,
}

/// What became of the tables.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LiveChange {
    /// They are as they were.
    None,
    /// They have these rows more, in base64.
    Rows(String),
    /// They are other ones, which have to be asked for.
    Anew,
}

/// How the watching goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LiveNumbers {
    /// Samples that came, with those that are forgotten, and those that are not.
    pub(crate) samples: u64,
    pub(crate) kept: u64,
    /// Nodes of the tree.
    pub(crate) nodes: u64,
    /// Bytes of records that were read.
    pub(crate) bytes: u64,
    /// Records, and samples, that the kernel says it lost.
    pub(crate) lost_records: u64,
    pub(crate) lost_samples: u64,
    /// The time of the newest sample, in nanoseconds of the recording's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) newest: Option<u64>,
    /// How old it was when it was sent, in seconds, and whether that is by the recording's own clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lag: Option<f64>,
    pub(crate) lag_is_exact: bool,
    /// When it was sent, in milliseconds since 1970.
    pub(crate) sent: u64,
    /// What the recording should have been made with.
    pub(crate) warnings: Vec<String>,
}
