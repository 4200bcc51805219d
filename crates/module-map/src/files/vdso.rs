//! The vdso of the running kernel, read from this process's own memory map.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::elf::ImageError;

/// The bytes of the running kernel's vdso, or `None` where this process has none.
///
/// Source: `AT_SYSINFO_EHDR`; the mapping is named `[vdso]` in /proc/self/maps. Read through /proc/self/mem, which
/// needs no `unsafe`.
pub(crate) fn running_kernels() -> Option<Vec<u8>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let mut memory = File::open("/proc/self/mem").ok()?;
    memory.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes =
        vec![0; usize::try_from(end.checked_sub(start)?).ok().filter(|&len| len <= 1 << 20)?];
    memory.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// The error for a process that has none.
pub(crate) fn missing(path: &Path) -> ImageError {
    ImageError::Io {
        path: path.to_owned(),
        source: std::io::Error::from(std::io::ErrorKind::NotFound),
    }
}
