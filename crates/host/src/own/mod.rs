//! Folders of files that this program made for itself: files in them appear when they are complete, and only this user can
//! read them. And which folders and links other users have no part in.

mod entry;
mod folder;
mod tree;
mod trust;

pub use entry::OwnEntry;
pub use folder::{OwnFile, OwnFolder};
pub use tree::OwnTree;
pub use trust::{Distrust, distrust_of, follow_own_links};
