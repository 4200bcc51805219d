//! Manifest of a converted recording: the contents of `_manifest.json`.

use serde::{Deserialize, Serialize};

/// Version of the manifest. Readers reject others.
pub(crate) const VERSION: u32 = 2;

/// Outcome of a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The rows exist, possibly none.
    Ok,
    /// The rows exist, but the recording is truncated, or names are missing.
    Damaged,
    /// The file is not a recording, or its header is damaged.
    NotARecording,
    /// The file cannot be read, or the options do not fit it. Another call can succeed.
    Unreadable,
    /// All runs were killed or exceeded the time limit, or the recording changed. Another call can succeed.
    GaveUp,
}

impl Status {
    /// All values, in the order of the documentation.
    pub const ALL: [Self; 5] =
        [Self::Ok, Self::Damaged, Self::NotARecording, Self::Unreadable, Self::GaveUp];

    /// Returns the keyword.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Damaged => "damaged",
            Self::NotARecording => "not-a-recording",
            Self::Unreadable => "unreadable",
            Self::GaveUp => "gave-up",
        }
    }

    /// Returns true if another call would have the same outcome.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Ok | Self::Damaged | Self::NotARecording)
    }

    /// Returns true if there is a file of rows.
    #[must_use]
    pub const fn has_rows(self) -> bool {
        matches!(self, Self::Ok | Self::Damaged)
    }
}

/// A finding of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FindingCount {
    /// Keyword of the kind.
    pub kind: String,
    /// Number of times.
    pub count: u64,
    /// Message for people, about the first one.
    pub message: String,
}

/// Number of frames in one module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleFrames {
    /// Path of the file; `None` for frames outside of modules.
    pub path: Option<String>,
    /// Build-id in hexadecimal.
    pub build_id: Option<String>,
    /// Number of frames.
    pub frames: u64,
}

/// Result of the conversion of one recording. `docs/SCALE.md` describes the keys.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the manifest.
    pub manifest: u32,
    /// Absolute path of the recording. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// SHA-256 of the recording in hexadecimal; `None` if it cannot be opened.
    pub recording_sha256: Option<String>,
    /// Size of the recording, in bytes.
    pub bytes: Option<u64>,
    /// Day in the name of the folder, such as `2026-11-30`.
    pub date: Option<String>,
    /// Hash of the options and the version, in hexadecimal.
    pub opts: String,
    /// The options, each as `name=JSON`.
    pub options: Vec<String>,
    /// Version of the program.
    pub tool: String,
    /// File with the rows, relative to the folder of the tree.
    pub part: Option<String>,
    /// Size of that file, in bytes.
    pub part_bytes: Option<u64>,
    /// Outcome.
    pub status: Status,
    /// Message of the program; empty if there is none.
    pub message: String,
    /// Number of runs of the program.
    pub attempts: u32,
    /// Number of samples.
    pub samples: u64,
    /// Share of samples with a complete callchain, from 0 to 1.
    pub complete_share: f64,
    /// Findings of the run.
    pub findings: Vec<FindingCount>,
    /// Modules with frames, in descending order of frames.
    pub modules: Vec<ModuleFrames>,
    /// Duration of the conversion, in seconds.
    pub seconds: f64,
}
