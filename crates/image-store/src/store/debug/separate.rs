//! Separate debug file of an image: by build-id, by the name in `.gnu_debuglink` checked by its CRC, by its path
//! below the debug directories, or from a server.
//! Also the supplementary file that dwz splits off.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use address::BuildId;

use super::search::DebugSearch;
use crate::elf::{Image, Section};
use crate::search::{
    FetchKind, FileCandidate, FileOptions, below, cached, recorded_paths, split_id, user_files,
    with_suffix,
};
use crate::store::images::ImageStore;

/// Debug information in separate files.
const MISSING: &str = "names, inlined functions or lines";

/// Returns the debug file of `image`, if one exists and is proven to belong to it.
pub(crate) fn find(image: &Image, store: &ImageStore) -> Option<Arc<Image>> {
    let mut search = DebugSearch::new(store);
    let found = by_build_id(image, &mut search)
        .or_else(|| by_link(image, &mut search))
        .or_else(|| by_path(image, &mut search))
        .or_else(|| by_content(image, &mut search))
        .or_else(|| fetched(image, &mut search));
    if found.is_none() && !has_debug_info(image) {
        let owner = image.path().display();
        search.into_rejected().note(store, "the debug file", &owner, MISSING);
    }
    found.map(Arc::new)
}

/// Returns the supplementary file stated by `debug` or `image`, proven by its build-id or checksum.
pub(crate) fn find_alt(
    image: &Image,
    debug: Option<&Image>,
    store: &ImageStore,
) -> Option<Arc<Image>> {
    let holder = debug.into_iter().chain([image]).find(|holder| states_alt(holder))?;
    let mut search = DebugSearch::new(store);
    let found = match alt_link(holder) {
        Some((name, id)) => open_alt(holder, &name, id, &mut search),
        None => {
            let why = "does not state the name and the build-id of its supplementary file";
            search.reject_any(&holder.path().display(), why);
            None
        }
    };
    if found.is_none() {
        let owner = holder.path().display();
        let missing = "names or inlined functions";
        search.into_rejected().note(store, "the supplementary file", &owner, missing);
    }
    found.map(Arc::new)
}

fn open_alt(
    holder: &Image,
    name: &[u8],
    id: BuildId,
    search: &mut DebugSearch<'_>,
) -> Option<Image> {
    let store = search.store;
    let options = store.options();
    let path = Path::new(OsStr::from_bytes(name));
    let mut found = Vec::new();
    if path.is_absolute() {
        found.extend(recorded_paths(options, path));
    } else if let Some(dir) = holder.path().parent() {
        found.push(FileCandidate::sibling(holder, options, dir.join(path)));
    }
    // Debug files refer to `../../.dwz/x.debug`, relative to their installed location, which differs in a cache.
    if let Some(name) = path.file_name() {
        found.extend(options.debug_dirs.iter().map(|dir| {
            FileCandidate::recorded(options.root_of_debug_dir(dir), dir.join(".dwz").join(name))
        }));
    }
    found.extend(debug_candidates(id, options));
    let fetched = std::iter::once_with(|| options.fetched(id, FetchKind::DebugInfo)).flatten();
    let found = found.into_iter().chain(store.files_with_id(id));
    let found = found.chain(fetched.map(FileCandidate::of_user));
    first_with_id(found, id, |alt| alt.build_id().or_else(|| sup_id(alt)), search)
}

fn by_build_id(image: &Image, search: &mut DebugSearch<'_>) -> Option<Image> {
    let id = image.build_id()?;
    let options = search.store.options();
    // A file named by the user is tried for every image and is wrong for all but one, so it is not reported.
    let mut named = user_files(options, |path| *path != image.path());
    let named = named.find_map(|named| {
        let debug = search.store.open_image(&named).ok()?;
        (debug.build_id().is_some_and(|found| found.matches(&id)) && is_debug(&debug))
            .then_some(debug)
    });
    let debug = named.or_else(|| open_by_id(debug_candidates(id, options), id, search));
    // The user may name the mapped file itself, which is not a debug file then.
    debug.filter(|debug| debug.path() != image.path())
}

