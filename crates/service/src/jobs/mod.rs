//! Analysis jobs: one runs at a time, the others wait in order, and equal requests share a job.

mod job;
mod queue;

pub(crate) use job::{Job, JobState, JobView, Progress};
pub(crate) use queue::Jobs;
