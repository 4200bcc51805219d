//! Sections of an ELF file and the unpacking of compressed ones.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use address::{FileOffset, Svma};
use budget::{Exhausted, SharedAllowance};
use object::CompressionFormat;

use super::ImageError;
use super::compression::{inflate, unpack_zstd};
use super::prefetch::SectionPrefetch;

/// A section header, with where its bytes are.
#[derive(Debug)]
pub struct Section {
    /// The name, as bytes.
    pub name: Box<[u8]>,
    /// `sh_addr`.
    pub svma: Svma,
    /// Its size in memory, in bytes (not compressed).
    pub size: u64,
    /// Whether it holds instructions (`SHF_EXECINSTR`).
    pub executable: bool,
    /// Whether it is part of the process image (`SHF_ALLOC`).
    pub allocated: bool,
    pub(crate) offset: FileOffset,
    pub(crate) stored_size: u64,
    /// `sh_offset` and `sh_size`; `None` of `SHT_NOBITS`.
    pub(crate) in_file: Option<(u64, u64)>,
    pub(crate) unpacked_size: u64,
    pub(crate) format: CompressionFormat,
    /// Why its bytes are not unpacked.
    pub(crate) too_large: Option<Exhausted>,
    pub(crate) prefetch: SectionPrefetch,
}

impl Section {
    /// Whether the file holds bytes for it: not so for `SHT_NOBITS`, nor for what a debug file left out.
    #[must_use]
    pub const fn has_bytes(&self) -> bool {
        self.stored_size != 0
    }

    /// Where its bytes begin in the file (of compressed ones: after the compression header).
    #[must_use]
    pub const fn offset(&self) -> FileOffset {
        self.offset
    }

    /// Where it lies in the file, the header of compressed bytes included; `None` where the file holds no bytes for it, or
    /// it ends beyond all numbers.
    #[must_use]
    pub fn in_file(&self) -> Option<Range<u64>> {
        let (start, size) = self.in_file.filter(|&(_, size)| size > 0)?;
        Some(start..start.checked_add(size)?)
    }

    /// Where its bytes end in the file; `None` beyond all numbers.
    #[must_use]
    pub const fn end(&self) -> Option<u64> {
        self.offset.0.checked_add(self.stored_size)
    }

    /// Whether its bytes are compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.format != CompressionFormat::None
    }
}

/// Unpacks the bytes of `section`, if they are compressed, for the next call of [`data`]. That call reports damage.
pub(super) fn unpack_early(
    section: &Section,
    file: &[u8],
    path: &Path,
    in_all: Option<&SharedAllowance>,
) {
    if section.is_compressed() {
        let unpack = || decompress(section, file, path, in_all).ok().map(Cow::into_owned);
        section.prefetch.unpack(unpack);
    }
}

/// The bytes of `section` out of the whole file, or as they were prefetched.
pub(crate) fn data<'b>(
    section: &Section,
    file: &'b [u8],
    path: &Path,
    in_all: Option<&SharedAllowance>,
) -> Result<Cow<'b, [u8]>, ImageError> {
    let prefetched = if section.is_compressed() { section.prefetch.take() } else { None };
    let decompress = || decompress(section, file, path, in_all);
    prefetched.map_or_else(decompress, |bytes| Ok(Cow::Owned(bytes)))
}

/// The bytes of `section` out of the whole file.
///
/// Source: gABI, "Section Compression" (`ELFCOMPRESS_ZLIB` 1, `ELFCOMPRESS_ZSTD` 2); GNU `.zdebug_*`: "ZLIB" and a
/// big-endian size.
fn decompress<'b>(
    section: &Section,
    file: &'b [u8],
    path: &Path,
    in_all: Option<&SharedAllowance>,
) -> Result<Cow<'b, [u8]>, ImageError> {
    let outside = || ImageError::SectionOutside {
        path: path.to_owned(),
        section: String::from_utf8_lossy(&section.name).into_owned(),
        offset: section.offset.0,
        size: section.stored_size,
    };
    let start = usize::try_from(section.offset.0).map_err(|_| outside())?;
    let size = usize::try_from(section.stored_size).map_err(|_| outside())?;
    let end = start.checked_add(size).ok_or_else(outside)?;
    let stored = file.get(start..end).ok_or_else(outside)?;
    let damaged = |source| ImageError::Compression {
        path: path.to_owned(),
        section: String::from_utf8_lossy(&section.name).into_owned(),
        source,
    };
    if section.format == CompressionFormat::None {
        return Ok(Cow::Borrowed(stored));
    }
    let too_much = |why| ImageError::TooMuch {
        path: path.to_owned(),
        what: format!("section {}", String::from_utf8_lossy(&section.name)),
        why,
    };
    section.too_large.map_or(Ok(()), |why| Err(too_much(why)))?;
    let reading =
        || format!("section {} of {}", String::from_utf8_lossy(&section.name), path.display());
    in_all.map_or(Ok(()), |it| it.take_for(section.unpacked_size, reading)).map_err(too_much)?;
    let unpacked = match section.format {
        CompressionFormat::Zlib => inflate(stored, section.unpacked_size),
        CompressionFormat::Zstandard => unpack_zstd(stored, section.unpacked_size),
        _ => Err(std::io::Error::other("unknown compression")),
    };
    unpacked.map(Cow::Owned).map_err(damaged)
}
