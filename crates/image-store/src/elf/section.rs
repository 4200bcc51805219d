//! Sections of an ELF file, and decompression of them.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use address::{FileOffset, Svma};
use budget::{Exhausted, SharedAllowance};
use object::CompressionFormat;

use super::ImageError;
use super::compression::{inflate, unpack_zstd};
use super::prefetch::SectionPrefetch;

/// A section header, with the location of its bytes.
#[derive(Debug)]
pub struct Section {
    /// Name, as bytes.
    pub name: Box<[u8]>,
    /// `sh_addr`.
    pub svma: Svma,
    /// Size in memory (decompressed), in bytes.
    pub size: u64,
    /// True if it contains instructions (`SHF_EXECINSTR`).
    pub executable: bool,
    /// True if it is part of the process image (`SHF_ALLOC`).
    pub allocated: bool,
    pub(crate) offset: FileOffset,
    pub(crate) stored_size: u64,
    /// `sh_offset` and `sh_size`; `None` for `SHT_NOBITS`.
    pub(crate) in_file: Option<(u64, u64)>,
    pub(crate) unpacked_size: u64,
    pub(crate) format: CompressionFormat,
    /// Limit that prevents decompression.
    pub(crate) too_large: Option<Exhausted>,
    pub(crate) prefetch: SectionPrefetch,
}

impl Section {
    /// Returns true if the file has bytes of it. False for `SHT_NOBITS`, and for sections omitted from a debug file.
    #[must_use]
    pub const fn has_bytes(&self) -> bool {
        self.stored_size != 0
    }

    /// Offset of its bytes in the file, in compressed sections after the compression header.
    #[must_use]
    pub const fn offset(&self) -> FileOffset {
        self.offset
    }

    /// Returns its range in the file, including a compression header. `None` if the file has no
    /// bytes of it, or the end overflows.
    #[must_use]
    pub fn in_file(&self) -> Option<Range<u64>> {
        let (start, size) = self.in_file.filter(|&(_, size)| size > 0)?;
        Some(start..start.checked_add(size)?)
    }

    /// Returns the end of its bytes in the file; `None` on overflow.
    #[must_use]
    pub const fn end(&self) -> Option<u64> {
        self.offset.0.checked_add(self.stored_size)
    }

    /// Returns true if its bytes are compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.format != CompressionFormat::None
    }
}

/// Decompresses `section` in advance for the next call of [`data`], if it is compressed. That call reports damage.
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

/// Returns the bytes of `section` from the whole file, or the prefetched ones.
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

/// Returns the decompressed bytes of `section` from the whole file.
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
