//! Errors of restoring a profile.

/// Reason that bytes are no stored profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// The layout has another version.
    #[error("the stored profile has version {found} instead of {}", super::STORED_VERSION)]
    Version {
        /// The version of the bytes.
        found: u32,
    },
    /// A part is truncated or invalid, or has an id without a row.
    #[error("the stored profile is damaged or truncated in the {part} from byte {offset} on")]
    Damaged {
        /// The part.
        part: &'static str,
        /// Offset of the part, in bytes.
        offset: usize,
    },
    /// Bytes follow the last part.
    #[error("the stored profile ends at byte {end}, but has {length} bytes")]
    TooLong {
        /// End of the last part, in bytes.
        end: usize,
        /// Number of bytes.
        length: usize,
    },
}
