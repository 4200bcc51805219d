//! Units: their headers, and the attributes of their roots.
//!
//! Source: DWARF 5, 7.5.1 "Unit Headers", 3.1 "Unit Entries"; GNU split DWARF 4.

use std::ops::Range;

use budget::{Allowance, Exhausted};
use gimli::constants as dw;
use gimli::{DwTag, DwUt};

use crate::bytes::ByteCursor;
use crate::dwarf::form::{Encoding, FormValue};
use crate::dwarf::roots::RootAbbrevs;

/// A unit of `.debug_info`.
#[derive(Clone, Debug)]
pub(crate) struct Unit<'a> {
    /// Offset of its header in the section.
    pub(crate) offset: usize,
    /// Offset of its first entry in the section.
    pub(crate) entries: usize,
    /// Offset past its end in the section.
    pub(crate) end: usize,
    pub(crate) encoding: Encoding,
    pub(crate) abbrev_offset: u64,
    /// Index of its abbreviation table in the file.
    pub(crate) table: u32,
    /// Tag of the root.
    pub(crate) tag: DwTag,
    pub(crate) root: UnitRoot<'a>,
    /// Added to the offsets of range lists; 0 except in a split unit of DWARF 4.
    pub(crate) ranges_base: u64,
}

/// The attributes of a unit's root, undecoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitRoot<'a> {
    pub(crate) name: Option<FormValue<'a>>,
    pub(crate) comp_dir: Option<FormValue<'a>>,
    pub(crate) low_pc: Option<FormValue<'a>>,
    pub(crate) high_pc: Option<FormValue<'a>>,
    pub(crate) ranges: Option<FormValue<'a>>,
    pub(crate) line_program: Option<u64>,
    pub(crate) str_offsets_base: Option<u64>,
    pub(crate) addr_base: Option<u64>,
    pub(crate) rnglists_base: Option<u64>,
    /// `DW_AT_GNU_ranges_base`, which a skeleton of DWARF 4 states for its split unit.
    pub(crate) gnu_ranges_base: Option<u64>,
    pub(crate) dwo_name: Option<FormValue<'a>>,
    pub(crate) dwo_id: Option<u64>,
    /// `DW_LANG_…`.
    pub(crate) language: Option<u64>,
}

/// The units of a section, and its damage.
#[derive(Default)]
pub(crate) struct UnitList<'a> {
    pub(crate) units: Vec<Unit<'a>>,
    /// Offset at which reading failed.
    pub(crate) damage: Option<u64>,
    /// Offsets of the units with a readable length only.
    pub(crate) bad_units: Vec<u64>,
    /// The limit that was exceeded before the end.
    pub(crate) exhausted: Option<Exhausted>,
}

/// Reads the units of a section. Each takes `UNIT_COST` of `entries`, so their number is bounded by the size.
pub(crate) fn read_units<'a>(
    info: &'a [u8],
    mut roots: RootAbbrevs<'_>,
    mut entries: Allowance,
    big_endian: bool,
) -> UnitList<'a> {
    let mut list = UnitList::default();
    let mut at = 0;
    let mut gap = None;
    while at < info.len() {
        let Some((cursor, end, offset_size)) = unit_extent(info, at, big_endian) else {
            list.damage = Some(at as u64);
            break;
        };
        // Linkers fill gaps with zeros, which read as units of length 0.
        let is_empty = cursor.at() == end;
        let gap_from = *gap.get_or_insert(at);
        if !is_empty {
            gap = None;
        } else if end - gap_from > LARGEST_GAP && list.bad_units.last() != Some(&(gap_from as u64))
        {
            list.bad_units.push(gap_from as u64);
        }
        let unit = entries.take(if is_empty { 0 } else { UNIT_COST });
        match unit.and_then(|()| read_unit(cursor, &mut roots, at..end, offset_size)) {
            Ok(Some(unit)) => list.units.push(unit),
            Ok(None) if is_empty => {}
            Ok(None) => list.bad_units.push(at as u64),
            Err(exhausted) => {
                list.exhausted = Some(exhausted);
                break;
            }
        }
        at = end;
    }
    list
}

/// Largest gap of zeros between units, in bytes; more zeros are overwritten units.
const LARGEST_GAP: usize = 64;

/// Number of entries that a unit counts as. The smallest useful unit has about forty bytes.
const UNIT_COST: u64 = 32;

/// The part of a unit before its root.
struct UnitHeader {
    encoding: Encoding,
    abbrev_offset: u64,
    dwo_id: Option<u64>,
}

