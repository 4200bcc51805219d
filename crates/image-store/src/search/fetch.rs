//! Files from a server, if the user named one.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use address::BuildId;

use super::findings::FileFinding;

/// Kind of a requested file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FetchKind {
    /// The file mapped at run time.
    Executable,
    /// The separate debug file.
    DebugInfo,
}

impl FetchKind {
    /// Last component of the URL at a debuginfod server, and of the file in its clients' cache.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Executable => "executable",
            Self::DebugInfo => "debuginfo",
        }
    }
}

/// A source that copies files to this machine by build-id. Called from several threads.
pub trait Fetch: Send + Sync {
    /// Returns the file of an id, or `None` if it is unavailable. The caller verifies its content.
    fn fetch(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf>;

    /// Returns the failures so far.
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
