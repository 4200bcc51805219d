//! Why a bundle cannot be read.

use std::io;

use budget::Exhausted;

/// A bundle cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no zstd stream, is cut, or is no tar file.
    #[error("the bundle is damaged or truncated")]
    Damaged(#[from] io::Error),
    /// The manifest is no JSON of the right form.
    #[error("the manifest of the bundle is damaged")]
    Manifest(#[from] serde_json::Error),
    /// What the manifest says cannot be.
    #[error("the manifest of the bundle is wrong: {0}")]
    Wrong(String),
    /// A form that is not known here.
    #[error("the bundle has format version {found}; this program reads 1 to {known}")]
    Version {
        /// Its version.
        found: u32,
        /// The last one that is known here.
        known: u32,
    },
    /// An entry that the manifest does not have at that place.
    #[error("the bundle has the entry {found}; its manifest says {expected}")]
    Entry {
        /// The name of the entry.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// An entry whose bytes are not those of the manifest.
    #[error("{name} in the bundle does not match its manifest: {what}")]
    Content {
        /// The entry.
        name: String,
        /// What differs.
        what: &'static str,
    },
    /// It came as a stream that did not end.
    #[error("the bundle has more than {limit} bytes")]
    TooLong {
        /// Bytes of a bundle at most.
        limit: u64,
    },
    /// It would take too much.
    #[error("the bundle has more data than its size allows")]
    TooMuch(#[from] Exhausted),
}

impl Error {
    pub(crate) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong(what.into())
    }
}
