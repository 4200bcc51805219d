//! Analyses that were asked for: one runs, the others wait in order, and the same one is done once.

mod job;
mod queue;

pub(crate) use job::{Job, JobState, JobView, Progress};
pub(crate) use queue::Jobs;
