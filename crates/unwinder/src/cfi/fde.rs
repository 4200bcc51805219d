//! A frame description entry of a section, read with gimli.

use gimli::{BaseAddresses, EndianSlice, Reader as _, RunTimeEndian, UnwindOffset, UnwindSection};
use image_store::Image;

/// Bytes of a section.
pub(crate) type CfiBytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// A frame description entry.
pub(crate) type Fde<'a> = gimli::FrameDescriptionEntry<CfiBytes<'a>>;

/// Returns the byte order of a file.
pub(crate) fn endian_of(image: &Image) -> RunTimeEndian {
    if image.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

/// Returns the description at an offset of its section.
pub(crate) fn fde_at<'a, S>(
    section: &S,
    bases: &BaseAddresses,
    offset: usize,
) -> Result<Fde<'a>, gimli::Error>
where
    S: UnwindSection<CfiBytes<'a>>,
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

/// Maximum length of an augmentation: each known one has a letter, which occurs once.
pub(crate) const LONGEST_AUGMENTATION: usize = 32;

/// Returns true if the augmentation of the common information entry at an offset has a plausible length. It is read for
/// each description of the entry.
///
/// Source: LSB core, "The `.eh_frame` section"; DWARF 5, section 6.4.1. If the length has 64 bits, so has the id in
/// `.debug_frame`, which is -1.
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
