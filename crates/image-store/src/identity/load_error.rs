//! Reasons why a module has no image.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use address::BuildId;
use host::HostError;

use super::evidence::Difference;
use crate::elf::ImageError;

/// Reason why no file is used for a module.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The memory is not mapped from a file.
    NoFile,
    /// Files of this kind are not opened by name.
    NotOpened,
    /// No candidate exists.
    Missing(PathBuf),
    /// Candidates exist, but with a different build-id.
    BuildId {
        /// Path of the compared file.
        path: PathBuf,
        /// Recorded build-id.
        recorded: BuildId,
        /// Build-id of the file.
        found: Option<BuildId>,
    },
    /// The path led to another file later, and no path leads to the recorded one.
    Replaced(PathBuf),
    /// The recorded file was deleted or replaced before it was mapped again; no path leads to it.
    Deleted(PathBuf),
    /// The path led to several files at the same time, as in containers, and they cannot be distinguished.
    Shared(PathBuf),
    /// The file at the path is not the recorded one.
    OtherFile {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        difference: Difference,
    },
    /// Files of the recorded name differ, and the recording does not distinguish them.
    Ambiguous {
        /// One of them.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// A candidate exists, but is unusable.
    Unusable(Arc<ImageError>),
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unusable(error) => error.source(),
            _ => None,
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("the memory has no file"),
            Self::NotOpened => f.write_str("the name is not a path"),
            Self::Missing(_) => f.write_str("file not found"),
            Self::Replaced(path) => {
                write!(f, "{} was replaced while it was recorded", path.display())
            }
            Self::Deleted(path) => {
                write!(f, "{} was deleted or replaced before it was recorded", path.display())
            }
            Self::Shared(path) => {
                let path = path.display();
                write!(f, "{path} was the path of several files at once, as in containers")
            }
            Self::OtherFile { path, difference } => {
                write!(f, "{} {}", path.display(), difference.as_str())
            }
            Self::Ambiguous { first, second } => write!(
                f,
                "{} and {} differ, and it is unknown which one was recorded",
                first.display(),
                second.display()
            ),
            Self::BuildId { path, recorded, found: Some(found) } => {
                write!(f, "{} has build-id {found}, the recorded one is {recorded}", path.display())
            }
            Self::BuildId { path, recorded, found: None } => {
                write!(f, "{} has no build-id, the recorded one is {recorded}", path.display())
            }
            Self::Unusable(error) => match &**error {
                ImageError::Host(HostError::Io { source, .. }) => write!(f, "{error}: {source}"),
                _ => error.fmt(f),
            },
        }
    }
}

impl Difference {
    /// Returns the difference as text, to follow the path in a message.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Inode => "is not the recorded file: its inode differs",
            Self::Written => "was written after the recording ended",
        }
    }
}
