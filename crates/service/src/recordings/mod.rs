//! Served recordings: files below the roots that the operator named.

mod listing;
mod recording;
mod root;

pub(crate) use recording::{Opened, Recording, RecordingId, hex};
pub(crate) use root::{RecordingRoot, Roots};
