//! The address ranges of an entry, without those of code that the linker discarded.
//!
//! Source: DWARF 5, 2.17 "Code Addresses, Ranges and Base Addresses", 7.25 and 7.28 "Range List Table"; lld and gold
//! write 0, 1, -1 or -2 as the address of discarded code.

use gimli::{
    DebugAddr, DebugAddrBase, DebugRanges, DebugRngLists, DebugRngListsBase, DebugRngListsIndex,
    RangeLists, RangeListsOffset,
};

use crate::dwarf::file::{DwarfFile, Slice};
use crate::dwarf::form::FormValue;
use crate::dwarf::unit::Unit;

/// The attributes with the code addresses of an entry.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Pcs<'a> {
    pub(crate) low: Option<FormValue<'a>>,
    pub(crate) high: Option<FormValue<'a>>,
    pub(crate) ranges: Option<FormValue<'a>>,
}

impl Pcs<'_> {
    pub(crate) const fn is_empty(&self) -> bool {
        self.low.is_none() && self.ranges.is_none()
    }
}

/// Calls `give` with each range until it returns false. `None` if the list is damaged.
pub(crate) fn each_range(
    file: &DwarfFile<'_>,
    unit: &Unit<'_>,
    pcs: &Pcs<'_>,
    mut give: impl FnMut(u64, u64) -> bool,
) -> Option<()> {
    if let Some(ranges) = pcs.ranges {
        return each_of_list(file, unit, ranges, give);
    }
    let (Some(low), Some(high)) = (pcs.low, pcs.high) else { return Some(()) };
    let start = file.address(unit, low)?;
    // Since DWARF 4, a constant is an offset from the start.
    let end = match high.number() {
        Some(size) => start.checked_add(size)?,
        None => file.address(unit, high)?,
    };
    if is_alive(unit, start, end) {
        give(start, end);
    }
    Some(())
}

fn each_of_list(
    file: &DwarfFile<'_>,
    unit: &Unit<'_>,
    list: FormValue<'_>,
    mut give: impl FnMut(u64, u64) -> bool,
) -> Option<()> {
    let sections = file.sections;
    let endian = sections.endian();
    let lists = RangeLists::<Slice<'_>>::new(
        DebugRanges::new(&sections.ranges, endian),
        DebugRngLists::new(&sections.rnglists, endian),
    );
    let encoding = gimli::Encoding {
        address_size: unit.encoding.address_size,
        format: if unit.encoding.offset_size == 8 {
            gimli::Format::Dwarf64
        } else {
            gimli::Format::Dwarf32
        },
        version: unit.encoding.version,
    };
    let offset = match list {
        FormValue::ListIndex(index) => {
            let base =
                DebugRngListsBase(usize::try_from(unit.root.rnglists_base.unwrap_or(0)).ok()?);
            lists
                .get_offset(encoding, base, DebugRngListsIndex(usize::try_from(index).ok()?))
                .ok()?
        }
        other => RangeListsOffset(
            usize::try_from(other.section_offset()?.checked_add(unit.ranges_base)?).ok()?,
        ),
    };
    let base = match unit.root.low_pc {
        Some(low) => file.address(unit, low)?,
        None => 0,
    };
    let addr = DebugAddr::from(Slice::new(&sections.addr, endian));
    let addr_base = DebugAddrBase(usize::try_from(unit.root.addr_base.unwrap_or(0)).ok()?);
    // Producers write no DWARF 5 list without ranges, even for code that is discarded later.
    if encoding.version >= 5 {
        lists.raw_ranges(offset, encoding).ok()?.next().ok()??;
    }
    let mut iter = lists.ranges(offset, encoding, base, &addr, addr_base).ok()?;
    while let Some(range) = iter.next().ok()? {
        if is_alive(unit, range.begin, range.end) && !give(range.begin, range.end) {
            break;
        }
    }
    Some(())
}

/// Returns true if the range is not empty and its code was not discarded.
fn is_alive(unit: &Unit<'_>, start: u64, end: u64) -> bool {
    start < end && !is_tombstone(unit.encoding.address_size, start)
}

/// Returns true if an address marks discarded code. No code is at 0 or 1.
pub(crate) const fn is_tombstone(address_size: u8, address: u64) -> bool {
    let max = if address_size >= 8 { u64::MAX } else { (1 << (address_size as u32 * 8)) - 1 };
    address <= 1 || address >= max - 1
}
