//! Files that are brought from a server, where the user named one.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use address::BuildId;

use super::findings::FileFinding;

/// What a server is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FetchKind {
    /// The file that is mapped at run time.
    Executable,
    /// Its separate debug file.
    DebugInfo,
}

impl FetchKind {
    /// The last component of the address at a debuginfod server, and of the file in its clients' cache.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Executable => "executable",
            Self::DebugInfo => "debuginfo",
        }
    }
}

/// Something that brings files by build-id onto this machine. Called from several threads.
pub trait Fetch: Send + Sync {
    /// The file of that id, or `None` where it cannot be had. Its content is checked by the caller.
    fn fetch(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf>;

    /// What went wrong so far.
    fn findings(&self) -> Vec<FileFinding> {
        Vec::new()
    }
}

/// A shared [`Fetch`].
#[derive(Clone)]
pub struct Fetcher(pub Arc<dyn Fetch>);

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fetcher")
    }
}
