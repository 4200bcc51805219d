//! Merge of a day's tables into few large files, in a second tree.
//!
//! ```text
//!   TREE/date=DAY/recording_sha256=SHA256/opts=HASH/part.parquet     many
//!   MERGED/date=DAY/opts=HASH/part-N-GENERATION.parquet              few, with the column recording_sha256
//!   MERGED/date=DAY/_manifest.json                                   their recordings
//! ```
//!
//! A day is replaced as a whole: its folder is written beside MERGED, and then exchanged with the earlier one. A pattern
//! such as `MERGED/**/*.parquet` also matches files in hidden folders, so that no folder below MERGED can be unfinished.

mod compactor;
mod manifest;
mod merged;
mod source;

pub use compactor::{
    CompactedDay, Compactor, MergeFailure, MergeInput, MergedRows, PartFile, TableMerger,
};
pub use merged::MergedTree;
pub use source::SourceTree;
