//! Errors: the reasons that kernel code has no names.

use std::path::{Path, PathBuf};

use address::{Avma, BuildId};
use budget::Exhausted;
use host::HostError;
use options::Remedy;

use crate::kernel::kallsyms::KallsymsError;

/// The reason that no list of kernel symbols is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoKernelNames {
    /// The list cannot be read.
    #[error("{}", with_cause(.0))]
    Unreadable(#[from] HostError),
    /// The list is unusable.
    #[error("{}: {source}", path.display())]
    Useless {
        /// The list.
        path: PathBuf,
        /// The reason.
        source: KallsymsError,
    },
    /// The list needs more memory than files may have.
    #[error("{} asks for {why}", path.display())]
    TooMuch {
        /// The list.
        path: PathBuf,
        /// The exceeded limit.
        why: Exhausted,
    },
    /// The list is of a kernel that is not the recorded one.
    #[error("{} belongs to another kernel: its code ends at {:#x}, the recorded kernel's at {:#x}", path.display(), listed.0, recorded.0)]
    OtherKernel {
        /// The list.
        path: PathBuf,
        /// End of its code, relocated to the address of the recorded kernel.
        listed: Avma,
        /// End of the recorded kernel's code.
        recorded: Avma,
    },
    /// No list was found, and the running kernel is not the recorded one.
    #[error("the recorded kernel has build-id {recorded}, the running one {running}")]
    OtherRunning {
        /// The build-id of the recorded kernel.
        recorded: BuildId,
        /// The build-id of the running kernel.
        running: BuildId,
    },
    /// No list was found, and the recorded kernel's build-id is not known.
    #[error("the recording does not identify its kernel, and it is not the running one")]
    NotRecorded,
    /// No list was found, and with a sysroot the running kernel is not asked.
    #[error("the symbols of the running kernel are not used with a sysroot")]
    NotQueried,
    /// No list was found, and the running kernel's build-id is unknown.
    #[error("the running kernel states no build-id")]
    RunningUnknown,
}

impl NoKernelNames {
    /// Returns true if the list has bytes but no symbols, because all of it was lost or overwritten. Some systems have
    /// an empty list.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Useless { source: KallsymsError::Empty { size }, .. } if *size > 0)
    }

    /// Returns true if no list was found. The message states the reason, and the user has to name a list.
    #[must_use]
    pub const fn has_no_list(&self) -> bool {
        matches!(
            self,
            Self::OtherRunning { .. } | Self::NotRecorded | Self::NotQueried | Self::RunningUnknown
        )
    }

    /// Returns the remedy for missing names; `None` if none is known.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        let is_running = |path: &Path| path == Path::new("/proc/kallsyms");
        match self {
            Self::Unreadable(HostError::Io { path, .. }) if is_running(path) => {
                Some(Remedy::ShowAddresses)
            }
            Self::Useless { path, source: KallsymsError::Restricted { .. } }
                if is_running(path) =>
            {
                Some(Remedy::ShowAddresses)
            }
            Self::OtherRunning { .. }
            | Self::NotQueried
            | Self::RunningUnknown
            | Self::Unreadable(_) => Some(Remedy::NameList),
            Self::Useless { .. } | Self::OtherKernel { .. } | Self::NotRecorded => {
                Some(Remedy::SaveList)
            }
            Self::TooMuch { .. } => None,
        }
    }
}

/// Returns the message, with the system's error.
fn with_cause(error: &HostError) -> String {
    match error {
        HostError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}
