//! Work in progress that clients follow: jobs and the live recording.

pub(super) mod jobs;
pub(super) mod live;
