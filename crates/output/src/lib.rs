//! Printers: one [`Profile`] in, one text out.
//!
//! A [`Format`] names a [`Printer`]; each writes a profile in pieces to what it is given, with the same bytes for any
//! number of threads. [`write_summary`] is the account of a run for people. How the profile was made is not known here.
//! `docs/OUTPUT.md` describes the formats field by field.

mod callgrind;
mod chunks;
mod escaped;
mod fields;
mod firefox;
mod flamegraph;
mod folded;
mod format;
mod frame_texts;
mod grouped;
mod hotspot;
mod json;
mod name_tree;
mod ndjson;
mod page;
mod parquet;
mod perf_script;
mod pprof;
mod profile;
mod report;
mod speedscope;
mod stack;
mod strings;
mod summary;
mod text;

pub use callgrind::Callgrind;
pub use fields::Fields;
pub use firefox::Firefox;
pub use flamegraph::Flamegraph;
pub use folded::{Folded, is_complete};
pub use format::{Format, FormatOptions, Printer, Root, Weight};
pub use hotspot::{
    Details, ErrorKind, ErrorRow, FieldValue, GroupRow, Hotspot, HotspotStream, MemoryNodeRow,
    SampleExtra, TaskChange, TaskEvent, TracepointRow,
};
pub use json::Json;
pub use ndjson::Ndjson;
pub use page::Page;
pub use parquet::Parquet;
pub use perf_script::PerfScript;
pub use pprof::Pprof;
pub use profile::{
    EventRow, FrameRow, InlineRow, LayoutRow, LocationRow, ModuleKind, ModuleRow, NO_STACK,
    Profile, RecordingInfo, SampleRow, StackRow, ThreadRow,
};
pub use report::write_summary;
pub use speedscope::Speedscope;
pub use strings::{StringId, Strings};
pub use summary::{EventLoss, FindingRow, ModuleLoss, Summary};
