//! The plan: records move the timeline in time order, and each sample gets its space.

pub(crate) mod apply;
pub(crate) mod filter;
pub(crate) mod history;
pub(crate) mod kernel_frames;
pub(crate) mod look_ahead;
pub(crate) mod off_cpu;
pub(crate) mod planned;
pub(crate) mod planner;
pub(crate) mod position;
pub(crate) mod spaces;
pub(crate) mod threads;
pub(crate) mod without_switches;
