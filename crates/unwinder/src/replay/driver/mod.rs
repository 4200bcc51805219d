//! The driver: chunks pass through plan, walk, repair and merge.

pub(in crate::replay) mod chunk;
pub(in crate::replay) mod merge;
pub(in crate::replay) mod replayer;
pub(in crate::replay) mod watch;
