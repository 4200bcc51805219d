//! Reasons why a bundle cannot be read.

use std::io;

use budget::Exhausted;

/// Error in reading a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no zstd stream, is cut, or is no tar file.
    #[error("the bundle is damaged or truncated")]
    Damaged(#[from] io::Error),
    /// The manifest is not JSON of the expected form.
    #[error("the manifest of the bundle is damaged")]
    Manifest(#[from] serde_json::Error),
    /// The manifest contradicts itself or has invalid values.
    #[error("the manifest of the bundle is wrong: {0}")]
    Wrong(String),
    /// The format version is unsupported.
    #[error("the bundle has format version {found}; this program reads 1 to {known}")]
    Version {
        /// Version of the bundle.
        found: u32,
        /// Latest supported version.
        known: u32,
    },
    /// An entry that the manifest does not have at that place.
    #[error("the bundle has the entry {found}; its manifest says {expected}")]
    Entry {
        /// Name of the entry.
        found: String,
        /// Expected name.
        expected: String,
    },
    /// An entry whose bytes are not those of the manifest.
    #[error("{name} in the bundle does not match its manifest: {what}")]
    Content {
        /// Name of the entry.
        name: String,
        /// Differing property.
        what: &'static str,
    },
    /// The bundle came as a stream that exceeds the limit.
    #[error("the bundle has more than {limit} bytes")]
    TooLong {
        /// Maximum bytes of a bundle.
        limit: u64,
    },
    /// It would take too much.
    #[error("the bundle has more data than its size allows")]
    TooMuch(#[from] Exhausted),
}

impl Error {
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Wrong(what.into())
    }
}