/// Returns the debug file of a build-id, without its program.
pub(crate) fn find_by_id(id: BuildId, store: &ImageStore) -> Option<Image> {
    let options = store.options();
    let mut search = DebugSearch::new(store);
    let fetched = std::iter::once_with(|| options.fetched(id, FetchKind::DebugInfo)).flatten();
    let named = user_files(options, |_| true).chain(debug_candidates(id, options));
    let named = named.chain(store.files_with_id(id));
    let found = open_by_id(named.chain(fetched.map(FileCandidate::of_user)), id, &mut search);
    if found.is_none() {
        let owner = format!("the file with build-id {id}");
        search.into_rejected().note(store, "the debug file", &owner, MISSING);
    }
    found
}

fn debug_candidates(id: BuildId, options: &FileOptions) -> Vec<FileCandidate> {
    let name = with_suffix(&split_id(id), ".debug");
    let system = options.debug_dirs.iter().map(|dir| {
        let entry = dir.join(".build-id").join(&name);
        FileCandidate::stored(options.root_of_debug_dir(dir), entry)
    });
    system.chain(cached(options, id, "debug")).collect()
}

fn open_by_id(
    candidates: impl IntoIterator<Item = FileCandidate>,
    id: BuildId,
    search: &mut DebugSearch<'_>,
) -> Option<Image> {
    first_with_id(candidates, id, Image::build_id, search)
}

/// Returns the first candidate that has the id and debug information.
fn first_with_id(
    candidates: impl IntoIterator<Item = FileCandidate>,
    wanted: BuildId,
    id_of: impl Fn(&Image) -> Option<BuildId>,
    search: &mut DebugSearch<'_>,
) -> Option<Image> {
    candidates.into_iter().find_map(|candidate| {
        let debug = search.open(&candidate)?;
        match id_of(&debug) {
            Some(found) if found.matches(&wanted) => is_debug(&debug).then_some(debug),
            Some(found) => {
                search.reject(&candidate, &format!("has build-id {found}, wanted was {wanted}"));
                None
            }
            None => {
                search.reject(&candidate, &format!("has no build-id, wanted was {wanted}"));
                None
            }
        }
    })
}

/// Returns true if a file is useful in addition to the mapped one: it has debug information or symbols.
fn is_debug(image: &Image) -> bool {
    image.sections().iter().any(|section| {
        section.has_bytes()
            && (section.name.starts_with(b".debug_")
                || section.name.starts_with(b".zdebug_")
                || &*section.name == b".symtab")
    })
}

fn by_link(image: &Image, search: &mut DebugSearch<'_>) -> Option<Image> {
    let section = image.section(".gnu_debuglink")?;
    let Some((name, crc)) = debug_link(image, section) else {
        let why = "does not state the name and the checksum of its debug file";
        search.reject_any(&image.path().display(), why);
        return None;
    };
    let name = Path::new(OsStr::from_bytes(&name));
    let options = search.store.options();
    let dir = image.path().parent()?;
    let beside = [dir.join(name), dir.join(".debug").join(name)];
    let own = own_dir(dir, options);
    let below_debug = options.debug_dirs.iter().map(|debug| {
        let path = below(debug, own).join(name);
        FileCandidate::recorded(options.root_of_debug_dir(debug), path)
    });
    beside
        .map(|path| FileCandidate::sibling(image, options, path))
        .into_iter()
        .chain(below_debug)
        .chain(options.extra.named(name.file_name()))
        .chain(user_files(options, |path| path.file_name() == Some(name.as_os_str())))
        .filter(|candidate| candidate.path != image.path())
        .find_map(|candidate| {
            let debug = search.open(&candidate)?;
            let is_it = crc32(debug.bytes()) == crc;
            if !is_it {
                let stated = "has another checksum than the file that belongs to it states";
                search.reject(&candidate, stated);
            }
            is_it.then_some(debug)
        })
}

