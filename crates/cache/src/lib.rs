//! Cache of earlier runs in a folder: answers for addresses of files, and unwind rules, which are opaque bytes here.
//! A run on known files therefore neither unpacks nor reads their debug information.
//!
//! Both are stored by the identity of their source files ([`CacheKey`]), never by name:
//! a shared folder gives the same output as none.
//! A cache file appears when it is complete.
//! It contains a checksum and its key, and is checked completely when it is read.
//! Files that are damaged, partial, of another version or of another user are ignored.
//! Several processes can use a folder at a time: the last writer wins, and lost answers are computed again.
//!
//! ```text
//!   place    the folder: its size and contents
//!   store    the folder during one run
//!   key      keys of answers
//!   answers  a file of answers
//!   kernel   functions of the kernel that were looked up in its list of symbols, and an index of that list
//!   recall   addresses with answers; the complete answers
//!   rules    a file of unwind rules
//!   profiles files with the finished profiles of recordings
//!   files    a store of whole files by build-id, in a separate folder
//! ```

mod answers;
mod files;
mod folder;
mod kernel;
mod kernel_index;
mod key;
mod layout;
mod profiles;
mod recalled;
mod rules;
mod store;
#[cfg(test)]
mod tests;

pub use files::{FilePart, FileStore, LimitedStore, StoreContents, StoreEntry, StoreResult};
pub use folder::{CacheContents, CacheLocation, make_folder};
pub use kernel::{CachedKernel, IndexedKernel};
pub use key::CacheKey;
pub use profiles::StoredProfile;
pub use recalled::{Fresh, Recalled};
pub use rules::RuleRows;
pub use store::Cache;
