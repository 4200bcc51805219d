//! Where the kernel and its modules are on disk. Names only lead to candidates; the build-id decides, whatever a file
//! is called and however it is compressed.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use address::BuildId;
use budget::{Budget, Exhausted};
use hashbrown::HashMap;
use host::{Content, HostError, Origin};

use super::candidates::{FileCandidate, below, cached, split_id, user_files, with_suffix};
use super::options::FileOptions;
use crate::elf::{ElfData, FileAllowance, ImageError, SectionLayout, link, unpack};
use crate::module::kernel_module_name;

/// All places where the file may be: what the user named, the build-id caches and debug directories by id, then the
/// usual places of the recorded release.
pub(crate) fn candidates(
    options: &FileOptions,
    lists: &ModuleLists,
    name: &[u8],
    id: BuildId,
) -> Vec<FileCandidate> {
    let is_kernel = name.starts_with(b"[kernel") || name.starts_with(b"[guest.kernel");
    let mut found: Vec<FileCandidate> = user_files(options, |_| true).collect();
    found.extend(cached(options, id, "debug"));
    found.extend(cached(options, id, "elf"));
    for dir in &options.debug_dirs {
        let entry = dir.join(".build-id").join(split_id(id));
        let root = options.root_of_debug_dir(dir);
        let entries = [with_suffix(&entry, ".debug"), entry];
        found.extend(entries.map(|path| FileCandidate::stored(root, path)));
    }
    let release = options.kernel_release.as_deref().map(OsStr::from_bytes);
    for root in options.roots() {
        if is_kernel {
            let paths = release.iter().flat_map(|release| kernels(root, release));
            found.extend(paths.map(|path| FileCandidate::recorded(root, path)));
            found.push(FileCandidate::stored(root, root.join("boot/vmlinux")));
        } else {
            let paths = modules(lists.of(options), root, name).into_iter();
            found.extend(paths.map(|path| FileCandidate::recorded(root, path)));
        }
    }
    found
}

/// Source: `vmlinux_paths` in `tools/perf/util/symbol.c`, and where distributions put the file.
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

/// Paths by the name of the module.
type ModulePaths = HashMap<Vec<u8>, Vec<PathBuf>>;

/// What `modules.dep` lists below each root, by the name of the module. Read once: a recording has many modules.
#[derive(Debug, Default)]
pub(crate) struct ModuleLists(OnceLock<HashMap<PathBuf, ModulePaths>>);

impl ModuleLists {
    fn of(&self, options: &FileOptions) -> &HashMap<PathBuf, ModulePaths> {
        self.0.get_or_init(|| {
            let Some(release) = &options.kernel_release else { return HashMap::new() };
            let dir = Path::new("/lib/modules").join(OsStr::from_bytes(release));
            options.roots().map(|root| (root.to_owned(), listed(options, root, &dir))).collect()
        })
    }
}

/// The modules that the list in `dir` below a root has.
fn listed(options: &FileOptions, root: &Path, dir: &Path) -> ModulePaths {
    let list = below(root, dir).join("modules.dep");
    let list = options.host.read(&list, Origin::Recording { root }).unwrap_or_default();
    let mut paths: ModulePaths = HashMap::new();
    for line in list.split(|&byte| byte == b'\n') {
        let path = line.split(|&byte| byte == b':').next().unwrap_or_default();
        if !path.is_empty() {
            let known = paths.entry(kernel_module_name(path)).or_default();
            // A module has one file; a second one may be below `updates`.
            if known.len() < MOST_LISTED {
                known.push(dir.join(OsStr::from_bytes(path)));
            }
        }
    }
    paths
}

/// Files of one module that are tried.
const MOST_LISTED: usize = 16;

/// The file of a module below a root: its recorded path and the debug file beside it under `/usr/lib/debug`, else the
/// paths of that name that `modules.dep` lists.
fn modules(lists: &HashMap<PathBuf, ModulePaths>, root: &Path, name: &[u8]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut add = |path: &Path| {
        let debug = below(&root.join("usr/lib/debug"), path);
        paths.extend([debug.clone(), with_suffix(&debug, ".debug"), below(root, path)]);
    };
    if name.starts_with(b"/") {
        add(Path::new(OsStr::from_bytes(name)));
    }
    let listed = lists.get(root).and_then(|list| list.get(&kernel_module_name(name)));
    listed.into_iter().flatten().for_each(|path| add(path));
    paths
}

/// Reads a kernel or module file: unpacked where it is compressed, laid out as the kernel lays it out where it is
/// relocatable.
pub(crate) fn parse(path: &Path, content: Content, budget: &Budget) -> Result<ElfData, ImageError> {
    let mut allowance = FileAllowance::new(budget, content.len());
    let unusable = |source| unusable(path, source);
    let unpacked = match unpack(&content, &mut allowance).map_err(unusable)? {
        Cow::Owned(unpacked) => Content::from(unpacked),
        Cow::Borrowed(_) => content.clone(),
    };
    if !is_relocatable(&unpacked) {
        return ElfData::parse_with(path, unpacked, allowance);
    }
    let linked = link(path, &unpacked, SectionLayout::KernelModule, &mut allowance)?;
    ElfData::parse_with(path, Content::from(linked), allowance)
}

/// Source: gABI, "ELF Header": `e_type`, `ET_REL`, in the byte order of the file.
fn is_relocatable(file: &[u8]) -> bool {
    let kind: &[u8] = if file.get(5) == Some(&1) { &[1, 0] } else { &[0, 1] };
    file.starts_with(b"\x7fELF") && file.get(16..18) == Some(kind)
}

/// Why a file does not unpack.
fn unusable(path: &Path, source: io::Error) -> ImageError {
    let path = path.to_owned();
    let exhausted = source.get_ref().and_then(|error| error.downcast_ref::<Exhausted>());
    match exhausted.copied() {
        Some(why) => ImageError::TooMuch { path, what: "the file".to_owned(), why },
        None => HostError::Io { path, source }.into(),
    }
}
