//! Which file of this machine is the recorded one: the evidence, in its order, and why a file is refused.

mod evidence;
mod live;
mod load_error;

pub use evidence::{Difference, FileProof};
pub(crate) use evidence::{Evidence, InodeMatch, compare_candidate, may_be_at_path};
pub(crate) use live::{LiveFiles, live_files, live_root};
pub use load_error::LoadError;
