//! Paths of the kernel and its modules on disk. Names only select candidates; the build-id
//! decides, regardless of file name and compression.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::BuildId;
use host::Origin;
use module_map::kernel_module_name;

use super::module_lists::LimitedLists;
use crate::search::{FileCandidate, FileOptions, below, cached, split_id, user_files, with_suffix};

/// Returns all candidate paths: files named by the user, entries of build-id caches and debug
/// directories, and the usual paths of the recorded release.
pub(crate) fn candidates(
    options: &FileOptions,
    limited: LimitedLists<'_>,
    name: &[u8],
    id: BuildId,
) -> Vec<FileCandidate> {
    let is_there = |candidate: &FileCandidate| {
        let folder = id_folder(&candidate.path);
        folder.is_none_or(|folder| limited.lists.has_folder(options, folder, candidate.origin()))
    };
    let is_kernel = name.starts_with(b"[kernel") || name.starts_with(b"[guest.kernel");
    let mut found: Vec<FileCandidate> = user_files(options, |_| true).collect();
    found.extend(cached(options, id, "debug").into_iter().filter(is_there));
    found.extend(cached(options, id, "elf").into_iter().filter(is_there));
    for dir in &options.debug_dirs {
        let entry = dir.join(".build-id").join(split_id(id));
        let root = options.root_of_debug_dir(dir);
        let entries = [with_suffix(&entry, ".debug"), entry];
        let entries = entries.map(|path| FileCandidate::stored(root, path));
        found.extend(entries.into_iter().filter(is_there));
    }
    let release = options.kernel_release.as_deref().map(OsStr::from_bytes);
    for root in options.roots() {
        if is_kernel {
            let paths = release.iter().flat_map(|release| kernels(root, release));
            found.extend(paths.map(|path| FileCandidate::recorded(root, path)));
            found.push(FileCandidate::stored(root, root.join("boot/vmlinux")));
        } else {
            let paths = modules(options, limited, root, name).into_iter();
            found.extend(paths.map(|path| FileCandidate::recorded(root, path)));
        }
    }
    found
}

/// Returns the folder of an entry below `.build-id`; all ids in it start with the same byte.
fn id_folder(path: &Path) -> Option<&Path> {
    let is_folder = |folder: &&Path| {
        folder.parent().and_then(Path::file_name).is_some_and(|name| name == ".build-id")
    };
    path.ancestors().find(is_folder)
}

/// Source: `vmlinux_paths` in `tools/perf/util/symbol.c`, and the paths used by distributions.
fn kernels(root: &Path, release: &OsStr) -> Vec<PathBuf> {
    let release = release.to_string_lossy();
    [
        format!("usr/lib/debug/boot/vmlinux-{release}"),
        format!("usr/lib/debug/lib/modules/{release}/vmlinux"),
        format!("usr/lib/debug/boot/vmlinux-{release}.debug"),
        format!("boot/vmlinux-{release}"),
        format!("lib/modules/{release}/build/vmlinux"),
        format!("lib/modules/{release}/vmlinux"),
    ]
    .map(|path| root.join(path))
    .to_vec()
}

/// Returns the paths of a module below a root: its recorded path and its debug file under `/usr/lib/debug`,
/// otherwise the paths of that name in `modules.dep`.
fn modules(
    options: &FileOptions,
    limited: LimitedLists<'_>,
    root: &Path,
    name: &[u8],
) -> Vec<PathBuf> {
    let LimitedLists { lists, may_hold } = limited;
    let mut paths = Vec::new();
    let debug_folder = root.join("usr/lib/debug");
    let has_debug = lists.has_folder(options, &debug_folder, Origin::Stored { root });
    let mut add = |path: &Path| {
        if has_debug {
            let debug = below(&debug_folder, path);
            paths.extend([debug.clone(), with_suffix(&debug, ".debug")]);
        }
        paths.push(below(root, path));
    };
    if name.starts_with(b"/") {
        add(Path::new(OsStr::from_bytes(name)));
    }
    let name = kernel_module_name(name);
    lists
        .of(options, may_hold)
        .get(root)
        .into_iter()
        .flat_map(|list| list.of_name(&name))
        .for_each(|path| add(&path));
    paths
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::MemoryHost;

    use super::super::module_lists::{MOST_LISTED, ModuleLists};
    use super::*;

    /// Returns the candidate paths of a module with an id of bytes `first`, on a machine with the given files.
    fn places(files: &[&str], list: &str, first: u8) -> Vec<String> {
        let host = MemoryHost::new();
        files.iter().for_each(|path| host.insert(*path, *b""));
        host.insert("/s/lib/modules/6.1/modules.dep", list);
        let options = FileOptions {
            host: Arc::new(host),
            sysroots: vec!["/s".into()],
            build_id_dirs: vec!["/cache".into()],
            debug_dirs: vec!["/debug".into()],
            kernel_release: Some(b"6.1".to_vec()),
            ..FileOptions::default()
        };
        let lists = ModuleLists::default();
        let id = BuildId::new(&[first; 3]).expect("an id");
        let limited = LimitedLists { lists: &lists, may_hold: &|_, _| true };
        let found = candidates(&options, limited, b"[my_mod]", id);
        found.iter().map(|candidate| candidate.path.display().to_string()).collect()
    }

    /// A recording can contain very many modules: missing folders give no candidates.
    #[test]
    fn places_in_folders_that_are_there() {
        let listed =
            ["/s/lib/modules/6.1/kernel/my-mod.ko", "/s/lib/modules/6.1/updates/my_mod.ko"];
        let list = "kernel/other.ko: a\nkernel/my-mod.ko: kernel/other.ko\n\nupdates/my_mod.ko:";
        assert_eq!(places(&[], list, 0xab), listed);
        assert_eq!(places(&["/cache/.build-id/ac/x", "/debug/y"], list, 0xab), listed);
        let there = ["/cache/.build-id/ab/x", "/debug/.build-id/ab/x", "/s/usr/lib/debug/x"];
        let expected = [
            "/cache/.build-id/ab/abab/debug",
            "/cache/.build-id/ab/abab",
            "/cache/.build-id/ab/abab/elf",
            "/cache/.build-id/ab/abab",
            "/debug/.build-id/ab/abab.debug",
            "/debug/.build-id/ab/abab",
            "/s/usr/lib/debug/lib/modules/6.1/kernel/my-mod.ko",
            "/s/usr/lib/debug/lib/modules/6.1/kernel/my-mod.ko.debug",
            "/s/lib/modules/6.1/kernel/my-mod.ko",
            "/s/usr/lib/debug/lib/modules/6.1/updates/my_mod.ko",
            "/s/usr/lib/debug/lib/modules/6.1/updates/my_mod.ko.debug",
            "/s/lib/modules/6.1/updates/my_mod.ko",
        ];
        assert_eq!(places(&there, list, 0xab), expected);
    }

    #[test]
    fn a_module_that_is_listed_often_has_few_places() {
        let list = "kernel/my-mod.ko:\n".repeat(1000);
        assert_eq!(places(&[], &list, 1).len(), MOST_LISTED);
    }
}
