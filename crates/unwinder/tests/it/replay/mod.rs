//! Samples through the whole replay.

mod beginnings;
mod kept;
mod late;
mod processors;
mod recorded;
mod repair;
pub(crate) mod replayed;
mod tail_calls;
mod walked;
