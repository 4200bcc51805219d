//! Where the kernel and its modules are on disk. Names only lead to candidates; the build-id decides, whatever a file
//! is called and however it is compressed.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::hash::BuildHasher as _;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use address::BuildId;
use budget::{Budget, Exhausted, Limit, Resource};
use hashbrown::{DefaultHashBuilder, HashMap};
use host::{Content, HostError, Origin};

use super::candidates::{FileCandidate, below, cached, split_id, user_files, with_suffix};
use super::options::FileOptions;
use crate::elf::{ElfData, FileAllowance, ImageError, SectionLayout, link, unpack};
use crate::module::kernel_module_name;

/// Whether so many bytes of what was read of a file may be kept.
pub(crate) type MayHold<'a> = &'a dyn Fn(&Path, u64) -> bool;

/// All places where the file may be: what the user named, the build-id caches and debug directories by id, then the
/// usual places of the recorded release.
pub(crate) fn candidates(
    options: &FileOptions,
    (lists, may_hold): (&ModuleLists, MayHold<'_>),
    name: &[u8],
    id: BuildId,
) -> Vec<FileCandidate> {
    let is_there = |candidate: &FileCandidate| {
        let folder = id_folder(&candidate.path);
        folder.is_none_or(|folder| lists.has_folder(options, folder, candidate.origin()))
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
            let paths = modules((lists, may_hold), options, root, name).into_iter();
            found.extend(paths.map(|path| FileCandidate::recorded(root, path)));
        }
    }
    found
}

/// The folder of an entry below `.build-id`, which has those whose ids begin with the same byte.
fn id_folder(path: &Path) -> Option<&Path> {
    let is_folder = |folder: &&Path| {
        folder.parent().and_then(Path::file_name).is_some_and(|name| name == ".build-id")
    };
    path.ancestors().find(is_folder)
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

/// What `modules.dep` lists below each root, read once, and which folders are there.
#[derive(Debug, Default)]
pub(crate) struct ModuleLists {
    lists: OnceLock<HashMap<PathBuf, ModuleList>>,
    /// Whether a folder that has the files of many modules is there: most are not, and a recording may state very many
    /// modules. Of each cache or debug folder there are 257 at most.
    folders: Mutex<HashMap<PathBuf, bool>>,
}

impl ModuleLists {
    fn has_folder(&self, options: &FileOptions, folder: &Path, origin: Origin<'_>) -> bool {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        let found = options.host.is_dir(folder, origin);
        folders.insert(folder.to_owned(), found);
        found
    }

    fn of(&self, options: &FileOptions, may_hold: MayHold<'_>) -> &HashMap<PathBuf, ModuleList> {
        self.lists.get_or_init(|| {
            let Some(release) = &options.kernel_release else { return HashMap::new() };
            let dir = Path::new("/lib/modules").join(OsStr::from_bytes(release));
            let list = |root: &Path| ModuleList::read(options, root, &dir, may_hold);
            options.roots().filter_map(|root| Some((root.to_owned(), list(root)?))).collect()
        })
    }
}

/// A list of modules as it was read, and where the paths of each name are: a list may have millions of lines.
#[derive(Debug)]
struct ModuleList {
    dir: PathBuf,
    text: Vec<u8>,
    hasher: DefaultHashBuilder,
    /// The hash of a module's name and where its path is, sorted.
    paths: Vec<(u64, Range<u32>)>,
}

impl ModuleList {
    /// The list in `dir` below a root, where it may be kept.
    fn read(options: &FileOptions, root: &Path, dir: &Path, may_hold: MayHold<'_>) -> Option<Self> {
        let path = below(root, dir).join("modules.dep");
        let origin = Origin::Recording { root };
        let size = options.host.stat(&path, origin).ok()?.stamp.size;
        if !may_hold(&path, size) {
            return None;
        }
        let text = options.host.read(&path, origin).ok()?;
        let lines = memchr::memchr_iter(b'\n', &text).count() + 1;
        if !may_hold(&path, (lines * size_of::<(u64, Range<u32>)>()) as u64) {
            return None;
        }
        let hasher = DefaultHashBuilder::default();
        let mut paths = Vec::with_capacity(lines);
        let mut start = 0;
        for line in text.split(|&byte| byte == b'\n') {
            let path = line.split(|&byte| byte == b':').next().unwrap_or_default();
            // A host reads no more than 256 MiB.
            if let (false, Ok(at)) = (path.is_empty(), u32::try_from(start)) {
                let end = at.saturating_add(path.len() as u32);
                paths.push((hasher.hash_one(kernel_module_name(path)), at..end));
            }
            start += line.len() + 1;
        }
        paths.sort_unstable_by_key(|(hash, at)| (*hash, at.start));
        Some(Self { dir: dir.to_owned(), text, hasher, paths })
    }

    /// The paths of modules of that name, in the order of the list.
    fn of_name(&self, name: &[u8]) -> impl Iterator<Item = PathBuf> {
        let hash = self.hasher.hash_one(name);
        let first = self.paths.partition_point(|(known, _)| *known < hash);
        let same = self.paths.iter().skip(first).take_while(move |(known, _)| *known == hash);
        same.filter_map(|(_, at)| self.text.get(at.start as usize..at.end as usize))
            .filter(move |path| kernel_module_name(path) == name)
            // A module has one file; a second one may be below `updates`.
            .take(MOST_LISTED)
            .map(|path| self.dir.join(OsStr::from_bytes(path)))
    }
}

/// Files of one module that are tried.
const MOST_LISTED: usize = 16;

/// The file of a module below a root: its recorded path and the debug file beside it under `/usr/lib/debug`, else the
/// paths of that name that `modules.dep` lists.
fn modules(
    (lists, may_hold): (&ModuleLists, MayHold<'_>),
    options: &FileOptions,
    root: &Path,
    name: &[u8],
) -> Vec<PathBuf> {
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

/// Reads a kernel or module file: unpacked where it is compressed, laid out as the kernel lays it out where it is
/// relocatable.
///
/// What is unpacked as a whole has no more than `left` bytes.
pub(crate) fn parse(
    path: &Path,
    content: Content,
    budget: &Budget,
    left: u64,
) -> Result<ElfData, ImageError> {
    let limit = budget.limit(Resource::UnpackedBytes);
    let limit = Limit { most: limit.most.min(left), ..limit };
    let budget = budget.with(Resource::UnpackedBytes, limit);
    let mut allowance = FileAllowance::new(&budget, content.len());
    let unusable = |source| unusable(path, source);
    let unpacked = match unpack(&content, &mut allowance).map_err(unusable)? {
        Cow::Owned(unpacked) => Content::from(unpacked),
        Cow::Borrowed(_) => content.clone(),
    };
    if !is_relocatable(&unpacked) {
        return ElfData::parse_with(path, unpacked, allowance);
    }
    let linked = link(path, &unpacked, SectionLayout::KernelModule, &mut allowance)?;
    let allowance = allowance.laid_out(linked.len());
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::MemoryHost;

    use super::*;

    /// The places of a module whose id begins with that byte, on a machine with these files.
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
        let found = candidates(&options, (&lists, &|_, _| true), b"[my_mod]", id);
        found.iter().map(|candidate| candidate.path.display().to_string()).collect()
    }

    /// A recording may state very many modules: nothing is asked for in folders that are not there.
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
