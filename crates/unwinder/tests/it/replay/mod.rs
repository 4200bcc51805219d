//! Samples through the whole replay.

mod late;
mod processors;
mod recorded;
mod repair;
pub(crate) mod replayed;
mod walked;
