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
    /// The bundle leaves the file to stores, and none of the reader's has it.
    NotInStore {
        /// Requested path.
        path: PathBuf,
        /// Build-id of the file, as hexadecimal digits.
        build_id: String,
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
                "{} is not in the bundle, since it was not read when the bundle was made",
                path.display()
            ),
            Self::NotInStore { path, build_id } => write!(
                f,
                "the bundle omits {}, and no store has the file of build-id {build_id}",
                path.display()
            ),
            Self::Hole { path } => write!(
                f,
                "the bundle omits a part of {} that was read; names and stacks from it may be wrong",
                path.display()
            ),
        }
    }
}
