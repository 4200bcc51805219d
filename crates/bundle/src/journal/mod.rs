//! Recording host: each request with its answer, and the ranges of large files that were read.

mod host;
mod taken;

pub use self::host::JournalHost;
pub use self::taken::Taken;
pub(crate) use self::taken::{TakenContent, TakenFound, TakenPlace};
