//! Folders of files that this program made for itself: files in them appear when they are complete, and only this user can
//! read them.

mod entry;
mod folder;
mod tree;

pub use entry::OwnEntry;
pub use folder::{OwnFile, OwnFolder};
pub use tree::OwnTree;
