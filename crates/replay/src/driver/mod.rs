//! The driver: chunks pass through plan, walk, repair and merge.

pub(crate) mod chunk;
pub(crate) mod findings;
pub(crate) mod history;
mod inside;
pub(crate) mod merge;
mod node_index;
pub(crate) mod replayer;
mod spans;
pub(crate) mod watch;
