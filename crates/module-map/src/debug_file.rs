//! The separate debug file of an image: by build-id, or by the name in `.gnu_debuglink` checked by its CRC.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Image;
use crate::find::{FileOptions, split_id};

/// The debug file of `image`, if one exists and is proven to belong to it.
pub(crate) fn find(image: &Image, options: &FileOptions) -> Option<Arc<Image>> {
    by_build_id(image, options).or_else(|| by_link(image, options)).map(Arc::new)
}

fn by_build_id(image: &Image, options: &FileOptions) -> Option<Image> {
    let id = image.build_id()?;
    let mut name = split_id(id).into_os_string();
    name.push(".debug");
    let system = options.debug_dirs.iter().map(|dir| dir.join(".build-id").join(&name));
    let cached = options
        .build_id_dirs
        .iter()
        .map(|dir| dir.join(".build-id").join(split_id(id)).join("debug"));
    system
        .chain(cached)
        .filter_map(|path| Image::open(&path).ok())
        .find(|debug| debug.build_id().is_some_and(|found| found.matches(&id)))
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
    let absolute = dir.strip_prefix("/").unwrap_or(dir);
    paths.extend(options.debug_dirs.iter().map(|debug| debug.join(absolute).join(name)));
    paths
        .into_iter()
        .filter(|path| path != image.path())
        .filter_map(|path| Image::open(&path).ok())
        .find(|debug| crc32(debug.bytes()) == crc)
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
