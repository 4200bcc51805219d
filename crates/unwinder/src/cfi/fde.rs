//! A frame description entry of a section, as gimli reads it.

use gimli::{BaseAddresses, EndianSlice, Reader as _, RunTimeEndian, UnwindOffset, UnwindSection};
use image_store::Image;

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
    section.fde_from_offset(
        bases,
        <S::Offset as From<usize>>::from(offset),
        |section, bases, offset| {
            let bytes = section.section();
            if !has_short_augmentation(bytes.slice(), UnwindOffset::into(offset), bytes.endian()) {
                return Err(gimli::Error::UnknownAugmentation);
            }
            section.cie_from_offset(bases, offset)
        },
    )
}

/// Known augmentations have a letter each, and each letter once.
pub(crate) const LONGEST_AUGMENTATION: usize = 32;

/// Whether the augmentation of the common information entry at an offset is of a length that means something: it is read
/// for each description that has the entry.
///
/// Source: LSB core, "The `.eh_frame` section"; DWARF 5, section 6.4.1. Where the length is one of 64 bits, the id has
/// as many in `.debug_frame`, where it is -1.
fn has_short_augmentation(section: &[u8], offset: usize, endian: RunTimeEndian) -> bool {
    let word = |at: usize| -> Option<u32> {
        let bytes = *section.get(offset.checked_add(at)?..)?.first_chunk()?;
        let little = endian == RunTimeEndian::Little;
        Some(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let at = match (word(0), word(16)) {
        (Some(u32::MAX), Some(u32::MAX)) => 21,
        (Some(u32::MAX), _) => 17,
        _ => 9,
    };
    let string = offset.checked_add(at).and_then(|at| section.get(at..)).unwrap_or_default();
    string.iter().take(LONGEST_AUGMENTATION + 1).any(|&byte| byte == 0)
}
