//! The separate debug file of an image: by build-id, by the name in `.gnu_debuglink` checked by its CRC, by its path
//! below the debug directories, or from a server; and the supplementary file that dwz splits off.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::BuildId;

use super::find::{below, cached, places, split_id};
use super::options::{FetchKind, FileOptions};
use crate::elf::Image;

/// The debug file of `image`, if one exists and is proven to belong to it.
pub(crate) fn find(image: &Image, options: &FileOptions) -> Option<Arc<Image>> {
    by_build_id(image, options)
        .or_else(|| by_link(image, options))
        .or_else(|| by_path(image, options))
        .or_else(|| fetched(image, options))
        .map(Arc::new)
}

/// The supplementary file that `debug` or `image` names, proven by its build-id or by its own checksum.
pub(crate) fn find_alt(
    image: &Image,
    debug: Option<&Image>,
    options: &FileOptions,
) -> Option<Arc<Image>> {
    let holders = debug.into_iter().chain([image]);
    let (holder, (name, id)) =
        holders.filter_map(|holder| Some((holder, alt_link(holder)?))).next()?;
    let path = Path::new(OsStr::from_bytes(&name));
    let mut paths = Vec::new();
    if path.is_absolute() {
        paths.extend(places(options, path));
    } else if let Some(dir) = holder.path().parent() {
        paths.push(dir.join(path));
    }
    // Debug files refer to `../../.dwz/x.debug` from where they are installed, which is not where a cache keeps them.
    if let Some(name) = path.file_name() {
        paths.extend(options.debug_dirs.iter().map(|dir| dir.join(".dwz").join(name)));
    }
    paths.extend(debug_paths(id, options));
    let fetched = std::iter::once_with(|| options.fetched(id, FetchKind::DebugInfo)).flatten();
    let mut paths = paths.into_iter().chain(fetched);
    let opened = |path: PathBuf| Image::open(&path).ok();
    let fits =
        |alt: &Image| alt.build_id().or_else(|| sup_id(alt)).is_some_and(|own| own.matches(&id));
    paths.find_map(|path| opened(path).filter(|alt| fits(alt) && is_debug(alt))).map(Arc::new)
}

fn by_build_id(image: &Image, options: &FileOptions) -> Option<Image> {
    let id = image.build_id()?;
    let named = options.modules.iter().filter(|path| *path != image.path()).cloned();
    let debug = open_by_id(named.chain(debug_paths(id, options)), id);
    // A user may name the very file that is mapped; it is no debug file then.
    debug.filter(|debug| debug.path() != image.path())
}

fn debug_paths(id: BuildId, options: &FileOptions) -> Vec<PathBuf> {
    let mut name = split_id(id).into_os_string();
    name.push(".debug");
    let system = options.debug_dirs.iter().map(|dir| dir.join(".build-id").join(&name));
    system.chain(cached(options, id, "debug")).collect()
}

fn open_by_id(paths: impl IntoIterator<Item = PathBuf>, id: BuildId) -> Option<Image> {
    paths
        .into_iter()
        .filter_map(|path| Image::open(&path).ok())
        .find(|debug| debug.build_id().is_some_and(|found| found.matches(&id)) && is_debug(debug))
}

/// Whether a file is worth opening beside the one that is mapped: it has debug information or symbols of its own.
fn is_debug(image: &Image) -> bool {
    image.sections().iter().any(|section| {
        section.has_bytes()
            && (section.name.starts_with(b".debug_")
                || section.name.starts_with(b".zdebug_")
                || &*section.name == b".symtab")
    })
}

/// Source: the GDB manual, "Separate Debug Files": name, NUL, padding to 4, CRC-32 of the whole debug file.
fn by_link(image: &Image, options: &FileOptions) -> Option<Image> {
    let section = image.section(".gnu_debuglink")?;
    let data = image.section_data(section).ok()?;
    let end = data.iter().position(|&byte| byte == 0)?;
    let name = Path::new(OsStr::from_bytes(data.get(..end)?));
    let crc = data.get((end + 4) & !3..)?.first_chunk::<4>()?;
    let crc =
        if image.is_little_endian() { u32::from_le_bytes(*crc) } else { u32::from_be_bytes(*crc) };
    let dir = image.path().parent()?;
    let mut paths: Vec<PathBuf> = vec![dir.join(name), dir.join(".debug").join(name)];
    paths.extend(
        options.debug_dirs.iter().map(|debug| below(debug, own_dir(dir, options)).join(name)),
    );
    paths.extend(options.extra.named(name.file_name()));
    paths.extend(
        options.modules.iter().filter(|path| path.file_name() == Some(name.as_os_str())).cloned(),
    );
    paths
        .into_iter()
        .filter(|path| path != image.path())
        .filter_map(|path| Image::open(&path).ok())
        .find(|debug| crc32(debug.bytes()) == crc)
}

/// `/usr/lib/debug/PATH.debug` and `/usr/lib/debug/PATH`, where the build-id proves them.
fn by_path(image: &Image, options: &FileOptions) -> Option<Image> {
    let id = image.build_id()?;
    let path = own_dir(image.path(), options);
    let mut paths = Vec::new();
    for dir in &options.debug_dirs {
        let plain = below(dir, path);
        let mut suffixed = plain.clone().into_os_string();
        suffixed.push(".debug");
        paths.extend([PathBuf::from(suffixed), plain]);
    }
    open_by_id(paths, id)
}

fn fetched(image: &Image, options: &FileOptions) -> Option<Image> {
    let id = image.build_id()?;
    // What has its debug information inside needs no other file.
    if image.section(".debug_info").is_some() {
        return None;
    }
    open_by_id(options.fetched(id, FetchKind::DebugInfo), id)
}

/// A path as the recorded machine knew it: without the sysroot that was put before it.
fn own_dir<'p>(path: &'p Path, options: &FileOptions) -> &'p Path {
    options.sysroots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path)
}

/// The name and id of a supplementary file.
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

/// The checksum by which a supplementary file of DWARF 5 is known, in the place of a build-id.
fn sup_id(image: &Image) -> Option<BuildId> {
    Some(sup(image, true)?.1)
}

/// Name and checksum in `.debug_sup`, where it is in the supplementary file itself or not, as asked.
fn sup(image: &Image, itself: bool) -> Option<(Vec<u8>, BuildId)> {
    let data = image.section_data(image.section(".debug_sup")?).ok()?;
    let rest = data.get(3..).filter(|_| data.get(2) == Some(&u8::from(itself)))?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    // Ids are of 20 bytes at most, so their length is one byte of ULEB128.
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
