//! Identification of the recorded file on this machine: evidence in order of strength, and reasons for refusing a file.

mod evidence;
mod live;
mod load_error;

pub use evidence::{Difference, FileProof};
pub(crate) use evidence::{InodeMatch, MatchEvidence, compare_candidate, may_be_at_path};
pub(crate) use live::{LiveFiles, live_files, live_root};
pub use load_error::LoadError;
