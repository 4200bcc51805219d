//! Split DWARF: units with their entries in a `.dwo` file, or together with other units in a `.dwp` file.
//!
//! The skeleton unit in the linked file has the line program, the addresses and (in DWARF 4) the range lists.
//!
//! Source: DWARF 5, 3.1.2 "Skeleton Compilation Unit Entries", 7.3.5 "DWARF Package Files"; for DWARF 4 the GNU
//! extension of the same shape.

use std::borrow::Cow;
use std::path::Path;

use budget::{Budget, HeldMemory};
use gimli::{DebugCuIndex, IndexSectionId};
use image_store::Image;

use crate::dwarf::file::{DwarfFile, DwarfSections};
use crate::dwarf::unit::Unit;

/// The sections of a `.dwo` or `.dwp` file.
pub(crate) struct SplitImage<'a> {
    path: &'a Path,
    sections: DwarfSections<'a>,
    /// `.debug_cu_index`; only packages have one.
    index: Cow<'a, [u8]>,
}

impl<'a> SplitImage<'a> {
    pub(crate) fn load(image: &'a Image) -> Option<Self> {
        let index =
            image.section(".debug_cu_index").and_then(|section| image.section_data(section).ok());
        Some(Self {
            path: image.path(),
            sections: DwarfSections::load(image, true)?,
            index: index.unwrap_or_default(),
        })
    }

    /// The file.
    pub(crate) const fn path(&self) -> &'a Path {
        self.path
    }

    /// Size of its entries, in bytes.
    pub(crate) fn entries_size(&self) -> u64 {
        self.sections.info.len() as u64
    }

    /// Size of its strings and entries, in bytes.
    pub(crate) fn strings_size(&self) -> u64 {
        (self.sections.info.len() + self.sections.str.len()) as u64
    }

    /// File offsets of unreadable sections.
    pub(crate) fn damage(&self) -> &[u64] {
        &self.sections.damage
    }

    /// Returns the sections of the unit `id`, completed by those of the linked file.
    pub(crate) fn sections_of<'s>(
        &'s self,
        id: u64,
        main: &'s DwarfSections<'_>,
    ) -> Option<DwarfSections<'s>> {
        let own = &self.sections;
        let mut seen = DwarfSections {
            info: Cow::Borrowed(&own.info),
            abbrev: Cow::Borrowed(&own.abbrev),
            str: Cow::Borrowed(&own.str),
            str_offsets: Cow::Borrowed(&own.str_offsets),
            line: Cow::default(),
            line_str: Cow::default(),
            ranges: Cow::Borrowed(&main.ranges),
            rnglists: Cow::Borrowed(&own.rnglists),
            addr: Cow::Borrowed(&main.addr),
            big_endian: own.big_endian,
            damage: Vec::new(),
        };
        if self.index.is_empty() {
            return Some(seen);
        }
        let index = DebugCuIndex::new(&self.index, own.endian()).index().ok()?;
        for part in index.sections(index.find(id)?).ok()? {
            let section = match part.section {
                IndexSectionId::DebugInfo => &mut seen.info,
                IndexSectionId::DebugAbbrev => &mut seen.abbrev,
                IndexSectionId::DebugStrOffsets => &mut seen.str_offsets,
                IndexSectionId::DebugRngLists => &mut seen.rnglists,
                _ => continue,
            };
            let start = part.offset as usize;
            let Cow::Borrowed(whole) = *section else { return None };
            *section = Cow::Borrowed(whole.get(start..start.checked_add(part.size as usize)?)?);
        }
        Some(seen)
    }
}

/// Returns the id that skeleton and split unit share; `None` if the unit's own file has its entries.
pub(crate) fn split_id(unit: &Unit<'_>) -> Option<u64> {
    unit.root.dwo_id.filter(|_| unit.root.dwo_name.is_some())
}

/// Reads the units of a split file, and completes them by attributes of `skeleton`.
pub(crate) fn split_file<'s>(
    sections: &'s DwarfSections<'s>,
    skeleton: &Unit<'s>,
    id: u64,
    budget: &Budget,
    held: &HeldMemory,
) -> DwarfFile<'s> {
    let mut file = DwarfFile::new(sections, budget, held);
    for unit in &mut file.units {
        let root = &mut unit.root;
        let (offset_size, version) = (u64::from(unit.encoding.offset_size), unit.encoding.version);
        // The base is after the header of a contribution; DWARF 4 has no header.
        let headers = if version >= 5 { (2 * offset_size, 8 + offset_size) } else { (0, 0) };
        root.str_offsets_base = root.str_offsets_base.or(Some(headers.0));
        root.rnglists_base = root.rnglists_base.or(Some(headers.1));
        root.addr_base = skeleton.root.addr_base;
        root.low_pc = skeleton.root.low_pc;
        unit.ranges_base = skeleton.root.gnu_ranges_base.unwrap_or(0);
    }
    // A package's slice has one unit; a `.dwo` file may also have type units. A unit with another id is from another
    // build.
    file.main_unit =
        file.units.iter().position(|unit| unit.root.dwo_id == Some(id)).or_else(|| {
            file.units.iter().position(|unit| {
                unit.root.dwo_id.is_none() && unit.tag == gimli::DW_TAG_compile_unit
            })
        });
    file
}
