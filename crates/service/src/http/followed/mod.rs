//! What goes on while it is looked at: jobs, and the recording that is watched.

pub(super) mod jobs;
pub(super) mod live;
