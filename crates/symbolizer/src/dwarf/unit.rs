//! Units: their headers, and the attributes of their roots.
//!
//! Source: DWARF 5, 7.5.1 "Unit Headers", 3.1 "Unit Entries"; GNU split DWARF 4.

use gimli::constants as dw;
use gimli::{DwTag, DwUt};

use crate::bytes::ByteCursor;
use crate::dwarf::abbrev::{find, next_spec};
use crate::dwarf::form::{self, Encoding, Value};

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
    /// Which of the file's abbreviation tables.
    pub(crate) table: u32,
    /// What the root is.
    pub(crate) tag: DwTag,
    pub(crate) root: UnitRoot<'a>,
    /// Added to the offsets of range lists: 0 but in a split unit of DWARF 4.
    pub(crate) ranges_base: u64,
}

/// The attributes of a unit's root, as they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitRoot<'a> {
    pub(crate) name: Option<Value<'a>>,
    pub(crate) comp_dir: Option<Value<'a>>,
    pub(crate) low_pc: Option<Value<'a>>,
    pub(crate) high_pc: Option<Value<'a>>,
    pub(crate) ranges: Option<Value<'a>>,
    pub(crate) line_program: Option<u64>,
    pub(crate) str_offsets_base: Option<u64>,
    pub(crate) addr_base: Option<u64>,
    pub(crate) rnglists_base: Option<u64>,
    /// `DW_AT_GNU_ranges_base`, which a skeleton of DWARF 4 states for its split unit.
    pub(crate) gnu_ranges_base: Option<u64>,
    pub(crate) dwo_name: Option<Value<'a>>,
    pub(crate) dwo_id: Option<u64>,
}

/// The units of a section, and where reading failed.
pub(crate) fn read_units<'a>(
    info: &'a [u8],
    abbrev: &'a [u8],
    big_endian: bool,
) -> (Vec<Unit<'a>>, Option<u64>) {
    let mut units = Vec::new();
    let mut at = 0;
    while at < info.len() {
        let Some((end, unit)) = read_unit(info, abbrev, at, big_endian) else {
            return (units, Some(at as u64));
        };
        units.extend(unit);
        at = end;
    }
    (units, None)
}

/// The end of the unit at `at`, and the unit, where it is of a version that is known and has a root.
fn read_unit<'a>(
    info: &'a [u8],
    abbrev: &'a [u8],
    at: usize,
    big: bool,
) -> Option<(usize, Option<Unit<'a>>)> {
    let mut cursor = ByteCursor::new(info, at, big);
    let (length, offset_size) = match cursor.u32()? {
        0xffff_ffff => (cursor.u64()?, 8),
        short => (u64::from(short), 4),
    };
    let end = usize::try_from(length).ok()?.checked_add(cursor.at())?;
    // The last unit of a cut file is not read: its contents would be guesses.
    let mut cursor = ByteCursor::new(info.get(..end)?, cursor.at(), big);
    let mut unit = || {
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
        if !matches!(address_size, 2 | 4 | 8) {
            return None;
        }
        let encoding = Encoding { version, address_size, offset_size };
        let entries = cursor.at();
        let (tag, mut root) = read_root(&mut cursor, abbrev, abbrev_offset, encoding)?;
        root.dwo_id = dwo_id.or(root.dwo_id);
        Some(Unit {
            offset: at,
            entries,
            end,
            encoding,
            abbrev_offset,
            table: 0,
            tag,
            root,
            ranges_base: 0,
        })
    };
    Some((end, unit()))
}

/// The tag of a unit's root, and those of its attributes that are of use.
fn read_root<'a>(
    cursor: &mut ByteCursor<'a>,
    abbrev: &[u8],
    offset: u64,
    encoding: Encoding,
) -> Option<(DwTag, UnitRoot<'a>)> {
    let code = cursor.uleb()?;
    let (tag, mut specs) = find(abbrev, offset, code)?;
    let mut root = UnitRoot::default();
    while let Some(spec) = next_spec(&mut specs)? {
        let value = form::read(cursor, spec, encoding)?;
        match spec.name {
            dw::DW_AT_name => root.name = Some(value),
            dw::DW_AT_stmt_list => root.line_program = value.section_offset(),
            dw::DW_AT_low_pc => root.low_pc = Some(value),
            dw::DW_AT_high_pc => root.high_pc = Some(value),
            dw::DW_AT_comp_dir => root.comp_dir = Some(value),
            dw::DW_AT_ranges => root.ranges = Some(value),
            dw::DW_AT_str_offsets_base => root.str_offsets_base = value.section_offset(),
            dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base => {
                root.addr_base = value.section_offset()
            }
            dw::DW_AT_rnglists_base => root.rnglists_base = value.section_offset(),
            dw::DW_AT_dwo_name | dw::DW_AT_GNU_dwo_name => root.dwo_name = Some(value),
            dw::DW_AT_GNU_dwo_id => root.dwo_id = value.number(),
            dw::DW_AT_GNU_ranges_base => root.gnu_ranges_base = value.section_offset(),
            _ => {}
        }
    }
    Some((tag, root))
}
