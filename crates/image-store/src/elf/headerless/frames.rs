//! Search for `.eh_frame` by its header, which states its start and lists its descriptions. Its end is not stated.
//!
//! Source: LSB core, `.eh_frame_hdr` and `.eh_frame`; "DWARF Exception Header Encoding".

use address::Svma;

use super::loaded::{LoadedFile, Part};

/// `DW_EH_PE_udata4`, and `DW_EH_PE_datarel | DW_EH_PE_sdata4`: encoding of the count and the table by all linkers.
const UDATA4: u8 = 0x03;
const DATAREL_SDATA4: u8 = 0x3b;
/// Offset of the pointer to `.eh_frame`.
const POINTER: usize = 4;
const PAIR: usize = 8;

/// Returns the call frame information that a header belongs to.
pub(super) fn find(file: &LoadedFile<'_>, header: &Part) -> Option<Part> {
    let bytes = file.bytes_of(header);
    let &[1, pointer, count, table, ..] = bytes else { return None };
    let (start, size) = pointer_at(file, header, pointer)?;
    let mut part = file.rest(start)?;
    let pairs = (count == UDATA4 && table == DATAREL_SDATA4)
        .then(|| pairs(file, bytes, POINTER + size))
        .flatten();
    let len = pairs
        .and_then(|pairs| listed_len(file, header, pairs, &part))
        .or_else(|| walked_len(file, &part))?;
    part.range.end = part.range.start + len;
    Some(part)
}

/// Returns the address in a pointer of the header, and the size of the pointer in bytes.
fn pointer_at(file: &LoadedFile<'_>, header: &Part, encoding: u8) -> Option<(Svma, usize)> {
    const PC_RELATIVE: u8 = 0x10;
    const DATA_RELATIVE: u8 = 0x30;
    let size = match encoding & 0x7 {
        0 => file.word_size(),
        2 => 2,
        3 => 4,
        4 => 8,
        _ => return None,
    };
    let value = file.number(file.bytes_of(header), POINTER, size)?;
    let is_signed = encoding & 0x8 != 0;
    let unused = 64 - 8 * size as u32;
    let value =
        if is_signed { ((value << unused).cast_signed() >> unused).cast_unsigned() } else { value };
    let base = match encoding & 0x70 {
        0 => 0,
        PC_RELATIVE => header.svma.add(POINTER as u64).0,
        DATA_RELATIVE => header.svma.0,
        _ => return None,
    };
    let mask = if file.is_wide { u64::MAX } else { u32::MAX.into() };
    Some((Svma(base.wrapping_add(value) & mask), size))
}

/// Returns the pairs of the table, given the offset of their count.
fn pairs<'h>(file: &LoadedFile<'_>, header: &'h [u8], at: usize) -> Option<&'h [u8]> {
    let count = file.u32(header, at)? as usize;
    let rest = header.get(at + 4..)?;
    rest.get(..count.checked_mul(PAIR)?).filter(|pairs| !pairs.is_empty())
}

/// Returns the length up to the end of the last description listed in the table.
fn listed_len(file: &LoadedFile<'_>, header: &Part, pairs: &[u8], frames: &Part) -> Option<usize> {
    let place = |pair: &[u8]| {
        let distance = i64::from(file.u32(pair, 4)?.cast_signed());
        let svma = Svma(header.svma.0.wrapping_add_signed(distance));
        usize::try_from(svma.since(frames.svma)).ok().filter(|&at| at < frames.range.len())
    };
    let last = pairs.chunks_exact(PAIR).filter_map(place).max()?;
    let bytes = file.bytes_of(frames);
    entry_size(file, bytes, last)?.checked_add(last).filter(|&len| len <= bytes.len())
}

/// Returns the length up to the first terminator, or the end of the segment.
fn walked_len(file: &LoadedFile<'_>, frames: &Part) -> Option<usize> {
    let bytes = file.bytes_of(frames);
    let mut at = 0_usize;
    while let Some(size) = entry_size(file, bytes, at) {
        match at.checked_add(size).filter(|&next| next <= bytes.len()) {
            Some(next) => at = next,
            None => break,
        }
    }
    (at > 0).then_some(at)
}

/// Returns the size of an entry including its length field; `None` for a terminator, and after the end.
fn entry_size(file: &LoadedFile<'_>, bytes: &[u8], at: usize) -> Option<usize> {
    match file.u32(bytes, at)? {
        0 => None,
        u32::MAX => {
            let len = file.number(bytes, at.checked_add(4)?, 8)?;
            usize::try_from(len).ok()?.checked_add(12)
        }
        len => Some(len as usize + 4),
    }
}
