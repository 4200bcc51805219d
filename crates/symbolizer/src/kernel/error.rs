//! Why there are no names of kernel code.

use std::path::PathBuf;

use address::{Avma, BuildId};
use budget::Exhausted;
use host::HostError;

use crate::kernel::kallsyms::KallsymsError;

/// Why no list of kernel symbols is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoKernelNames {
    /// The list cannot be read.
    #[error("{}", with_cause(.0))]
    Unreadable(#[from] HostError),
    /// The list is of no use.
    #[error("{}: {source}", path.display())]
    Useless {
        /// The list.
        path: PathBuf,
        /// Why.
        source: KallsymsError,
    },
    /// The list takes more memory than there is for files.
    #[error("{} asks for {why}", path.display())]
    TooMuch {
        /// The list.
        path: PathBuf,
        /// What ran out.
        why: Exhausted,
    },
    /// The list is of a kernel that is not the recorded one.
    #[error("{} is of another kernel: its code ends at {:#x}, that of the recorded one at {:#x}", path.display(), listed.0, recorded.0)]
    OtherKernel {
        /// The list.
        path: PathBuf,
        /// Where its code ends, moved to where the recorded kernel lay.
        listed: Avma,
        /// Where the code of the recorded kernel ends.
        recorded: Avma,
    },
    /// No list was found, and the running kernel is not the recorded one.
    #[error(
        "the recorded kernel has build-id {recorded}, the running one {running}; name its symbols with --kallsyms"
    )]
    OtherRunning {
        /// The build-id of the recorded kernel.
        recorded: BuildId,
        /// That of the running one.
        running: BuildId,
    },
    /// No list was found, and the recorded kernel's build-id is not known.
    #[error(
        "the recording does not say which kernel it was, and the running one is not it; on the recorded machine, \
         before it starts anew: sudo cat /proc/kallsyms > kallsyms; then here: --kallsyms kallsyms"
    )]
    NotRecorded,
    /// No list was found, and the running kernel's build-id is not known.
    #[error("the running kernel tells no build-id; name the symbols with --kallsyms")]
    RunningUnknown,
}

/// The sentence, with what the system said.
fn with_cause(error: &HostError) -> String {
    match error {
        HostError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}
