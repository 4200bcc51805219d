//! Where the file of a module may be: candidates in the order in which they are tried. Whoever opens one checks it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::BuildId;

use crate::module::Module;
use crate::name::path_on_disk;

/// Where to look for files.
#[derive(Debug, Clone, Default)]
pub struct FileOptions {
    /// Files that the user named; used for the module of the same build-id, or else of the same file name.
    pub modules: Vec<PathBuf>,
    /// Directories to be put before every recorded path. When there is one, the recorded path itself is not tried.
    pub sysroots: Vec<PathBuf>,
    /// Build-id caches, `~/.debug` by default.
    pub build_id_dirs: Vec<PathBuf>,
    /// Directories of separate debug files, `/usr/lib/debug` by default.
    pub debug_dirs: Vec<PathBuf>,
    /// Whether a vdso that was recorded without build-id is taken from the running kernel: only where the recording
    /// was made by this very kernel.
    pub trust_running_kernel: bool,
}

/// All paths where the module's file may be, the best first.
pub(crate) fn candidates(options: &FileOptions, module: &Module) -> Vec<PathBuf> {
    let recorded = recorded_path(module);
    let mut paths = Vec::new();
    paths.extend(
        options.modules.iter().filter(|path| path.file_name() == recorded.file_name()).cloned(),
    );
    if module.identity.build_id.is_some() {
        paths.extend(
            options.modules.iter().filter(|path| path.file_name() != recorded.file_name()).cloned(),
        );
    }
    if options.sysroots.is_empty() {
        paths.push(recorded.clone());
    }
    paths.extend(options.sysroots.iter().map(|root| below(root, &recorded)));
    if let Some(id) = module.identity.build_id {
        for dir in &options.build_id_dirs {
            let entry = dir.join(".build-id").join(split_id(id));
            paths.extend([entry.join("elf"), entry]);
        }
    }
    paths
}

/// The recorded path, without the mark of a deleted file.
pub(crate) fn recorded_path(module: &Module) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path_on_disk(&module.path)))
}

/// The vdso of that build-id in a build-id cache.
pub(crate) fn cached_vdso(options: &FileOptions, id: BuildId) -> Option<PathBuf> {
    let in_dir = |dir: &PathBuf| dir.join("[vdso]").join(id.to_string()).join("vdso");
    options.build_id_dirs.iter().map(in_dir).find(|path| path.exists())
}

/// A path below a root, whether it is absolute or not.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// `ab/cdef…`: how build-id directories name an id.
pub(crate) fn split_id(id: BuildId) -> PathBuf {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(hex.len().min(2));
    Path::new(first).join(rest)
}
