//! Modules listed in `modules.dep`, and existence of the folders of debug files.

use std::ffi::OsStr;
use std::hash::BuildHasher as _;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::{DefaultHashBuilder, HashMap};
use host::Origin;
use module_map::kernel_module_name;

use crate::search::{FileOptions, below};

/// Check whether a number of bytes read from a file may be retained.
pub(crate) type MayHold<'a> = &'a dyn Fn(&Path, u64) -> bool;

/// Contents of `modules.dep` below each root, read once, and existence of folders.
#[derive(Debug, Default)]
pub(crate) struct ModuleLists {
    lists: OnceLock<HashMap<PathBuf, ModuleList>>,
    /// Existence of the folders with files of many modules: most do not exist, and a recording
    /// can have very many modules.
    /// There are at most 257 for each cache or debug folder.
    folders: Mutex<HashMap<PathBuf, bool>>,
}

impl ModuleLists {
    pub(super) fn has_folder(
        &self,
        options: &FileOptions,
        folder: &Path,
        origin: Origin<'_>,
    ) -> bool {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        let found = options.host.is_dir(folder, origin);
        folders.insert(folder.to_owned(), found);
        found
    }

    pub(super) fn of(
        &self,
        options: &FileOptions,
        may_hold: MayHold<'_>,
    ) -> &HashMap<PathBuf, ModuleList> {
        self.lists.get_or_init(|| {
            let Some(release) = &options.kernel_release else { return HashMap::new() };
            let dir = Path::new("/lib/modules").join(OsStr::from_bytes(release));
            let list = |root: &Path| ModuleList::read(options, root, &dir, may_hold);
            options.roots().filter_map(|root| Some((root.to_owned(), list(root)?))).collect()
        })
    }
}

/// Module lists of a run, and the memory limit for them.
#[derive(Clone, Copy)]
pub(crate) struct LimitedLists<'a> {
    pub(crate) lists: &'a ModuleLists,
    pub(crate) may_hold: MayHold<'a>,
}

/// Text of a list of modules, with an index of the paths by name: a list may have millions of lines.
#[derive(Debug)]
pub(super) struct ModuleList {
    dir: PathBuf,
    text: Vec<u8>,
    hasher: DefaultHashBuilder,
    /// Hash of a module's name and range of its path in `text`, sorted.
    paths: Vec<(u64, Range<u32>)>,
}

impl ModuleList {
    /// Reads the list in `dir` below a root; `None` if it exceeds the memory limit.
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
            // A host reads at most 256 MiB.
            if let (false, Ok(at)) = (path.is_empty(), u32::try_from(start)) {
                let end = at.saturating_add(path.len() as u32);
                paths.push((hasher.hash_one(kernel_module_name(path)), at..end));
            }
            start += line.len() + 1;
        }
        paths.sort_unstable_by_key(|(hash, at)| (*hash, at.start));
        Some(Self { dir: dir.to_owned(), text, hasher, paths })
    }

    /// Returns the paths of modules with a name, in the order of the list.
    pub(super) fn of_name(&self, name: &[u8]) -> impl Iterator<Item = PathBuf> {
        let hash = self.hasher.hash_one(name);
        let first = self.paths.partition_point(|(known, _)| *known < hash);
        let same = self.paths.iter().skip(first).take_while(move |(known, _)| *known == hash);
        same.filter_map(|(_, at)| self.text.get(at.start as usize..at.end as usize))
            .filter(move |path| kernel_module_name(path) == name)
            // A module has one file; a second one can be below `updates`.
            .take(MOST_LISTED)
            .map(|path| self.dir.join(OsStr::from_bytes(path)))
    }
}

/// Maximum number of files tried for a module.
pub(super) const MOST_LISTED: usize = 16;
