//! Why a file could not be used as an ELF image.

use std::path::PathBuf;

use host::HostError;

/// A file could not be opened or read as an ELF image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file is missing, no regular file, or cannot be read.
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
        /// The section's name.
        section: String,
        /// Where it should begin, in bytes from the start of the file.
        offset: u64,
        /// How long it should be, in bytes.
        size: u64,
    },
    /// The bytes of a compressed section are damaged.
    #[error("section {section} of {} cannot be decompressed", path.display())]
    Compression {
        /// The file.
        path: PathBuf,
        /// The section's name.
        section: String,
        /// What the decoder said.
        source: std::io::Error,
    },
    /// More than a file of its size may ask for.
    #[error("{what} of {} asks for {why}", path.display())]
    TooMuch {
        /// The file.
        path: PathBuf,
        /// The part of it.
        what: String,
        /// What there is too much of.
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
    /// Returns true if the file is an ELF file that lost something.
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

    /// Whether nothing is at the path, as opposed to something that cannot be used.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Host(error) if error.is_missing())
    }
}
