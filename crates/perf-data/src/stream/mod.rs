//! Conversion of bytes to a sequence of records: blocks, headers, damage, compressed records.

mod counts;
mod driver;
mod expander;
mod feed;
mod head_update;
mod losses;
mod parallel_scan;
mod run;
mod runs;
mod sink;
mod splits;
mod walker;

pub use counts::{KindCount, RecordCounts};
pub(crate) use driver::Driver;

pub use feed::LiveRead;
pub(crate) use feed::{Feed, StreamReader};
pub use losses::{EventLosses, Losses};
pub(crate) use run::{RecordRun, RunEntries};
pub use runs::ScanOptions;
pub(crate) use sink::{Flow, RecordChunk, RecordLocation, RecordSink, SinkContext};
