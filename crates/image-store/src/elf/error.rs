//! Reasons why a file cannot be used as an ELF image.

use std::path::PathBuf;

use host::HostError;

/// Error of opening or reading a file as an ELF image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file is missing, not a regular file, or unreadable.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Not an ELF file, or its headers are damaged.
    #[error("{} is not an ELF file", path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        source: object::Error,
    },
    /// A file that begins as an ELF file, whose headers cannot be read or lead out of it.
    #[error("{} is a damaged or truncated ELF file; replace it by an intact copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        source: object::Error,
    },
    /// A file that is empty, or has zeros in the place of its headers.
    #[error("{} is empty or starts with zeros, so its content is lost; replace it by an intact copy", path.display())]
    Overwritten {
        /// The file.
        path: PathBuf,
    },
    /// An object file of another format.
    #[error("{} is an object file, but not ELF", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
    },
    /// A section header points outside the file.
    #[error("section {section} of {} lies outside the file: {size} bytes at {offset:#x}", path.display())]
    SectionOutside {
        /// The file.
        path: PathBuf,
        /// Name of the section.
        section: String,
        /// Stated start of the section, in bytes from the start of the file.
        offset: u64,
        /// Stated size, in bytes.
        size: u64,
    },
    /// The bytes of a compressed section are damaged.
    #[error("section {section} of {} cannot be decompressed", path.display())]
    Compression {
        /// The file.
        path: PathBuf,
        /// Name of the section.
        section: String,
        /// Message of the decoder.
        source: std::io::Error,
    },
    /// The file exceeds a limit for its size.
    #[error("{what} of {} asks for {why}", path.display())]
    TooMuch {
        /// The file.
        path: PathBuf,
        /// Part of the file.
        what: String,
        /// Exceeded limit.
        why: budget::Exhausted,
    },
    /// A relocatable file whose headers are damaged, or which is not of 64 bits and little-endian.
    #[error("{} is a relocatable file with damaged headers, or not a 64-bit little-endian one", path.display())]
    Relocatable {
        /// The file.
        path: PathBuf,
    },
}

impl ImageError {
    /// Returns true if the file is a damaged ELF file.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::Overwritten { .. }
                | Self::SectionOutside { .. }
                | Self::Relocatable { .. }
        )
    }

    /// Returns true if there is no file at the path, rather than an unusable one.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Host(error) if error.is_missing())
    }
}
