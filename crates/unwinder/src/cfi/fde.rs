//! A frame description entry of a section, as gimli reads it.

use gimli::{BaseAddresses, EndianSlice, RunTimeEndian, UnwindSection};
use module_map::Image;

/// Bytes of a section.
pub(crate) type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// A frame description entry.
pub(crate) type Fde<'a> = gimli::FrameDescriptionEntry<Bytes<'a>>;

/// The byte order of a file.
pub(crate) fn endian_of(image: &Image) -> RunTimeEndian {
    if image.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

/// The description at an offset of its section.
pub(crate) fn fde_at<'a, S>(
    section: &S,
    bases: &BaseAddresses,
    offset: usize,
) -> Result<Fde<'a>, gimli::Error>
where
    S: UnwindSection<Bytes<'a>>,
    S::Offset: From<usize>,
{
    section.fde_from_offset(bases, S::Offset::from(offset), |section, bases, offset| {
        section.cie_from_offset(bases, offset)
    })
}
