//! Report of a child process that wrote the rows of a recording: one line of JSON on its standard output.

use serde::{Deserialize, Serialize};

use crate::manifest::{FindingCount, ModuleFrames};

/// Result of one run that wrote a file of rows.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// Message of a run that found no wanted sample; empty for others.
    pub message: String,
    /// Number of samples.
    pub samples: u64,
    /// Share of samples with a complete callchain, from 0 to 1; 0 without samples.
    pub complete_share: f64,
    /// Findings of the run.
    pub findings: Vec<FindingCount>,
    /// Modules with frames, in descending order of frames.
    pub modules: Vec<ModuleFrames>,
    /// Time of the first sample, in nanoseconds since 1970 (UTC), if the recorder stated the time of day.
    pub start_utc_ns: Option<u64>,
}
