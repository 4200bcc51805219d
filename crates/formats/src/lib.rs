//! Printers: one [`Profile`](profile::Profile) in, one text out.
//!
//! A [`Format`] names a [`Printer`]; each writes a profile in pieces to what it is given, with the same bytes for any
//! number of threads. [`write_summary`] is the account of a run for people. How the profile was made is not known here.
//! `docs/OUTPUT.md` describes the formats field by field.

mod format;
mod formats;
mod options;
mod printer;
mod render;
mod summary;

pub use format::Format;
#[cfg(feature = "flamegraph")]
pub use formats::Flamegraph;
#[cfg(feature = "parquet")]
pub use formats::Parquet;
pub use formats::{
    Callgrind, Details, ErrorKind, ErrorRow, FieldValue, Firefox, Folded, GroupRow, Hotspot,
    HotspotStream, Json, MemoryNodeRow, Ndjson, Page, PerfScript, Pprof, SampleExtra, Speedscope,
    TaskChange, TaskEvent, TracepointRow,
};
pub use options::{FormatOptions, ScriptFields, StackRoot, StackWeight};
pub use printer::Printer;
pub use summary::{SummaryStyles, write_styled_summary, write_summary};
