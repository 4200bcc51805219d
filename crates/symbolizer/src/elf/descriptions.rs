//! Limits on functions from call frame information: the end of a function's own description, and the start of the next
//! one.
//! They bound symbols without a size.
//!
//! Only the table of `.eh_frame_hdr` in its usual encoding is read, which all linkers write. Without it there are no
//! such limits.

use std::borrow::Cow;
use std::cell::OnceCell;

use gimli::{
    BaseAddresses, EhFrame, EhFrameOffset, EndianSlice, RunTimeEndian, UnwindSection as _,
};
use image_store::Image;

use crate::bytes::ByteCursor;

/// Version 1, any pointer of four bytes, a count of four bytes, and signed four-byte offsets from the header.
///
/// Source: LSB core, `.eh_frame_hdr`; `DW_EH_PE_udata4`, `DW_EH_PE_datarel | DW_EH_PE_sdata4`.
const COUNT_ENCODING: u8 = 0x03;
const TABLE_ENCODING: u8 = 0x3b;
const TABLE: usize = 12;
const PAIR: usize = 8;
/// Limit on the length of a CIE, in bytes. Compilers write about 20, and it is read again for every symbol without a
/// size.
const MAX_CIE: u32 = 1 << 10;

/// The frame descriptions of a file, located on first use.
pub(crate) struct Descriptions<'a> {
    image: &'a Image,
    found: OnceCell<Option<FrameTable<'a>>>,
}

struct FrameTable<'a> {
    /// The section `.eh_frame_hdr`, and its address.
    header: Cow<'a, [u8]>,
    address: u64,
    /// The section `.eh_frame`, and its address.
    frames: Cow<'a, [u8]>,
    bases: BaseAddresses,
    frames_address: u64,
    /// Number of pairs in the header.
    count: usize,
    big_endian: bool,
    address_size: u8,
}

impl<'a> Descriptions<'a> {
    pub(crate) const fn of(image: &'a Image) -> Self {
        Self { image, found: OnceCell::new() }
    }

    /// Returns the first file address after `start` that cannot belong to the function at `start`.
    pub(crate) fn end(&self, start: u64) -> Option<u64> {
        let table = self.found.get_or_init(|| FrameTable::find(self.image)).as_ref()?;
        let next = table.first_after(start);
        let own = next.checked_sub(1).and_then(|own| table.range(own));
        let own = own.filter(|own| own.0 <= start && start < own.1).map(|own| own.1);
        // A damaged table may be unsorted.
        let next = table.start(next).filter(|&next| next > start);
        own.into_iter().chain(next).min()
    }
}

impl<'a> FrameTable<'a> {
    fn find(image: &'a Image) -> Option<Self> {
        let section = |name: &str| {
            let section = image.section(name).filter(|section| section.has_bytes())?;
            Some((image.section_data(section).ok()?, section.svma.0))
        };
        let (header, address) = section(".eh_frame_hdr")?;
        let (frames, frames_address) = section(".eh_frame")?;
        let big_endian = !image.is_little_endian();
        let &[1, pointer, COUNT_ENCODING, TABLE_ENCODING, ..] = &*header else { return None };
        let stated = ByteCursor::new(&header, 8, big_endian).u32()? as usize;
        // `DW_EH_PE_udata4` and `DW_EH_PE_sdata4`.
        let count = stated.min(header.len().checked_sub(TABLE)? / PAIR);
        let address_size = if image.bytes().get(4) == Some(&2) { 8 } else { 4 };
        let bases = BaseAddresses::default().set_eh_frame(frames_address).set_eh_frame_hdr(address);
        matches!(pointer & 0xf, 0x3 | 0xb).then_some(Self {
            header,
            address,
            frames,
            bases,
            frames_address,
            count,
            big_endian,
            address_size,
        })
    }

    /// Returns a word of a pair: the start of its function (`at` 0), or the address of its description (`at` 4).
    fn word(&self, pair: usize, at: usize) -> Option<u64> {
        let place = TABLE + pair * PAIR + at;
        let word = ByteCursor::new(&self.header, place, self.big_endian).u32()? as i32;
        Some(self.address.wrapping_add_signed(word.into()))
    }

    fn start(&self, pair: usize) -> Option<u64> {
        if pair < self.count { self.word(pair, 0) } else { None }
    }

    /// Returns the first pair with a function that begins after an address.
    fn first_after(&self, address: u64) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start(middle).is_some_and(|start| start <= address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the range of the description of a pair.
    fn range(&self, pair: usize) -> Option<(u64, u64)> {
        let offset = usize::try_from(self.word(pair, 4)?.checked_sub(self.frames_address)?).ok()?;
        let word = |at: usize| ByteCursor::new(&self.frames, at, self.big_endian).u32();
        let pointer = offset.checked_add(4)?;
        let common = pointer.checked_sub(word(pointer)? as usize)?;
        if word(common)? > MAX_CIE {
            return None;
        }
        let endian = if self.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
        let mut section = EhFrame::from(EndianSlice::new(&self.frames, endian));
        section.set_address_size(self.address_size);
        let common = |section: &EhFrame<_>, bases: &BaseAddresses, at: EhFrameOffset| {
            section.cie_from_offset(bases, at)
        };
        let found = section.fde_from_offset(&self.bases, EhFrameOffset(offset), common).ok()?;
        Some((found.initial_address(), found.end_address()))
    }
}
