//! From bytes to records one after another: blocks, headers, damage, compressed records.

mod counts;
mod driver;
mod expander;
mod feed;
mod losses;
mod splits;
mod walker;

pub use counts::{KindCount, RecordCounts};
pub(crate) use driver::{Driver, Flow, RecordChunk, RecordPlace, Sink, SinkContext};
pub(crate) use feed::{Feed, StreamReader};
pub use losses::{EventLosses, Losses};
