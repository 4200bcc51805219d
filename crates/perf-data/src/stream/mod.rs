//! From bytes to records one after another: blocks, headers, damage, compressed records.

mod counts;
mod driver;
mod expander;
mod feed;
mod losses;
mod source;
mod splits;
mod walker;

pub use counts::{KindCount, RecordCounts};
pub(crate) use driver::{Context, Driver, Flow, OwnedPiece, Place, Sink};
pub(crate) use feed::{Feed, Reader};
pub use losses::{EventLosses, Losses};
pub(crate) use source::{Piece, Source};
pub(crate) use walker::{Found, Walker};
