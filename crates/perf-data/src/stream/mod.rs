//! Conversion of bytes to a sequence of records: blocks, headers, damage, compressed records.

mod ahead;
mod counts;
mod driver;
mod expander;
mod feed;
mod learn;
mod losses;
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
pub(crate) use run::{KeptRecords, RecordRun};
pub use runs::ScanAhead;
pub(crate) use sink::{Flow, RecordChunk, RecordPlace, RecordSink, SinkContext};
