//! Served recordings: files below the roots that the operator named.

mod listing;
mod recording;
mod root;
mod shown;

pub(crate) use listing::has_magic;
pub(crate) use recording::{Opened, Recording, RecordingId, hex};
pub(crate) use root::{RecordingRoot, Roots};
