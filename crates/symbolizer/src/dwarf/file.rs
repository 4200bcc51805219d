//! The DWARF sections of one file, its units, and access that needs several sections: strings, addresses, ranges.

use std::borrow::Cow;
use std::sync::OnceLock;

use budget::{Budget, HeldMemory, Resource};
use gimli::{EndianSlice, RunTimeEndian};
use hashbrown::HashMap;
use image_store::{Image, Section};
use rayon::prelude::*;

use crate::bytes::{ByteCursor, NameText};
use crate::dwarf::abbrev::{Abbrevs, describe_code};
use crate::dwarf::costs::FileCosts;
use crate::dwarf::form::{Encoding, FormValue};
use crate::dwarf::lines::header::{FileNames, FileTables, LineHeader};
use crate::dwarf::roots::RootAbbrevs;
use crate::dwarf::unit::{Unit, UnitList, read_units};

pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Contents of the sections.
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
    /// File offsets of unreadable sections.
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

/// Returns the sections that [`DwarfSections::load`] will read; `None` if there is no `.debug_info`.
pub(crate) fn sections_to_load(image: &Image) -> Option<Vec<&Section>> {
    image.section(".debug_info")?;
    Some(NAMES.iter().filter_map(|name| image.section(name)).collect())
}

impl<'a> DwarfSections<'a> {
    /// Reads and unpacks, in parallel, the sections of an image, or with `split` those of a `.dwo` file. `None` if
    /// there is no `.debug_info`.
    pub(crate) fn load(image: &'a Image, split: bool) -> Option<Self> {
        let named = |name: &str| {
            if split { image.section(&format!("{name}.dwo")) } else { image.section(name) }
        };
        named(".debug_info")?;
        let load = |name: &&str| {
            let Some(section) = named(name) else { return (Cow::default(), None) };
            match image.section_data(section) {
                Ok(data) if !is_overwritten(image, name, &data) => (data, None),
                _ => (Cow::default(), Some(section.offset().0)),
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

    /// Byte order for the decoders of gimli.
    pub(crate) fn endian(&self) -> RunTimeEndian {
        if self.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little }
    }
}

/// Returns true if a section has only zeros, like a hole in the file, and more of them than compilers write.
fn is_overwritten(image: &Image, name: &str, data: &[u8]) -> bool {
    let most = match name {
        ".debug_str" | ".debug_line_str" => 2,
        // Before relocation, addresses are zeros.
        ".debug_ranges" | ".debug_addr" if image.is_relocatable() => usize::MAX,
        // Lists of discarded code may be empty.
        ".debug_ranges" => 64,
        _ => 16,
    };
    data.len() > most && data.iter().all(|&byte| byte == 0)
}

/// The units of a file and its abbreviation tables, which are compiled on first use.
pub(crate) struct DwarfFile<'s> {
    pub(crate) sections: &'s DwarfSections<'s>,
    pub(crate) units: Vec<Unit<'s>>,
    tables: Vec<AbbrevTable>,
    /// In a split file, the requested unit.
    pub(crate) main_unit: Option<usize>,
    /// Offset of a unit with an unreadable length.
    pub(crate) damage: Option<u64>,
    /// Offsets of the units with a readable length only.
    pub(crate) bad_units: Vec<u64>,
    /// The resource that was exhausted before the last unit.
    pub(crate) exhausted: Option<Resource>,
    pub(crate) costs: FileCosts,
    /// Memory accounting for its tables, and parent of that for data made of it.
    pub(crate) held: HeldMemory,
    /// The line programs, by ascending offset.
    programs: OnceLock<Vec<LineProgram>>,
}

/// A line program of the file.
struct LineProgram {
    offset: u64,
    /// Its files, read when a declaration first needs them.
    files: OnceLock<Option<(FileTables, HeldMemory)>>,
}

/// A table of abbreviations, with the limit on its bytes.
struct AbbrevTable {
    offset: u64,
    allowed: u64,
    encoding: Encoding,
    compiled: OnceLock<(Abbrevs, HeldMemory)>,
    describes_code: OnceLock<bool>,
}

impl<'s> DwarfFile<'s> {
    /// Reads the units of the sections. `held` accounts for their memory.
    pub(crate) fn new(sections: &'s DwarfSections<'s>, budget: &Budget, held: &HeldMemory) -> Self {
        let costs = FileCosts::new(budget, sections);
        let roots = RootAbbrevs::new(&sections.abbrev, costs.whole(Resource::Abbreviations));
        let entries = costs.whole(Resource::DebugEntries);
        let UnitList { mut units, damage, bad_units, exhausted } =
            read_units(&sections.info, roots, entries, sections.big_endian);
        let tables = number_tables(&mut units, &costs, sections.abbrev.len() as u64);
        // Includes a line program for each unit.
        let bytes = units.capacity() * (size_of::<Unit<'_>>() + size_of::<LineProgram>())
            + tables.capacity() * size_of::<AbbrevTable>();
        Self {
            sections,
            units,
            tables,
            main_unit: None,
            damage,
            bad_units,
            exhausted: exhausted.map(|exhausted| exhausted.resource),
            costs,
            held: held.another(bytes as u64),
            programs: OnceLock::new(),
        }
    }

    /// Returns the abbreviations of a unit.
    pub(crate) fn abbrevs(&self, unit: &Unit<'_>) -> Option<&Abbrevs> {
        let AbbrevTable { offset, allowed, encoding, compiled, .. } =
            self.tables.get(unit.table as usize)?;
        let section = &self.sections.abbrev;
        let (abbrevs, _) = compiled.get_or_init(|| {
            let abbrevs = Abbrevs::parse(section, *offset, *allowed, *encoding);
            let held = self.held.another(abbrevs.heap_bytes() as u64);
            (abbrevs, held)
        });
        Some(abbrevs)
    }

    /// Returns true if entries of a unit can be functions with addresses.
    pub(crate) fn describes_code(&self, unit: &Unit<'_>) -> bool {
        let Some(table) = self.tables.get(unit.table as usize) else { return false };
        let section = &self.sections.abbrev;
        *table.describes_code.get_or_init(|| describe_code(section, table.offset, table.allowed))
    }

    /// Returns `.debug_line` up to the limit of the line program at `offset`. Programs do not overlap, except for the
    /// bytes that the budget has for that.
    pub(crate) fn line_section(&self, offset: u64) -> &'s [u8] {
        let programs = self.programs();
        let line: &'s [u8] = &self.sections.line;
        let next = programs.partition_point(|program| program.offset <= offset);
        let next = programs.get(next).map_or(u64::MAX, |program| program.offset);
        let overlap = self.costs.overlap(Resource::LineRows, programs.len());
        let end = usize::try_from(next.saturating_add(overlap)).unwrap_or(usize::MAX);
        line.get(..end.min(line.len())).unwrap_or(line)
    }

