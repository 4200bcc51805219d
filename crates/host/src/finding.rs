//! What a host could not answer, though the machine that it stands for may have known.

use std::path::PathBuf;

/// A question without an answer, or with a part of one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HostFinding {
    /// Nobody asked for this when the bundle was made, so that it does not know.
    NotInBundle {
        /// What was asked for.
        path: PathBuf,
    },
    /// A part of a file was read that the bundle left out; it reads as zeros.
    Hole {
        /// The file.
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
            Self::Hole { path } => write!(
                f,
                "the bundle omits a part of {} that was read; names and stacks from it may be wrong",
                path.display()
            ),
        }
    }
}
