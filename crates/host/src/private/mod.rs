//! Folders of files that this program made for itself:
//! files appear when they are complete, and only this user can read them.
//! Also the check that other users cannot change a folder or a symlink.

mod entry;
mod folder;
mod tree;
mod trust;

pub use entry::PrivateEntry;
pub use folder::{PrivateFile, PrivateFolder};
pub use tree::PrivateTree;
pub use trust::{Distrust, distrust_of, follow_own_links};
