//! Errors that end a conversion of many recordings, since they concern all of them, and errors of merged days.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// An error that does not concern a single recording. Defects of a recording are in its manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder of the tree, or a file in it, cannot be written or read.
    #[error("cannot write {}: {source}", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A child process rejected the call, or lacks a file that an option names.
    #[error("{}", failure.message)]
    Refused {
        /// The child's line about the error.
        failure: Failure,
    },
    /// No child process can be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Paths of recordings cannot be read.
    #[error("cannot read the paths of recordings: {0}")]
    Paths(io::Error),
    /// A folder cannot be watched.
    #[error("cannot watch {}: {source}", path.display())]
    Watch {
        /// The folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A recording is at a URL, which this build cannot read.
    #[error("this build cannot read {scheme}:// URLs; build it with the cargo feature urls")]
    NoUrls {
        /// Scheme of the URL.
        scheme: &'static str,
    },
    /// The watched folder is a URL, whose changes no store reports.
    #[error("--watch takes a folder of this host, and no {scheme}:// URL")]
    WatchedUrl {
        /// Scheme of the URL.
        scheme: &'static str,
    },
    /// The manifest of a recording cannot be reported.
    #[error("cannot write manifests: {0}")]
    Report(#[source] io::Error),
    /// A tree cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Tree {
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A folder has no days.
    #[error("{} has no folder date=DAY, as the trees of convert have", path.display())]
    NotATree {
        /// The folder.
        path: PathBuf,
    },
    /// A folder of a tree states no value.
    #[error("cannot merge {}: the name of a folder is not KEY=VALUE", path.display())]
    FolderName {
        /// The file in the folder.
        path: PathBuf,
    },
    /// A tree would be inside of another one.
    #[error("the merged tree {} contains the other one, or is in it", path.display())]
    Overlap {
        /// The merged tree.
        path: PathBuf,
    },
    /// Another process writes a merged tree.
    #[error("another process compacts into {}", path.display())]
    Locked {
        /// The merged tree.
        path: PathBuf,
    },
    /// The folder beside a merged tree is on another file system.
    #[error("{} is a mount point; name a folder in it, since days are written beside that", path.display())]
    MountPoint {
        /// The merged tree.
        path: PathBuf,
    },
    /// Files of a day cannot be merged.
    #[error("{message}")]
    Merge {
        /// Message that names the file.
        message: String,
    },
}

impl Error {
    /// Returns the error of a child process that concerns all recordings.
    pub(crate) fn refused(failure: Failure) -> Self {
        match (failure.cause.as_str(), failure.errno, &failure.path) {
            ("output", Some(errno), Some(path)) => {
                Self::Output { path: path.clone(), source: io::Error::from_raw_os_error(errno) }
            }
            _ => Self::Refused { failure },
        }
    }

    /// Returns true if the error concerns one day of a tree that is merged.
    #[must_use]
    pub const fn is_of_one_day(&self) -> bool {
        matches!(self, Self::Tree { .. } | Self::FolderName { .. } | Self::Merge { .. })
    }

    pub(crate) fn tree(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Tree { path: path.to_owned(), source }
    }

    pub(crate) fn output(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Output { path: path.to_owned(), source }
    }
}

/// The line of JSON that a run prints about its error.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Failure {
    /// Keyword of the cause, as in `docs/OUTPUT.md`.
    #[serde(rename = "error")]
    pub cause: String,
    /// Message for people.
    pub message: String,
    /// The file or folder that is missing, or cannot be written.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// Number of the system's error.
    #[serde(default)]
    pub errno: Option<i32>,
}
