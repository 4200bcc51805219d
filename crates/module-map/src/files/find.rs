//! Where the file of a module may be: candidates in the order in which they are tried. Whoever opens one checks it.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use address::BuildId;

use super::live::live_path;
use super::options::FileOptions;
use crate::module::path_on_disk;
use crate::module::{Module, ModuleKind};

/// All paths where the module's file may be, the best first.
pub(crate) fn candidates(options: &FileOptions, module: &Module) -> Vec<PathBuf> {
    let recorded = recorded_path(module);
    let id = module.identity.build_id;
    let mut paths = Vec::new();
    // What has no path that can be opened is found by its content alone.
    let by_path = module.kind == ModuleKind::File;
    if by_path {
        paths.extend(
            options.modules.iter().filter(|path| path.file_name() == recorded.file_name()).cloned(),
        );
    }
    if id.is_some() {
        paths.extend(
            options
                .modules
                .iter()
                .filter(|path| !paths.contains(path))
                .cloned()
                .collect::<Vec<_>>(),
        );
    }
    if by_path {
        paths.extend(options.extra.named(recorded.file_name()));
        paths.extend(places(options, &recorded));
        paths.extend(live_path(options, module));
    }
    if let Some(id) = id {
        paths.extend(cached(options, id, "elf"));
        if by_path {
            for dir in &options.build_id_dirs {
                paths.push(below(dir, &recorded).join(id.to_string()).join("elf"));
            }
        }
        paths.extend(options.debug_dirs.iter().map(|dir| dir.join(".build-id").join(split_id(id))));
    }
    if by_path {
        paths.extend(options.debug_dirs.iter().map(|dir| below(dir, &recorded)));
    }
    paths
}

/// The places of a recorded path: mapped as the user said, below each sysroot; where there is none, as it is.
pub(crate) fn places(options: &FileOptions, recorded: &Path) -> Vec<PathBuf> {
    let bytes = recorded.as_os_str().as_bytes();
    let mapped = options.path_map.iter().filter_map(|(from, to)| {
        let rest = bytes.strip_prefix(from.as_slice())?;
        Some(PathBuf::from(std::ffi::OsString::from_vec([to.as_slice(), rest].concat())))
    });
    let mut paths: Vec<PathBuf> = mapped.collect();
    if options.sysroots.is_empty() {
        paths.push(recorded.to_owned());
    }
    paths.extend(options.sysroots.iter().map(|root| below(root, recorded)));
    paths
}

/// The entry of an id in the build-id caches: `what` in the directory of today's layout, or the file that older
/// recorders linked to.
///
/// Source: `tools/perf/util/build-id.c`, `build_id_cache__linkname`, `__dso__build_id_filename`.
pub(crate) fn cached(options: &FileOptions, id: BuildId, what: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for dir in &options.build_id_dirs {
        let entry = dir.join(".build-id").join(split_id(id));
        paths.extend([entry.join(what), entry]);
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
pub(crate) fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// `ab/cdef…`: how build-id directories name an id.
pub(crate) fn split_id(id: BuildId) -> PathBuf {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(hex.len().min(2));
    Path::new(first).join(rest)
}