/// Reads a unit; the cursor is past its length. `None` if the version is unknown or the root cannot be read.
fn read_unit<'a>(
    mut cursor: ByteCursor<'a>,
    roots: &mut RootAbbrevs<'_>,
    Range { start: offset, end }: Range<usize>,
    offset_size: u8,
) -> Result<Option<Unit<'a>>, Exhausted> {
    let Some(header) = read_header(&mut cursor, offset_size) else { return Ok(None) };
    let UnitHeader { encoding, abbrev_offset, dwo_id } = header;
    let entries = cursor.at();
    let root = read_root(&mut cursor, roots, abbrev_offset, encoding)?;
    Ok(root.map(|(tag, mut root)| {
        root.dwo_id = dwo_id.or(root.dwo_id);
        let (table, ranges_base) = (0, 0);
        Unit { offset, entries, end, encoding, abbrev_offset, table, tag, root, ranges_base }
    }))
}

/// Reads the length of a unit. Returns a cursor past it that is limited to the unit, the unit's end, and the size of
/// offsets.
/// `None` if the length is invalid.
fn unit_extent(info: &[u8], at: usize, big: bool) -> Option<(ByteCursor<'_>, usize, u8)> {
    let mut cursor = ByteCursor::new(info, at, big);
    let (length, offset_size) = match cursor.u32()? {
        0xffff_ffff => (cursor.u64()?, 8),
        short => (u64::from(short), 4),
    };
    let end = usize::try_from(length).ok()?.checked_add(cursor.at())?;
    // The last unit of a truncated file is not read, because its contents would be guesses.
    Some((ByteCursor::new(info.get(..end)?, cursor.at(), big), end, offset_size))
}

/// Reads the header of a unit. Source: DWARF 5, 7.5.1.
fn read_header(cursor: &mut ByteCursor<'_>, offset_size: u8) -> Option<UnitHeader> {
    let version = cursor.u16()?;
    let (address_size, abbrev_offset, dwo_id);
    match version {
        2..=4 => {
            abbrev_offset = cursor.uint(offset_size)?;
            address_size = cursor.u8()?;
            dwo_id = None;
        }
        5 => {
            let kind = DwUt(cursor.u8()?);
            address_size = cursor.u8()?;
            abbrev_offset = cursor.uint(offset_size)?;
            dwo_id = matches!(kind, dw::DW_UT_skeleton | dw::DW_UT_split_compile)
                .then(|| cursor.u64())
                .flatten();
            if matches!(kind, dw::DW_UT_type | dw::DW_UT_split_type) {
                cursor.skip(8 + u64::from(offset_size))?;
            }
        }
        _ => return None,
    }
    let encoding = Encoding { version, address_size, offset_size };
    matches!(address_size, 2 | 4 | 8).then_some(UnitHeader { encoding, abbrev_offset, dwo_id })
}

/// Reads the tag of a unit's root, and its wanted attributes.
fn read_root<'a>(
    cursor: &mut ByteCursor<'a>,
    roots: &mut RootAbbrevs<'_>,
    offset: u64,
    encoding: Encoding,
) -> Result<Option<(DwTag, UnitRoot<'a>)>, Exhausted> {
    let mut root = UnitRoot::default();
    let tag = roots.read(cursor, offset, encoding, |name, value| match name {
        dw::DW_AT_name => root.name = Some(value),
        dw::DW_AT_stmt_list => root.line_program = value.section_offset(),
        dw::DW_AT_low_pc => root.low_pc = Some(value),
        dw::DW_AT_high_pc => root.high_pc = Some(value),
        dw::DW_AT_language => root.language = value.number(),
        dw::DW_AT_comp_dir => root.comp_dir = Some(value),
        dw::DW_AT_ranges => root.ranges = Some(value),
        dw::DW_AT_str_offsets_base => root.str_offsets_base = value.section_offset(),
        dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base => root.addr_base = value.section_offset(),
        dw::DW_AT_rnglists_base => root.rnglists_base = value.section_offset(),
        dw::DW_AT_dwo_name | dw::DW_AT_GNU_dwo_name => root.dwo_name = Some(value),
        dw::DW_AT_GNU_dwo_id => root.dwo_id = value.number(),
        dw::DW_AT_GNU_ranges_base => root.gnu_ranges_base = value.section_offset(),
        _ => {}
    })?;
    Ok(tag.map(|tag| (tag, root)))
}
