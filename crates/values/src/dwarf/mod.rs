//! Units and entries of an image's debug information, across its files.

mod abbreviations;
mod entry;
mod mentions;
mod sources;

pub use sources::Sources;

pub(crate) use entry::{Entry, Walk, flag, name, signed, unsigned};
pub(crate) use mentions::{Mentions, is_word_byte};
pub(crate) use sources::{DieKey, LoadedUnit};

/// Address ranges, in addresses of the image (SVMA).
pub(crate) type Ranges = Vec<std::ops::Range<u64>>;
