//! What earlier runs found out, kept in a folder: the answers to addresses of files, so that a run on files that were
//! asked before neither unpacks nor reads their debug information; and unwind rules, which are bytes here.
//!
//! Both are kept by the content of the files that they come from ([`Key`]), never by their names: a folder that all
//! recordings share gives the same as none. A file of the folder appears when it is complete, has a checksum and its key in
//! it, and is checked as a whole when it is read; what is damaged, half written, of another version or of another user is
//! not there. Several processes can use a folder at a time: the last one to write wins, and what another one learnt
//! meanwhile is asked again.
//!
//! ```text
//!   place    the folder: its size, what is in it
//!   store    a folder as one run sees it
//!   key      under what answers are kept
//!   answers  a file of answers
//!   kernel   functions of the kernel, by its list of symbols
//!   recall   which addresses have an answer; all answers together
//!   rules    a file of unwind rules
//!   files    a store of whole files by build-id, in a folder of its own
//! ```

mod answers;
mod files;
mod kernel;
mod key;
mod layout;
mod place;
mod recall;
mod rules;
mod store;
#[cfg(test)]
mod tests;

pub use files::{FilePart, FileStore, Kept, StoreContents, StoreEntry, StorePlace};
pub use kernel::KeptKernel;
pub use key::Key;
pub use place::{CacheContents, CachePlace, make_folder};
pub use recall::{Fresh, Recalled};
pub use rules::RuleRows;
pub use store::Cache;
