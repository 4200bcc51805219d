//! Where to look for files: on which machine, and below which folders.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::BuildId;
use budget::{Budget, Memory};
use host::{Host, RealHost};

use super::extra::ExtraFiles;
use super::fetch::{FetchKind, Fetcher};

/// Where distributions put separate debug files.
pub const DEBUG_DIR: &str = "/usr/lib/debug";

/// The directory, in a store of files, with a directory for each recording that states files without a build-id.
pub const RECORDED_COPIES: &str = "by-recording";

/// Where to look for files.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// The machine whose files they are.
    pub host: Arc<dyn Host>,
    /// Files that the user named; used for the module of the same build-id, or else of the same file name.
    pub modules: Vec<PathBuf>,
    /// Recorded paths or names, and the files that the user gave for them.
    pub given: Vec<(Vec<u8>, PathBuf)>,
    /// Prefixes of recorded paths and what to put in their place; tried before the sysroots.
    pub path_map: Vec<(Vec<u8>, Vec<u8>)>,
    /// Directories to be put before every recorded path. When there is one, the recorded path itself is not tried.
    pub sysroots: Vec<PathBuf>,
    /// Build-id caches: the store of `record` and `~/.debug` by default.
    pub build_id_dirs: Vec<PathBuf>,
    /// Directories with copies of files that this recording states without a build-id, each by its name among the files of
    /// the recording; below [`RECORDED_COPIES`].
    pub recorded_copies: Vec<PathBuf>,
    /// Directories of separate debug files, `/usr/lib/debug` by default.
    pub debug_dirs: Vec<PathBuf>,
    /// Those of them that the user named, other than `/usr/lib/debug`: files in and below them are found by their
    /// build-ids, whatever they are called. So are those of `extra`.
    pub named_debug_dirs: Vec<PathBuf>,
    /// Files below further directories, by their names.
    pub extra: ExtraFiles,
    /// Directories with the maps of JIT compilers, `perf-PID.map`.
    pub perf_map_dirs: Vec<PathBuf>,
    /// Whether such maps are read whoever owns them; else only those of this user and of the superuser.
    pub trust_perf_maps: bool,
    /// Whether the recording was made by the running kernel: only then can a vdso without build-id be taken from it,
    /// and only then can a process still live.
    pub trust_running_kernel: bool,
    /// When the recording ended, in nanoseconds since 1970; `None` if it is not known.
    pub recorded_until: Option<i128>,
    /// The release of the recorded kernel, for the directories of its modules.
    pub kernel_release: Option<Vec<u8>>,
    /// What each file, and all of them, may make of themselves.
    pub budget: Budget,
    /// What is held in memory for the run.
    pub memory: Arc<Memory>,
    /// The servers to ask for what is found nowhere else.
    pub fetcher: Option<Fetcher>,
}

impl Default for FileOptions {
    /// The real machine, and no folder.
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
    /// What a server has under that id.
    pub(crate) fn fetched(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf> {
        self.fetcher.as_ref()?.0.fetch(id, kind)
    }

    /// Whether the data of a file that was opened below `root` may be read as memory of a recorded process. With a sysroot
    /// only of files in one, and of those that the user named beside it: files of others must not come out as return addresses.
    #[must_use]
    pub fn has_data_below(&self, root: &Path) -> bool {
        let is_mapped =
            |(_, to): &(Vec<u8>, Vec<u8>)| Path::new(OsStr::from_bytes(to)).starts_with(root);
        let named = [&self.sysroots, &self.build_id_dirs, &self.recorded_copies, &self.debug_dirs];
        self.sysroots.is_empty()
            || named.into_iter().flatten().any(|dir| dir == root)
            || self.path_map.iter().any(is_mapped)
    }

    /// What a path below a directory of debug files must not leave: the sysroot that it is in; of the system's own the
    /// system, since its links lead to programs; else the directory itself.
    pub(crate) fn root_of_debug_dir<'o>(&'o self, dir: &'o Path) -> &'o Path {
        match self.sysroots.iter().find(|root| dir.starts_with(root)) {
            Some(root) => root,
            None if self.sysroots.is_empty() && dir == Path::new(DEBUG_DIR) => Path::new("/"),
            None => dir,
        }
    }

    /// What the names in a file must not leave that the user named: the sysroot that it is in, or where there is none,
    /// nothing; else its folder.
    pub(crate) fn root_around<'o>(&'o self, file: &'o Path) -> &'o Path {
        match self.sysroots.iter().find(|root| file.starts_with(root)) {
            Some(root) => root,
            None if self.sysroots.is_empty() => Path::new("/"),
            None => file.parent().unwrap_or(file),
        }
    }

    /// The directories that stand for `/`: the sysroots, else the root itself.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        let own = self.sysroots.is_empty().then_some(Path::new("/"));
        self.sysroots.iter().map(PathBuf::as_path).chain(own)
    }

    /// A number that agrees where two runs look for separate debug files in the same places.
    pub(crate) fn debug_search(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.modules, &self.given, &self.path_map, &self.sysroots).hash(&mut hasher);
        (&self.build_id_dirs, &self.debug_dirs, &self.extra).hash(&mut hasher);
        (&self.named_debug_dirs, &self.recorded_copies).hash(&mut hasher);
        self.fetcher.is_some().hash(&mut hasher);
        hasher.finish()
    }
}
