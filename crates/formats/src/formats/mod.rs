//! One printer per format.

#[cfg(feature = "arrow")]
mod arrow;
mod callgrind;
mod console;
mod firefox;
#[cfg(feature = "flamegraph")]
mod flamegraph;
mod folded;
mod hotspot;
mod json;
mod ndjson;
mod otlp;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod perf_script;
mod pprof;
mod speedscope;

#[cfg(feature = "arrow")]
pub use arrow::{Arrow, ArrowRows};
pub use callgrind::Callgrind;
pub use console::{
    AnnotatedFunction, AnnotatedSource, ConsoleLook, RowKeys, SpanDocument, SpanDurations,
    TopTable, TreeTable, cost_text, cost_title,
};
pub use firefox::Firefox;
#[cfg(feature = "flamegraph")]
pub use flamegraph::Flamegraph;
pub use folded::Folded;
pub use hotspot::{
    Details, ErrorKind, ErrorRow, FieldValue, GroupRow, Hotspot, HotspotStream, MemoryNodeRow,
    SampleExtra, TaskChange, TaskEvent, TracepointRow,
};
pub use json::Json;
pub use ndjson::Ndjson;
pub use otlp::Otlp;
pub use page::{LivePage, LiveStep, Page, PageCode, PageFunctionCode, PageSource, PageTarget};
pub(crate) use page::{PAGE_NONE, PageRowColumn, PageWidth, page_column, write_page, write_tables};
#[cfg(feature = "parquet")]
pub use parquet::{
    MergeError, MergedTable, ModuleFrames, Parquet, PartFile, PlainRows, RowStatistics, StackCount,
    StackReader, StacksError, StacksFile, StoredStacks, TableBytes, TableFile, merge_tables,
    write_named_stacks,
};
pub use perf_script::PerfScript;
pub use pprof::Pprof;
pub(crate) use pprof::{StringTable, field as pprof_field};
pub use speedscope::Speedscope;
