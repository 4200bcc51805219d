//! Requests that a host could not answer, although the machine it represents might have.

use std::path::PathBuf;

/// A request with no answer, or a partial one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HostFinding {
    /// The request was not made when the bundle was created, so the bundle has no answer.
    NotInBundle {
        /// Requested path.
        path: PathBuf,
    },
    /// A read part of a file is missing in the bundle; it reads as zeros.
    Hole {
        /// Path of the file.
        path: PathBuf,
    },
}

impl std::fmt::Display for HostFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotInBundle { path } => write!(
                f,
                "{} was not asked for when the bundle was made, and is not in it",
                path.display()
            ),
            Self::Hole { path } => write!(
                f,
                "a part of {} was read that the bundle left out; what comes from it may be wrong",
                path.display()
            ),
        }
    }
}
