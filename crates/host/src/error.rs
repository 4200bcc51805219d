//! Errors of requests to the host.

use std::io;
use std::path::{Path, PathBuf};

/// A request to the host failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The file is missing or cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A device, FIFO, socket or folder in place of a file.
    #[error("{} is not a regular file", path.display())]
    NotRegular {
        /// Its path.
        path: PathBuf,
    },
    /// The file exceeds the size limit.
    #[error("{} has more than {limit} bytes", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Maximum number of bytes.
        limit: u64,
    },
    /// Files that a recording names are not opened here.
    #[error("{} is named by the recording; such files are not opened in this mode", path.display())]
    Refused {
        /// Requested path.
        path: PathBuf,
    },
}

impl HostError {
    /// Returns the error of a path without a file.
    #[must_use]
    pub fn missing(path: &Path) -> Self {
        Self::Io { path: path.to_owned(), source: io::Error::from(io::ErrorKind::NotFound) }
    }

    /// Returns true if the path has no file, as opposed to an unusable one.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Wraps an error of the system for a path.
pub(crate) fn io_error(path: &Path, source: io::Error) -> HostError {
    HostError::Io { path: path.to_owned(), source }
}
