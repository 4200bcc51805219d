//! Why the machine did not give what was asked for.

use std::io;
use std::path::PathBuf;

/// A question to the machine has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The file is missing or cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A device, FIFO, socket or folder in the place of a file.
    #[error("{} is not a regular file", path.display())]
    NotRegular {
        /// What is no file.
        path: PathBuf,
    },
    /// More than is read of one file.
    #[error("{} has more than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many bytes are read at most.
        limit: u64,
    },
    /// Files that a recording names are not opened here.
    #[error("{} is named by the recording; such files are not opened in this mode", path.display())]
    Refused {
        /// What was asked for.
        path: PathBuf,
    },
}

impl HostError {
    /// The error of a path at which nothing is.
    #[must_use]
    pub fn missing(path: &std::path::Path) -> Self {
        Self::Io { path: path.to_owned(), source: io::Error::from(io::ErrorKind::NotFound) }
    }

    /// Whether nothing is at the path, as opposed to something that cannot be used.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}
