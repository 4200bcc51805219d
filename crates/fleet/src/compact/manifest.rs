//! Manifest of a merged day: the contents of its `_manifest.json`.

use serde::{Deserialize, Serialize};

/// Version of the manifest. Days with another one are written again.
pub(super) const VERSION: u32 = 1;

/// Contents of a merged day. `docs/SCALE.md` describes the keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct DayManifest {
    /// Version of the manifest.
    pub(super) merged: u32,
    /// The day.
    pub(super) date: String,
    /// Version of the program.
    pub(super) tool: String,
    /// Number of rows.
    pub(super) rows: u64,
    /// Tables of the day, one for each folder.
    pub(super) tables: Vec<TableManifest>,
}

/// Rows of one folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct TableManifest {
    /// The folder below that of the day; empty for the day itself.
    pub(super) folder: String,
    /// The columns in Parquet's schema language.
    pub(super) columns: Vec<String>,
    /// The files.
    pub(super) parts: Vec<PartManifest>,
    /// The merged files, sorted by path.
    pub(super) recordings: Vec<RecordingManifest>,
}

/// A merged file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PartManifest {
    /// Path below the folder of the day.
    pub(super) part: String,
    /// Number of rows.
    pub(super) rows: u64,
    /// Size in bytes.
    pub(super) bytes: u64,
}

/// A file whose rows are merged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct RecordingManifest {
    /// Path below the folder of the day, in the tree that is merged.
    pub(super) part: String,
    /// SHA-256 of the recording, if the path states it.
    pub(super) recording_sha256: Option<String>,
    /// Number of rows.
    pub(super) rows: u64,
    /// Size in bytes.
    pub(super) bytes: u64,
    /// Time of the last write, in nanoseconds since 1970.
    pub(super) written_ns: i64,
}
