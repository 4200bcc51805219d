//! Messages about a live recording.

use serde::{Deserialize, Serialize};

use super::options::RunOptions;

/// Task of following a stream. Its descriptors are the stream, the file for the final tables, and, if requested, the
/// file for a copy of the stream.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LiveTask {
    /// Name of the stream in messages.
    pub(crate) name: String,
    /// Options of the run.
    pub(crate) options: RunOptions,
    /// Age in milliseconds after which samples are discarded; `None` to retain all.
    pub(crate) keep: Option<u64>,
    /// True if a copy is requested.
    pub(crate) copied: bool,
}

/// Update of a live recording.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LiveTick {
    /// Number of the update; increases with each change of the tables.
    pub(crate) tick: u64,
    /// Statistics of the run.
    pub(crate) numbers: LiveNumbers,
    /// Change of the tables.
    pub(crate) change: LiveChange,
}

/// Change of the tables.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LiveChange {
    /// No change.
    None,
    /// Additional rows, in base64.
    Rows(String),
    /// The tables were replaced and must be reloaded.
    #[serde(rename = "anew")]
    FromScratch,
}

/// Statistics of a live recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LiveNumbers {
    /// Received samples, including discarded ones; and retained samples.
    pub(crate) samples: u64,
    pub(crate) kept: u64,
    /// Nodes of the call tree.
    pub(crate) nodes: u64,
    /// Bytes of records read.
    pub(crate) bytes: u64,
    /// Records, and samples, that the kernel reported as lost.
    pub(crate) lost_records: u64,
    pub(crate) lost_samples: u64,
    /// Time of the newest sample, in nanoseconds of the recording's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) newest: Option<u64>,
    /// Age of the newest sample when the update was sent, in seconds; and whether it was measured by the recording's
    /// own clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lag: Option<f64>,
    pub(crate) lag_is_exact: bool,
    /// Time of sending, in milliseconds since 1970.
    pub(crate) sent: u64,
    /// Advice on options of the recording that were missing.
    pub(crate) warnings: Vec<String>,
}
