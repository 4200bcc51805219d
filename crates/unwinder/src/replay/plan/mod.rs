//! The plan: records in time order move the timeline on, and each sample gets its space.

pub(in crate::replay) mod apply;
pub(in crate::replay) mod filter;
pub(in crate::replay) mod kernel_frames;
pub(in crate::replay) mod off_cpu;
pub(in crate::replay) mod planner;
pub(in crate::replay) mod position;
pub(in crate::replay) mod read_ahead;
pub(in crate::replay) mod spaces;
pub(in crate::replay) mod threads;
pub(in crate::replay) mod unswitched;
