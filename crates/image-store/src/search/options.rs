//! Options of the search for files: the host and the folders.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::BuildId;
use budget::{Budget, MemoryBudget};
use host::{Host, RealHost};

use super::extra::ExtraFiles;
use super::fetch::{FetchKind, Fetcher};

/// Usual directory of separate debug files.
pub const DEBUG_DIR: &str = "/usr/lib/debug";

/// Subdirectory of a file store with a directory for each recording that states files without a build-id.
pub const RECORDED_COPIES: &str = "by-recording";

/// Options of the search for files.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// Machine that has the files.
    pub host: Arc<dyn Host>,
    /// Files named by the user, each used for the module of the same build-id, otherwise of the same file name.
    pub modules: Vec<PathBuf>,
    /// Recorded paths or names, and the files that the user assigned to them.
    pub given: Vec<(Vec<u8>, PathBuf)>,
    /// Prefixes of recorded paths and their replacements; tried before the sysroots.
    pub path_map: Vec<(Vec<u8>, Vec<u8>)>,
    /// Directories prepended to every recorded path. If there are any, the recorded path itself is not tried.
    pub sysroots: Vec<PathBuf>,
    /// Build-id caches: the store of `record` and `~/.debug` by default.
    pub build_id_dirs: Vec<PathBuf>,
    /// Directories, below [`RECORDED_COPIES`], with copies of files that this recording states without a build-id. The
    /// name of a copy is made of the recorded device, inode and path.
    pub recorded_copies: Vec<PathBuf>,
    /// Directories of separate debug files, `/usr/lib/debug` by default.
    pub debug_dirs: Vec<PathBuf>,
    /// The debug directories named by the user, except `/usr/lib/debug`. Files at any depth in them, and in `extra`,
    /// are found by their build-ids, regardless of name.
    pub named_debug_dirs: Vec<PathBuf>,
    /// Files below additional directories, by name.
    pub extra: ExtraFiles,
    /// Directories with the maps of JIT compilers, `perf-PID.map`.
    pub perf_map_dirs: Vec<PathBuf>,
    /// Read such maps regardless of their owner; otherwise only those of this user and of the superuser.
    pub trust_perf_maps: bool,
    /// True if the recording was made by the running kernel. Only then can a vdso without build-id
    /// be taken from it, and processes still be alive.
    pub trust_running_kernel: bool,
    /// End of the recording, in nanoseconds since 1970; `None` if unknown.
    pub recorded_until: Option<i128>,
    /// Release of the recorded kernel, which names the directories of its modules.
    pub kernel_release: Option<Vec<u8>>,
    /// Limits per file and in total.
    pub budget: Budget,
    /// Memory accounting of the run.
    pub memory: Arc<MemoryBudget>,
    /// Servers for files that are not found locally.
    pub fetcher: Option<Fetcher>,
}

impl Default for FileOptions {
    /// The real machine, without folders.
    fn default() -> Self {
        Self {
            host: Arc::new(RealHost),
            modules: Vec::new(),
            given: Vec::new(),
            path_map: Vec::new(),
            sysroots: Vec::new(),
            build_id_dirs: Vec::new(),
            recorded_copies: Vec::new(),
            debug_dirs: Vec::new(),
            named_debug_dirs: Vec::new(),
            extra: ExtraFiles::default(),
            perf_map_dirs: Vec::new(),
            trust_perf_maps: false,
            trust_running_kernel: false,
            recorded_until: None,
            kernel_release: None,
            budget: Budget::default(),
            memory: Arc::default(),
            fetcher: None,
        }
    }
}

impl FileOptions {
    /// Returns the file of an id from a server.
    pub(crate) fn fetched(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf> {
        self.fetcher.as_ref()?.0.fetch(id, kind)
    }

    /// Returns true if the data of a file opened below `root` may be read as memory of a recorded process.
    /// With a sysroot, this is limited to files below the sysroots and the user's folders, so
    /// that other files cannot supply return addresses.
    #[must_use]
    pub fn has_data_below(&self, root: &Path) -> bool {
        let is_mapped =
            |(_, to): &(Vec<u8>, Vec<u8>)| Path::new(OsStr::from_bytes(to)).starts_with(root);
        let named = [&self.sysroots, &self.build_id_dirs, &self.recorded_copies, &self.debug_dirs];
        self.sysroots.is_empty()
            || named.into_iter().flatten().any(|dir| dir == root)
            || self.path_map.iter().any(is_mapped)
    }

    /// Returns the folder that a path below a debug directory must not leave: its sysroot, or
    /// else the directory itself.
    /// For the system's own debug directory it is `/`, because links in it lead to programs.
    pub(crate) fn root_of_debug_dir<'o>(&'o self, dir: &'o Path) -> &'o Path {
        match self.sysroots.iter().find(|root| dir.starts_with(root)) {
            Some(root) => root,
            None if self.sysroots.is_empty() && dir == Path::new(DEBUG_DIR) => Path::new("/"),
            None => dir,
        }
    }

    /// Returns the folder that names stated in a user's file must not leave: its sysroot;
    /// without any sysroot `/`; otherwise its folder.
    pub(crate) fn enclosing_root<'o>(&'o self, file: &'o Path) -> &'o Path {
        match self.sysroots.iter().find(|root| file.starts_with(root)) {
            Some(root) => root,
            None if self.sysroots.is_empty() => Path::new("/"),
            None => file.parent().unwrap_or(file),
        }
    }

    /// Returns the directories that represent `/`: the sysroots, otherwise the root itself.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        let own = self.sysroots.is_empty().then_some(Path::new("/"));
        self.sysroots.iter().map(PathBuf::as_path).chain(own)
    }

    /// Returns a hash that is equal for two runs if they search the same places for separate debug files.
    pub(crate) fn debug_search(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.modules, &self.given, &self.path_map, &self.sysroots).hash(&mut hasher);
        (&self.build_id_dirs, &self.debug_dirs, &self.extra).hash(&mut hasher);
        (&self.named_debug_dirs, &self.recorded_copies).hash(&mut hasher);
        self.fetcher.is_some().hash(&mut hasher);
        hasher.finish()
    }
}
