//! A machine whose answers are noted: each question, what came of it, and which parts of large files were read.

mod host;
mod taken;

pub use self::host::JournalHost;
pub use self::taken::Taken;
pub(crate) use self::taken::{TakenContent, TakenFound, TakenPlace};
