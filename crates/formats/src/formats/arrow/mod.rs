//! Arrow: streams of record batches that pyarrow, polars, pandas, `DuckDB` and Spark read incrementally.
//!
//! ```text
//!   tables    stream "samples" | stream "stacks" | stream "frames" | ...      one stream after the other
//!   rows      batch | batch | batch | ...                                     one stream, one row a sample
//! ```
//!
//! Names are dictionary-encoded, and each dictionary is built once. Batches are built and written one after the other.
//!
//! Source: <https://arrow.apache.org/docs/format/Columnar.html>, "IPC Streaming Format".

mod dictionary;
mod fields;
mod metadata;
mod row_frames;
mod rows;
mod stream;
mod tables;

use std::io;

pub use self::rows::ArrowRows;
use crate::facts::{BYTES, FormatFacts};
use crate::printer::Printer;
use profile::Profile;

/// Prints Arrow streams.
#[derive(Debug, Clone, Copy)]
pub struct Arrow {
    /// Whether inlined functions are separate rows or frames.
    pub inlines: bool,
    /// Whether to write one stream of samples with their frames, instead of the tables.
    pub rows: bool,
}

impl Arrow {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts =
        FormatFacts::binary("arrow", "streams of tables for data tools", &[".arrows"], BYTES);
}

impl Printer for Arrow {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        if self.rows {
            rows::print(profile, self.inlines, out)
        } else {
            tables::print(profile, self.inlines, out)
        }
    }
}
