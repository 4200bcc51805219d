//! The name and the declaration of a function's entry, which may be stated by the entry that it is an instance of.
//!
//! Source: DWARF 5, 3.3 "Subroutine and Entry Point Entries", 2.13.2 `DW_AT_specification`, 2.14 "Declaration Coordinates".

use gimli::constants as dw;

use crate::bytes::{ByteCursor, NameText};
use crate::dwarf::costs::UnitCosts;
use crate::dwarf::file::DwarfFile;
use crate::dwarf::form::{self, FormValue};

/// A file and the supplementary file that it refers to.
#[derive(Clone, Copy)]
pub(crate) struct DwarfPair<'f, 's> {
    pub(crate) file: &'f DwarfFile<'s>,
    pub(crate) alt: Option<&'f DwarfFile<'s>>,
}

/// An entry at an offset of `.debug_info`, in the file or in its supplementary one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct EntryRef {
    pub(crate) in_alt: bool,
    pub(crate) offset: usize,
}

/// Limit on the length of a chain of references.
const MAX_CHAIN: usize = 16;

/// The attributes of one entry.
#[derive(Default)]
struct EntryNames<'a> {
    linkage: Option<NameText<'a>>,
    plain: Option<NameText<'a>>,
    origin: Option<EntryRef>,
    specification: Option<EntryRef>,
    /// `DW_AT_decl_file` and `DW_AT_decl_line`.
    file: Option<u64>,
    line: Option<u64>,
    /// True if a stated name cannot be read.
    is_unread: bool,
}

/// The name of a function.
#[derive(Clone, Copy)]
pub(crate) struct FoundName<'f> {
    pub(crate) text: NameText<'f>,
    /// For a plain name, the entry that declares the function; `None` for a linkage name.
    pub(crate) declared: Option<EntryRef>,
}

/// Declaration of a function: a line of a file of its unit's line program.
#[derive(Clone, Copy, Default)]
pub(crate) struct FoundDeclaration {
    /// The entry that states the file, and the number of the file in the line program of that entry's unit.
    pub(crate) file: Option<(EntryRef, u64)>,
    /// From 1; `None` if it is not stated.
    pub(crate) line: Option<u64>,
}

/// Name and declaration of a function.
#[derive(Clone, Copy, Default)]
pub(crate) struct FoundFunction<'f> {
    pub(crate) name: Option<FoundName<'f>>,
    pub(crate) declaration: FoundDeclaration,
}

/// Returns the linkage name of the function, else its plain name, from the chain of abstract origins and
/// specifications.
pub(crate) fn function_name<'f>(
    files: DwarfPair<'f, '_>,
    entry: EntryRef,
    costs: &mut UnitCosts,
) -> Option<FoundName<'f>> {
    describe(files, entry, costs, |found| found.name.is_some()).name
}

/// Returns name and declaration of the function, each from the first entry of the chain that states it.
pub(crate) fn function<'f>(
    files: DwarfPair<'f, '_>,
    entry: EntryRef,
    costs: &mut UnitCosts,
) -> FoundFunction<'f> {
    let is_whole = |found: &FoundFunction<'_>| {
        let FoundDeclaration { file, line } = found.declaration;
        found.name.is_some() && file.is_some() && line.is_some()
    };
    describe(files, entry, costs, is_whole)
}

/// Follows the chain of abstract origins and specifications until `is_enough` accepts the result.
fn describe<'f>(
    files: DwarfPair<'f, '_>,
    entry: EntryRef,
    costs: &mut UnitCosts,
    is_enough: impl Fn(&FoundFunction<'f>) -> bool,
) -> FoundFunction<'f> {
    let mut found = FoundFunction::default();
    let (mut plain, mut last) = (None, entry);
    let mut next = Some(entry);
    for _ in 0..MAX_CHAIN {
        let Some(entry) = next else { break };
        let Some(named) = read(files, entry, costs) else { break };
        let linkage = named.linkage.map(|text| FoundName { text, declared: None });
        found.name = found.name.or(linkage);
        let FoundDeclaration { file, line } = &mut found.declaration;
        *file = file.or(named.file.map(|file| (entry, file)));
        *line = line.or(named.line);
        if is_enough(&found) {
            return found;
        }
        last = entry;
        plain = plain.or(named.plain);
        next = named.origin.or(named.specification);
    }
    found.name = found.name.or(plain.map(|text| FoundName { text, declared: Some(last) }));
    found
}

