//! Recording host: each request with its answer, and the ranges of large files that were read.

mod answers;
mod host;

pub use self::answers::JournalAnswers;
pub(crate) use self::answers::{JournalAnswer, JournalContent, JournalPath};
pub use self::host::JournalHost;
