//! The account of a run: losses, findings, addresses without names, and the remedies for them.

pub(super) mod findings;
mod identity;
mod losses;
mod nameless;
mod untried;

pub(crate) use findings::account_of_files;
pub use findings::dangling_ids;
