//! Where to look for files: what the user said, and what the recording allows.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::BuildId;

use super::extra::ExtraFiles;

/// Where to look for files.
#[derive(Debug, Clone, Default)]
pub struct FileOptions {
    /// Files that the user named; used for the module of the same build-id, or else of the same file name.
    pub modules: Vec<PathBuf>,
    /// Prefixes of recorded paths and what to put in their place; tried before the sysroots.
    pub path_map: Vec<(Vec<u8>, Vec<u8>)>,
    /// Directories to be put before every recorded path. When there is one, the recorded path itself is not tried.
    pub sysroots: Vec<PathBuf>,
    /// Build-id caches, `~/.debug` by default.
    pub build_id_dirs: Vec<PathBuf>,
    /// Directories of separate debug files, `/usr/lib/debug` by default.
    pub debug_dirs: Vec<PathBuf>,
    /// Files below further directories, by their names.
    pub extra: ExtraFiles,
    /// Directories with the maps of JIT compilers, `perf-PID.map`.
    pub perf_map_dirs: Vec<PathBuf>,
    /// Whether the recording was made by the running kernel: only then can a vdso without build-id be taken from it,
    /// and only then can a process still live.
    pub trust_running_kernel: bool,
    /// The release of the recorded kernel, for the directories of its modules.
    pub kernel_release: Option<Vec<u8>>,
    /// The servers to ask for what is found nowhere else.
    pub fetcher: Option<Fetcher>,
}

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
}

/// A shared [`Fetch`].
#[derive(Clone)]
pub struct Fetcher(pub Arc<dyn Fetch>);

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fetcher")
    }
}

impl FileOptions {
    /// What a server has under that id.
    pub(crate) fn fetched(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf> {
        self.fetcher.as_ref()?.0.fetch(id, kind)
    }

    /// The directories that stand for `/`: the sysroots, else the root itself.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        let own = self.sysroots.is_empty().then_some(Path::new("/"));
        self.sysroots.iter().map(PathBuf::as_path).chain(own)
    }
}
