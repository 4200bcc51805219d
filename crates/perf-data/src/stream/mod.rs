//! From bytes to records one after another: blocks, headers, damage, compressed records.

mod counts;
mod driver;
mod expander;
mod feed;
mod learn;
mod losses;
mod sink;
mod splits;
mod walker;

pub use counts::{KindCount, RecordCounts};
pub(crate) use driver::Driver;
pub use feed::LiveRead;
pub(crate) use feed::{Feed, StreamReader};
pub use losses::{EventLosses, Losses};
pub(crate) use sink::{Flow, RecordChunk, RecordPlace, RecordSink, SinkContext};
