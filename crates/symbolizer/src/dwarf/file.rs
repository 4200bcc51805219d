//! The DWARF sections of one file, its units, and what needs several sections: strings, addresses, ranges.

use std::borrow::Cow;
use std::sync::OnceLock;

use gimli::{EndianSlice, RunTimeEndian};
use hashbrown::HashMap;
use module_map::Image;
use rayon::prelude::*;

use crate::bytes::{ByteCursor, c_string_at};
use crate::dwarf::abbrev::Abbrevs;
use crate::dwarf::form::{Encoding, Value};
use crate::dwarf::unit::{Unit, read_units};

pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Raw sections.
#[derive(Default)]
pub(crate) struct DwarfSections<'a> {
    pub(crate) info: Cow<'a, [u8]>,
    pub(crate) abbrev: Cow<'a, [u8]>,
    pub(crate) str: Cow<'a, [u8]>,
    pub(crate) str_offsets: Cow<'a, [u8]>,
    pub(crate) line: Cow<'a, [u8]>,
    pub(crate) line_str: Cow<'a, [u8]>,
    pub(crate) ranges: Cow<'a, [u8]>,
    pub(crate) rnglists: Cow<'a, [u8]>,
    pub(crate) addr: Cow<'a, [u8]>,
    pub(crate) big_endian: bool,
    /// Offsets in the file of sections that could not be read.
    pub(crate) damage: Vec<u64>,
}

/// The sections that are read, in the order of the fields of [`DwarfSections`].
const NAMES: [&str; 9] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_str",
    ".debug_str_offsets",
    ".debug_line",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_addr",
];

/// Unpacks what [`DwarfSections::load`] will ask for; whether it will find anything.
pub(crate) fn prefetch(image: &Image) -> bool {
    let found = image.section(".debug_info").is_some();
    if found {
        let sections = NAMES.iter().filter_map(|name| image.section(name));
        sections.for_each(|section| section.unpack_early(image));
    }
    found
}

impl<'a> DwarfSections<'a> {
    /// Reads (and unpacks, in parallel) the sections of an image, or with `split` those of a `.dwo` file. `None`
    /// where it has no `.debug_info`.
    pub(crate) fn load(image: &'a Image, split: bool) -> Option<Self> {
        let named = |name: &str| {
            if split { image.section(&format!("{name}.dwo")) } else { image.section(name) }
        };
        named(".debug_info")?;
        let load = |name: &&str| {
            let Some(section) = named(name) else { return (Cow::default(), None) };
            match image.section_data(section) {
                Ok(data) => (data, None),
                Err(_) => (Cow::default(), Some(section.offset().0)),
            }
        };
        let mut loaded: Vec<_> = NAMES.par_iter().map(load).collect();
        let damage = loaded.iter().filter_map(|(_, damage)| *damage).collect();
        let mut take = |index: usize| {
            loaded.get_mut(index).map(|(data, _)| std::mem::take(data)).unwrap_or_default()
        };
        Some(Self {
            info: take(0),
            abbrev: take(1),
            str: take(2),
            str_offsets: take(3),
            line: take(4),
            line_str: take(5),
            ranges: take(6),
            rnglists: take(7),
            addr: take(8),
            big_endian: !image.is_little_endian(),
            damage,
        })
    }

    /// For the decoders of gimli.
    pub(crate) fn endian(&self) -> RunTimeEndian {
        if self.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little }
    }
}

/// The units of a file and its abbreviation tables, which are compiled when they are first needed.
pub(crate) struct DwarfFile<'s> {
    pub(crate) sections: &'s DwarfSections<'s>,
    pub(crate) units: Vec<Unit<'s>>,
    tables: Vec<OnceLock<Abbrevs>>,
    /// In a split file, the unit that was looked for.
    pub(crate) main_unit: Option<usize>,
    /// Where a unit's header could not be read.
    pub(crate) damage: Option<u64>,
}

impl<'s> DwarfFile<'s> {
    pub(crate) fn new(sections: &'s DwarfSections<'s>) -> Self {
        let (mut units, damage) = read_units(&sections.info, &sections.abbrev, sections.big_endian);
        let mut numbers: HashMap<(u64, Encoding), u32> = HashMap::new();
        for unit in &mut units {
            let next = numbers.len() as u32;
            unit.table = *numbers.entry((unit.abbrev_offset, unit.encoding)).or_insert(next);
        }
        let tables = numbers.iter().map(|_| OnceLock::new()).collect();
        Self { sections, units, tables, main_unit: None, damage }
    }

    /// The abbreviations of a unit.
    pub(crate) fn abbrevs(&self, unit: &Unit<'_>) -> Option<&Abbrevs> {
        let table = self.tables.get(unit.table as usize)?;
        Some(table.get_or_init(|| {
            Abbrevs::parse(&self.sections.abbrev, unit.abbrev_offset, unit.encoding)
        }))
    }

    /// The unit that holds the entry at an offset of `.debug_info`.
    pub(crate) fn unit_at(&self, offset: usize) -> Option<&Unit<'s>> {
        let next = self.units.partition_point(|unit| unit.offset <= offset);
        self.units
            .get(next.checked_sub(1)?)
            .filter(|unit| unit.entries <= offset && offset < unit.end)
    }

    /// The bytes of a string attribute; those of a supplementary file are looked up in `alt`.
    pub(crate) fn string<'v: 'r, 'r>(
        &'r self,
        unit: &Unit<'_>,
        value: Value<'v>,
        alt: Option<&'r Self>,
    ) -> Option<&'r [u8]> {
        match value {
            Value::String(string) => Some(string),
            Value::Str(offset) => c_string_at(&self.sections.str, offset),
            Value::LineStr(offset) => c_string_at(&self.sections.line_str, offset),
            Value::AltStr(offset) => c_string_at(&alt?.sections.str, offset),
            Value::StrIndex(index) => {
                let size = unit.encoding.offset_size;
                let base = unit.root.str_offsets_base.unwrap_or(0);
                let at = index.checked_mul(size.into())?.checked_add(base)?;
                let mut cursor = ByteCursor::new(
                    &self.sections.str_offsets,
                    usize::try_from(at).ok()?,
                    self.sections.big_endian,
                );
                c_string_at(&self.sections.str, cursor.uint(size)?)
            }
            _ => None,
        }
    }

    /// An address attribute.
    pub(crate) fn address(&self, unit: &Unit<'_>, value: Value<'_>) -> Option<u64> {
        match value {
            Value::Address(address) => Some(address),
            Value::AddressIndex(index) => {
                let size = unit.encoding.address_size;
                let at = index
                    .checked_mul(size.into())?
                    .checked_add(unit.root.addr_base.unwrap_or(0))?;
                ByteCursor::new(
                    &self.sections.addr,
                    usize::try_from(at).ok()?,
                    self.sections.big_endian,
                )
                .uint(size)
            }
            _ => None,
        }
    }
}
