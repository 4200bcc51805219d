//! The driver: chunks pass through plan, walk, repair and merge.

pub(crate) mod chunk;
mod findings;
mod labelled;
pub(crate) mod merge;
pub(crate) mod replayer;
pub(crate) mod watch;
