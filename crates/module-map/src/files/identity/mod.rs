//! Which file of this machine is the recorded one: the evidence, in its order, and the search by it.

mod evidence;
mod live;
mod load;
mod load_error;

pub use evidence::{Difference, FileProof};
pub(crate) use live::live_root;
pub use load_error::LoadError;
