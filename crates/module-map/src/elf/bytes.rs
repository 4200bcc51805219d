//! The bytes of a file: mapped where it is a regular file, or held in memory. The one place of the crate with
//! `unsafe`, and the one that opens files.
#![allow(unsafe_code, reason = "mapping a file is unsafe by its nature; argued for at the call")]

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;

use super::ImageError;

/// Bytes that are either mapped from a file or owned.
pub(crate) enum FileBytes {
    /// A mapped regular file.
    Mapped(Mmap),
    /// A part of a mapped regular file. Invariant: the range is inside the mapping.
    Part(Mmap, Range<usize>),
    /// Bytes in memory.
    Owned(Vec<u8>),
}

impl FileBytes {
    /// Maps a regular file. Anything else (device, FIFO, socket, directory) is refused without being opened, since
    /// opening a FIFO blocks and a device may do anything.
    pub(crate) fn map(path: &Path) -> Result<Self, ImageError> {
        let io = |source| ImageError::Io { path: path.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(io)?;
        if !metadata.is_file() {
            return Err(ImageError::NotRegular { path: path.to_owned() });
        }
        if metadata.len() == 0 {
            return Ok(Self::Owned(Vec::new()));
        }
        let file = File::open(path).map_err(io)?;
        // SAFETY: the mapping is private and read-only, and nothing here relies on the bytes staying the same between
        // two reads: every reader checks bounds and treats them as hostile. What remains is a file that another
        // program cuts short while we run, which ends this process with SIGBUS; binaries and libraries are replaced
        // by rename, not cut in place, and reading them in whole instead costs gigabytes.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        Ok(Self::Mapped(map))
    }

    /// A part of these bytes; all of them where the range is not inside.
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::Mapped(map) if range.start <= range.end && range.end <= map.len() => {
                Self::Part(map, range)
            }
            other => other,
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Part(map, range) => map.get(range.clone()).unwrap_or_default(),
            Self::Owned(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Owned(bytes)
    }
}
