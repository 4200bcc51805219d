//! Samples through the whole replay.

mod late;
mod recorded;
mod repair;
pub(crate) mod replayed;
