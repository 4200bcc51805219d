//! Lookup of the frame description that covers an address, by the sorted table of `.eh_frame_hdr` or, without one, by
//! an index of the whole section.

use std::ops::Range;

use address::Svma;
use gimli::{BaseAddresses, Reader as _, UnwindSection, constants as dw};

use crate::cfi::entries::{entries, word};
use crate::cfi::fde::{CfiBytes, fde_at};

/// The binary search table of `.eh_frame_hdr` in its usual encoding: pairs of signed 32-bit offsets from the section.
///
/// Source: LSB core, `.eh_frame_hdr`; `DW_EH_PE_datarel | DW_EH_PE_sdata4`.
#[derive(Debug)]
pub(crate) struct HeaderTable {
    /// Range of the pairs in the file.
    pairs: Range<usize>,
    /// Address of the header section.
    svma: u64,
    /// Address of `.eh_frame`.
    frame_svma: u64,
    little_endian: bool,
}

const PAIR: usize = 8;
const DATAREL_SDATA4: u8 = dw::DW_EH_PE_datarel.0 | dw::DW_EH_PE_sdata4.0;

impl HeaderTable {
    /// Reads the table of a header; `None` if it is missing or in another encoding. Other encodings are legal, but
    /// unsorted or rare.
    pub(crate) fn new(
        header: &[u8],
        range: Range<usize>,
        svma: Svma,
        frame_svma: Svma,
        little_endian: bool,
    ) -> Option<Self> {
        let &[version, frame_encoding, count_encoding, table_encoding, ..] = header else {
            return None;
        };
        // The pointer to `.eh_frame` comes first, in four bytes in every encoding that linkers write.
        let format = dw::DwEhPe(frame_encoding & 0x0f);
        let pointer_is_four_bytes = matches!(format, dw::DW_EH_PE_udata4 | dw::DW_EH_PE_sdata4);
        if version != 1
            || !pointer_is_four_bytes
            || count_encoding != dw::DW_EH_PE_udata4.0
            || table_encoding != DATAREL_SDATA4
        {
            return None;
        }
        let count = word(header, 8, little_endian)? as usize;
        let len = count.checked_mul(PAIR).filter(|&len| len <= header.len() - 12)?;
        let start = range.start + 12;
        Some(Self {
            pairs: start..start + len,
            svma: svma.0,
            frame_svma: frame_svma.0,
            little_endian,
        })
    }

    /// Number of listed descriptions.
    pub(crate) const fn len(&self) -> usize {
        (self.pairs.end - self.pairs.start) / PAIR
    }

    /// Returns the start of a listed description's code, and the description's offset in `.eh_frame`.
    pub(crate) fn entry(&self, file: &[u8], index: usize) -> Option<(Svma, usize)> {
        let pairs = file.get(self.pairs.clone())?;
        let number = |at| Some(i64::from(word(pairs, at, self.little_endian)? as i32));
        let start = self.svma.wrapping_add_signed(number(index * PAIR)?);
        let fde = self.svma.wrapping_add_signed(number(index * PAIR + 4)?);
        Some((Svma(start), usize::try_from(fde.wrapping_sub(self.frame_svma)).ok()?))
    }

    /// Returns the offset in `.eh_frame` of the last description that begins at or below an address.
    pub(crate) fn lookup(&self, file: &[u8], svma: Svma) -> Option<usize> {
        let pairs = file.get(self.pairs.clone())?;
        let wanted = i32::try_from(svma.0.wrapping_sub(self.svma) as i64).ok()?;
        let start_at =
            |index: usize| word(pairs, index * PAIR, self.little_endian).map(|word| word as i32);
        let (mut low, mut high) = (0, pairs.len() / PAIR);
        while low < high {
            let middle = low + (high - low) / 2;
            if start_at(middle)? <= wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let pair = low.checked_sub(1)? * PAIR;
        let fde = i64::from(word(pairs, pair + 4, self.little_endian)? as i32);
        usize::try_from(self.svma.wrapping_add_signed(fde).wrapping_sub(self.frame_svma)).ok()
    }
}

/// All descriptions of a section by address.
#[derive(Debug, Default)]
pub(crate) struct FdeIndex {
    /// Start, end, offset in the section; sorted by start.
    entries: Vec<(u64, u64, usize)>,
}

impl FdeIndex {
    /// Reads the whole section. A terminator does not end it: `ld -r` leaves terminators of linked objects in the
    /// middle. Damaged entries are skipped.
    pub(crate) fn new<'a, S>(section: &S, bases: &BaseAddresses) -> Self
    where
        S: UnwindSection<CfiBytes<'a>>,
        S::Offset: From<usize>,
    {
        let bytes = section.section().slice();
        let little_endian = section.section().endian() == gimli::RunTimeEndian::Little;
        let mut found = Vec::new();
        for (offset, _) in entries(bytes, little_endian) {
            // Other entries (CIEs) do not parse as descriptions.
            if let Ok(fde) = fde_at(section, bases, offset)
                && fde.len() != 0
                && fde.initial_address() != 0
            {
                found.push((fde.initial_address(), fde.end_address(), offset));
            }
        }
        found.sort_unstable();
        Self { entries: found }
    }

    /// Returns the offset of the description that covers an address; if several overlap, the one that begins last.
    pub(crate) fn lookup(&self, svma: Svma) -> Option<usize> {
        const OVERLAPS: usize = 8;
        let end = self.entries.partition_point(|&(start, ..)| start <= svma.0);
        let candidates = self.entries.get(end.saturating_sub(OVERLAPS)..end)?;
        candidates.iter().rev().find(|&&(_, end, _)| svma.0 < end).map(|&(.., offset)| offset)
    }
}
