//! Files of split DWARF: the package of a program, or one `.dwo` per unit.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::search::{DebugSearch, RejectedFiles};
use crate::elf::Image;
use crate::search::{FileCandidate, below, recorded_paths, split_id, user_files, with_suffix};
use crate::store::images::ImageStore;

/// Split files of one image. They are opened at the first request and stay open as long as the image.
#[derive(Debug, Default)]
pub(crate) struct SplitFiles {
    package: OnceLock<(Option<Image>, RejectedFiles)>,
    units: OnceLock<Box<SplitFileNode>>,
    /// Hashers for the numbers of files: random, so authors of file names cannot foresee the numbers.
    hashers: [RandomState; 2],
    found: AtomicU64,
    missing: AtomicU64,
}

/// A file in an append-only tree, so that references remain valid while other threads add files.
/// Each level branches by two bits of the number, so the depth is at most 64.
#[derive(Debug)]
struct SplitFileNode {
    number: u128,
    image: Option<Box<Image>>,
    below: [OnceLock<Box<Self>>; 4],
}

/// Number of missing files, times the number of found files plus one, after which the search
/// stops: each costs several system calls.
const MOST_MISSING: u64 = 4096;

impl SplitFiles {
    /// Returns the package of a program.
    pub(crate) fn package(
        &self,
        owner: &Image,
        debug: Option<&Image>,
        store: &ImageStore,
    ) -> Option<&Image> {
        self.package.get_or_init(|| open_package(owner, debug, store)).0.as_ref()
    }

    /// Returns the file with a split unit: the package if there is one, otherwise the unit's
    /// `.dwo`, shared by all units that name it.
    /// The caller checks the unit's id.
    pub(crate) fn find(
        &self,
        owner: &Image,
        debug: Option<&Image>,
        store: &ImageStore,
        dir: &[u8],
        name: &[u8],
    ) -> Option<&Image> {
        if let Some(package) = self.package(owner, debug, store) {
            return Some(package);
        }
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one((dir, name)));
        let number = u128::from(high) << 64 | u128::from(low);
        let (mut slot, mut rest) = (&self.units, number);
        loop {
            let node = slot.get_or_init(|| {
                let image = self.open(owner, store, dir, name);
                Box::new(SplitFileNode { number, image, below: Default::default() })
            });
            if node.number == number {
                return node.image.as_deref();
            }
            slot = node.below.get((rest & 3) as usize)?;
            rest >>= 2;
        }
    }

    fn open(
        &self,
        owner: &Image,
        store: &ImageStore,
        dir: &[u8],
        name: &[u8],
    ) -> Option<Box<Image>> {
        let (found, missing) = (&self.found, &self.missing);
        let allowed = MOST_MISSING.saturating_mul(found.load(Relaxed).saturating_add(1));
        if missing.load(Relaxed) >= allowed {
            return None;
        }
        let (image, rejected) = open_unit(owner, store, dir, name);
        if image.is_none() {
            let package = self.package.get().map(|(_, rejected)| rejected);
            for rejected in package.into_iter().chain([&rejected]) {
                let owner = owner.path().display();
                rejected.note(store, "the split debug information", &owner, "inlined functions");
            }
        }
        if image.is_some() { found } else { missing }.fetch_add(1, Relaxed);
        image.map(Box::new)
    }
}

/// Opens `PROGRAM.dwp` next to the program or its debug file, below the debug directories, or among the user's files.
fn open_package(
    owner: &Image,
    debug: Option<&Image>,
    store: &ImageStore,
) -> (Option<Image>, RejectedFiles) {
    let options = store.options();
    let wanted = with_suffix(owner.path(), ".dwp");
    let mut found = vec![FileCandidate::sibling(owner, options, wanted.clone())];
    found
        .extend(debug.map(|debug| {
            FileCandidate::sibling(debug, options, with_suffix(debug.path(), ".dwp"))
        }));
    // A debug file with another name can have the program's package next to it.
    let named = debug.and_then(|debug| Some(debug.path().with_file_name(wanted.file_name()?)));
    found
        .extend(debug.zip(named).map(|(debug, path)| FileCandidate::sibling(debug, options, path)));
    found.extend(user_files(options, |path| path.file_name() == wanted.file_name()));
    found.extend(options.extra.named(wanted.file_name()));
    for dir in &options.debug_dirs {
        let root = options.root_of_debug_dir(dir);
        let by_path = with_suffix(&below(dir, owner.path()), ".dwp");
        found.push(FileCandidate::recorded(root, by_path));
        let by_id = owner.build_id().map(|id| dir.join(".build-id").join(split_id(id)));
        found.extend(by_id.map(|path| FileCandidate::stored(root, with_suffix(&path, ".dwp"))));
    }
    open_split(&found, store)
}

/// Source: DWARF 5, 3.1.2: `DW_AT_dwo_name` is relative to `DW_AT_comp_dir`.
fn open_unit(
    owner: &Image,
    store: &ImageStore,
    dir: &[u8],
    name: &[u8],
) -> (Option<Image>, RejectedFiles) {
    let options = store.options();
    let name = Path::new(OsStr::from_bytes(name));
    let stated = Path::new(OsStr::from_bytes(dir)).join(name);
    let mut found: Vec<FileCandidate> =
        user_files(options, |path| path.file_name() == name.file_name()).collect();
    found.extend(options.extra.named(name.file_name()));
    found.extend(recorded_paths(options, &stated));
    if let Some(beside) = owner.path().parent() {
        let flat = name.file_name().map(|name| beside.join(name));
        let paths = std::iter::once(beside.join(name)).chain(flat);
        found.extend(paths.map(|path| FileCandidate::sibling(owner, options, path)));
    }
    open_split(&found, store)
}

/// Opens the first candidate with split units; also returns the files refused before it.
fn open_split(candidates: &[FileCandidate], store: &ImageStore) -> (Option<Image>, RejectedFiles) {
    let mut search = DebugSearch::new(store);
    let found = candidates.iter().find_map(|candidate| {
        let image = search.open(candidate)?;
        if image.section(".debug_info.dwo").is_some() {
            return Some(image);
        }
        search.reject(candidate, "has no split debug information");
        None
    });
    (found, search.into_rejected())
}
