//! Why a module has no image.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use address::BuildId;
use host::HostError;

use super::evidence::Difference;
use crate::elf::ImageError;

/// Why no file is used for a module.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The memory has no file.
    NoFile,
    /// A file of that kind is never opened by its name.
    NotOpened,
    /// No candidate exists.
    Missing(PathBuf),
    /// Candidates exist, but with other contents than what was recorded.
    BuildId {
        /// The file that was looked at.
        path: PathBuf,
        /// What was recorded.
        recorded: BuildId,
        /// What the file has.
        found: Option<BuildId>,
    },
    /// The path led to another file later on, and nothing leads to the recorded one.
    Replaced(PathBuf),
    /// The recorded file was deleted, or replaced, before it was mapped again; nothing leads to it.
    Deleted(PathBuf),
    /// Several files were mapped by the path at the same time, as by containers; nothing tells which one a file is.
    Shared(PathBuf),
    /// The file at the path is another one than the recorded one.
    OtherFile {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        difference: Difference,
    },
    /// Files of the recorded name differ, and nothing tells which one was recorded.
    Ambiguous {
        /// One of them.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// A candidate exists, but it cannot be used.
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
    /// The difference in words, for a message that begins with the path.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Inode => "is not the recorded file: its inode differs",
            Self::Written => "was written after the recording ended",
        }
    }
}