    fn programs(&self) -> &[LineProgram] {
        self.programs.get_or_init(|| {
            let mut all: Vec<u64> =
                self.units.iter().filter_map(|unit| unit.root.line_program).collect();
            all.sort_unstable();
            all.dedup();
            let program = |offset| LineProgram { offset, files: OnceLock::new() };
            all.into_iter().map(program).collect()
        })
    }

    /// Returns the files of a unit's line program, which is read once for all units that refer to it.
    pub(crate) fn file_names(&self, unit: &Unit<'_>) -> Option<FileNames<'_, 's>> {
        let program = unit.root.line_program?;
        let (section, big_endian) = (self.line_section(program), self.sections.big_endian);
        let programs = self.programs();
        let at = programs.binary_search_by_key(&program, |program| program.offset).ok()?;
        let files = programs.get(at)?.files.get_or_init(|| {
            let at = usize::try_from(program).ok()?;
            let size = unit.encoding.address_size;
            let tables = LineHeader::read(section, at, size, big_endian)?.tables;
            let held = self.held.another(tables.heap_bytes());
            Some((tables, held))
        });
        files.as_ref().map(|(tables, _)| tables.in_section(section, big_endian))
    }

    /// Returns the unit with the entry at an offset of `.debug_info`.
    pub(crate) fn unit_at(&self, offset: usize) -> Option<&Unit<'s>> {
        let next = self.units.partition_point(|unit| unit.offset <= offset);
        self.units
            .get(next.checked_sub(1)?)
            .filter(|unit| unit.entries <= offset && offset < unit.end)
    }

    /// Returns the string of an attribute; `alt` is the supplementary file.
    pub(crate) fn string<'v: 'r, 'r>(
        &'r self,
        unit: &Unit<'_>,
        value: FormValue<'v>,
        alt: Option<&'r Self>,
    ) -> Option<NameText<'r>> {
        match value {
            FormValue::String(string) => Some(NameText::whole(string)),
            FormValue::Str(offset) => NameText::at(&self.sections.str, offset),
            FormValue::LineStr(offset) => NameText::at(&self.sections.line_str, offset),
            FormValue::AltStr(offset) => NameText::at(&alt?.sections.str, offset),
            FormValue::StrIndex(index) => {
                let size = unit.encoding.offset_size;
                let base = unit.root.str_offsets_base.unwrap_or(0);
                let at = index.checked_mul(size.into())?.checked_add(base)?;
                let mut cursor = ByteCursor::new(
                    &self.sections.str_offsets,
                    usize::try_from(at).ok()?,
                    self.sections.big_endian,
                );
                NameText::at(&self.sections.str, cursor.uint(size)?)
            }
            _ => None,
        }
    }

    /// Returns the address of an attribute.
    pub(crate) fn address(&self, unit: &Unit<'_>, value: FormValue<'_>) -> Option<u64> {
        match value {
            FormValue::Address(address) => Some(address),
            FormValue::AddressIndex(index) => {
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

/// Assigns table numbers to the units. Tables do not overlap, so each may extend to the next one; the rest of the
/// budget is shared by all.
fn number_tables(units: &mut [Unit<'_>], costs: &FileCosts, size: u64) -> Vec<AbbrevTable> {
    let mut numbers: HashMap<(u64, Encoding), u32> = HashMap::new();
    let mut tables = Vec::new();
    for unit in units {
        let key = (unit.abbrev_offset, unit.encoding);
        unit.table = *numbers.entry(key).or_insert_with(|| {
            tables.push(key);
            tables.len() as u32 - 1
        });
    }
    let mut offsets: Vec<u64> = tables.iter().map(|&(offset, _)| offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let overlap = costs.overlap(Resource::Abbreviations, tables.len());
    let mut with_encodings: HashMap<u64, u32> = HashMap::new();
    let table = |(offset, encoding): (u64, Encoding)| {
        let next = offsets.partition_point(|&other| other <= offset);
        let own = offsets.get(next).copied().unwrap_or(size).saturating_sub(offset);
        // Units of two encodings, such as two versions, may share a table; more do not.
        let users = with_encodings.entry(offset).or_default();
        *users += 1;
        let own = if *users <= SHARED_TABLES { own } else { 0 };
        let (compiled, describes_code) = (OnceLock::new(), OnceLock::new());
        AbbrevTable {
            offset,
            allowed: own.saturating_add(overlap),
            encoding,
            compiled,
            describes_code,
        }
    };
    tables.into_iter().map(table).collect()
}

/// Limit on the encodings that a table is fully compiled for.
const SHARED_TABLES: u32 = 2;