/// Returns the plain name of an entry, and the line of its declaration.
pub(crate) fn plain_name<'f>(
    files: DwarfPair<'f, '_>,
    entry: EntryRef,
    costs: &mut UnitCosts,
) -> (Option<NameText<'f>>, Option<u64>) {
    let named = read(files, entry, costs).unwrap_or_default();
    (named.plain, named.line)
}

/// Returns the entry that an inlined call or a concrete function is an instance of, else itself. Many share one.
pub(crate) fn origin(files: DwarfPair<'_, '_>, entry: usize, costs: &mut UnitCosts) -> EntryRef {
    let own = EntryRef { in_alt: false, offset: entry };
    read(files, own, costs).and_then(|named| named.origin).unwrap_or(own)
}

/// Reads the attributes of an entry. Their number and bytes count for the unit of the query.
fn read<'f>(
    files: DwarfPair<'f, '_>,
    entry: EntryRef,
    costs: &mut UnitCosts,
) -> Option<EntryNames<'f>> {
    // A missing supplementary file is reported elsewhere.
    if costs.names.left() == 0 || (entry.in_alt && files.alt.is_none()) {
        return None;
    }
    let named = read_entry(files, entry, costs);
    if named.as_ref().is_none_or(|named| named.is_unread) {
        costs.note_unread(entry.offset);
    }
    named
}

fn read_entry<'f>(
    files: DwarfPair<'f, '_>,
    entry: EntryRef,
    costs: &mut UnitCosts,
) -> Option<EntryNames<'f>> {
    let EntryRef { in_alt, offset } = entry;
    let file = if in_alt { files.alt? } else { files.file };
    let unit = file.unit_at(offset)?;
    let abbrevs = file.abbrevs(unit)?;
    let mut cursor = ByteCursor::new(&file.sections.info, offset, file.sections.big_endian);
    let abbrev = abbrevs.get(cursor.uleb()?)?;
    let mut named = EntryNames::default();
    let mut is_unread = false;
    let mut string = |value: FormValue<'f>| {
        let text = file.string(unit, value, files.alt);
        // A producer without a name omits the attribute.
        let is_read = text.is_some_and(|text| !text.is_empty());
        is_unread |= !is_read && value.is_stored_string(files.alt.is_some());
        text.filter(|name| !name.is_empty())
    };
    let reference = |value: FormValue<'_>| {
        let (in_alt, base, offset) = match value {
            FormValue::UnitRef(offset) => (in_alt, unit.offset, offset),
            FormValue::InfoRef(offset) => (in_alt, 0, offset),
            FormValue::AltRef(offset) => (true, 0, offset),
            _ => return None,
        };
        let offset = usize::try_from(offset).ok()?.checked_add(base)?;
        Some(EntryRef { in_alt, offset })
    };
    let specs = abbrevs.specs(abbrev);
    let enough = UnitCosts::spend(&mut costs.names, specs.len() as u64, &mut costs.exhausted);
    for spec in specs.iter().take(if enough { specs.len() } else { 0 }) {
        match spec.name {
            dw::DW_AT_name
            | dw::DW_AT_linkage_name
            | dw::DW_AT_MIPS_linkage_name
            | dw::DW_AT_abstract_origin
            | dw::DW_AT_specification
            | dw::DW_AT_decl_file
            | dw::DW_AT_decl_line => {}
            _ => {
                form::skip(&mut cursor, spec.form, unit.encoding)?;
                continue;
            }
        }
        let value = form::read(&mut cursor, *spec, unit.encoding)?;
        match spec.name {
            dw::DW_AT_name => named.plain = string(value),
            dw::DW_AT_abstract_origin => named.origin = reference(value),
            dw::DW_AT_decl_file => named.file = value.number(),
            dw::DW_AT_decl_line => named.line = value.number(),
            dw::DW_AT_specification => named.specification = reference(value),
            _ => named.linkage = string(value),
        }
    }
    named.is_unread = is_unread;
    let bytes = cursor.at().saturating_sub(offset) as u64;
    UnitCosts::spend(&mut costs.names, bytes, &mut costs.exhausted).then_some(named)
}