/// Returns the name and the checksum of the debug file.
///
/// Source: the GDB manual, "Separate Debug Files": name, NUL, padding to 4, CRC-32 of the whole debug file.
fn debug_link(image: &Image, section: &Section) -> Option<(Vec<u8>, u32)> {
    let data = image.section_data(section).ok()?;
    let end = data.iter().position(|&byte| byte == 0).filter(|&end| end > 0)?;
    let crc = data.get((end + 4) & !3..)?.first_chunk::<4>()?;
    let crc =
        if image.is_little_endian() { u32::from_le_bytes(*crc) } else { u32::from_be_bytes(*crc) };
    Some((data.get(..end)?.to_vec(), crc))
}

/// Returns `/usr/lib/debug/PATH.debug` or `/usr/lib/debug/PATH` if the build-id matches.
fn by_path(image: &Image, search: &mut DebugSearch<'_>) -> Option<Image> {
    let id = image.build_id()?;
    let options = search.store.options();
    let path = own_dir(image.path(), options);
    let mut found = Vec::new();
    for dir in &options.debug_dirs {
        let (root, plain) = (options.root_of_debug_dir(dir), below(dir, path));
        let paths = [with_suffix(&plain, ".debug"), plain];
        found.extend(paths.map(|path| FileCandidate::recorded(root, path)));
    }
    open_by_id(found, id, search)
}

/// Returns a file below the user's folders, regardless of name.
fn by_content(image: &Image, search: &mut DebugSearch<'_>) -> Option<Image> {
    let id = image.build_id().filter(|_| !has_debug_info(image))?;
    let others = search.store.files_with_id(id).filter(|other| other.path != image.path());
    open_by_id(others, id, search)
}

/// Returns true if the image has its own debug information, so that no other file is needed.
fn has_debug_info(image: &Image) -> bool {
    image.section(".debug_info").is_some()
}

fn fetched(image: &Image, search: &mut DebugSearch<'_>) -> Option<Image> {
    let id = image.build_id().filter(|_| !has_debug_info(image))?;
    let path = search.store.options().fetched(id, FetchKind::DebugInfo);
    open_by_id(path.map(FileCandidate::of_user), id, search)
}

/// Returns the path on the recorded machine, without the sysroot before it.
fn own_dir<'p>(path: &'p Path, options: &FileOptions) -> &'p Path {
    options.sysroots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path)
}

/// Returns true if a file states a supplementary file. An unreadable `.debug_sup` counts as such a statement.
fn states_alt(image: &Image) -> bool {
    let in_sup = || {
        let Some(section) = image.section(".debug_sup") else { return false };
        image.section_data(section).map_or(true, |data| data.get(2) != Some(&1))
    };
    image.section(".gnu_debugaltlink").is_some() || in_sup()
}

/// Returns the name and id of the supplementary file.
///
/// Source: GNU `.gnu_debugaltlink`: name, NUL, build-id; DWARF 5, 7.3.6: `.debug_sup` holds version, whether it is
/// the supplementary file itself, name, length of the checksum (ULEB128), checksum.
fn alt_link(image: &Image) -> Option<(Vec<u8>, BuildId)> {
    if let Some(section) = image.section(".gnu_debugaltlink") {
        let data = image.section_data(section).ok()?;
        let end = data.iter().position(|&byte| byte == 0)?;
        return Some((data.get(..end)?.to_vec(), BuildId::new(data.get(end + 1..)?)?));
    }
    sup(image, false)
}

/// Returns the checksum of a supplementary file of DWARF 5, which replaces a build-id.
fn sup_id(image: &Image) -> Option<BuildId> {
    Some(sup(image, true)?.1)
}

/// Returns the name and checksum in `.debug_sup`, which must be of the supplementary file itself if
/// `itself` is set, otherwise of a referring file.
fn sup(image: &Image, itself: bool) -> Option<(Vec<u8>, BuildId)> {
    let data = image.section_data(image.section(".debug_sup")?).ok()?;
    let rest = data.get(3..).filter(|_| data.get(2) == Some(&u8::from(itself)))?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    // Ids have at most 20 bytes, so their length is one byte of ULEB128.
    let len = usize::from(*rest.get(end + 1)?);
    Some((
        rest.get(..end)?.to_vec(),
        BuildId::new(rest.get(end + 2..(end + 2).checked_add(len)?)?)?,
    ))
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
