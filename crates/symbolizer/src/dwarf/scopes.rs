//! The scopes of functions that have no linkage name: the namespaces, classes and functions around the entry that
//! declares one. Entries do not say what they are in, so the entries of a unit are gone through once where a function of
//! it needs that.
//!
//! ```text
//!   namespace geo            [10,90)
//!     subprogram work        [20,80)   linkage name: the whole scope of what is in it
//!       class <lambda(int)>  [30,50)
//!         subprogram operator()        -> _ZN3geo4workEi :: <lambda(int)> :: operator()
//! ```
//!
//! Source: DWARF 5, 3.2 "Module, Namespace and Importing Entries", 5.7 "Structure, Union, Class and Interface Type Entries".

use gimli::constants as dw;
use gimli::{DwLang, DwTag};
use hashbrown::HashMap;

use crate::bytes::{ByteCursor, NameText};
use crate::dwarf::costs::UnitCosts;
use crate::dwarf::die_names::{DwarfPair, EntryRef, FoundName, function_name, plain_name};
use crate::dwarf::file::DwarfFile;
use crate::dwarf::unit::Unit;

/// A name in front of a function's own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScopeName<'f> {
    /// As it is.
    Plain(NameText<'f>),
    /// That of a function, perhaps mangled.
    Function(NameText<'f>),
    /// A namespace without a name.
    AnonymousNamespace,
    /// A class or union without a name, and its line where that is known.
    AnonymousClass(Option<u64>),
}

/// Deepest nesting of scopes.
const MAX_DEPTH: usize = 32;

/// The scopes of the units that were asked for, by the places of the units.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    units: HashMap<EntryRef, Vec<ScopeEntry>>,
}

/// An entry that is a scope, with what is below it.
#[derive(Clone, Copy, Debug)]
struct ScopeEntry {
    start: usize,
    end: usize,
    tag: DwTag,
    /// The scope around it.
    parent: Option<u32>,
}

impl Scopes {
    /// The names around the entry that declares a function, outermost first; none where the language has no such scopes.
    pub(crate) fn around<'f>(
        &mut self,
        files: DwarfPair<'f, '_>,
        declared: EntryRef,
        costs: &mut UnitCosts,
    ) -> Vec<ScopeName<'f>> {
        let mut names = Vec::new();
        let mut next = Some(declared);
        while let Some(entry) = next.take().filter(|_| names.len() < MAX_DEPTH) {
            let (own, parents) = (names.len(), self.parents(files, entry, costs));
            for (offset, tag) in parents {
                let scope = EntryRef { in_alt: entry.in_alt, offset };
                if tag != dw::DW_TAG_subprogram {
                    let (name, line) = plain_name(files, scope, costs);
                    names.push(match name {
                        Some(name) => ScopeName::Plain(name),
                        None if tag == dw::DW_TAG_namespace => ScopeName::AnonymousNamespace,
                        None => ScopeName::AnonymousClass(line),
                    });
                    continue;
                }
                let Some(FoundName { text, declared }) = function_name(files, scope, costs) else {
                    break;
                };
                names.push(ScopeName::Function(text));
                // A linkage name has all that is around it.
                next = declared;
                break;
            }
            if names.len() == own {
                break;
            }
        }
        names.reverse();
        names
    }

    /// The scopes around an entry, innermost first.
    fn parents(
        &mut self,
        files: DwarfPair<'_, '_>,
        entry: EntryRef,
        costs: &mut UnitCosts,
    ) -> Vec<(usize, DwTag)> {
        let EntryRef { in_alt, offset } = entry;
        let file = if in_alt { files.alt } else { Some(files.file) };
        let Some((file, unit)) = file.and_then(|file| Some((file, file.unit_at(offset)?))) else {
            return Vec::new();
        };
        if !has_scopes(unit) {
            return Vec::new();
        }
        let scopes = self
            .units
            .entry(EntryRef { in_alt, offset: unit.offset })
            .or_insert_with(|| read_scopes(file, unit, costs).unwrap_or_default());
        let before = scopes.partition_point(|scope| scope.start < offset);
        let mut at = before.checked_sub(1);
        let mut found = Vec::new();
        while let Some(scope) = at.and_then(|at| scopes.get(at)) {
            if offset < scope.end && found.len() < MAX_DEPTH {
                found.push((scope.start, scope.tag));
            }
            at = scope.parent.map(|parent| parent as usize);
        }
        found
    }
}

/// Whether functions of a unit can be in namespaces and classes without saying so by a linkage name: C++. Units that hold
/// what others share may not state their language.
fn has_scopes(unit: &Unit<'_>) -> bool {
    let language = unit.root.language.and_then(|code| u16::try_from(code).ok()).map(DwLang);
    match language {
        None => unit.tag == dw::DW_TAG_partial_unit,
        Some(language) => matches!(
            language,
            dw::DW_LANG_C_plus_plus
                | dw::DW_LANG_C_plus_plus_03
                | dw::DW_LANG_C_plus_plus_11
                | dw::DW_LANG_C_plus_plus_14
                | dw::DW_LANG_C_plus_plus_17
                | dw::DW_LANG_C_plus_plus_20
        ),
    }
}

const fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_namespace
            | dw::DW_TAG_class_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_interface_type
            | dw::DW_TAG_subprogram
    )
}

/// Whether nothing below an entry is declared there that could be a scope, so that it is jumped over.
const fn declares_nothing(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_enumeration_type
            | dw::DW_TAG_array_type
            | dw::DW_TAG_subroutine_type
            | dw::DW_TAG_inlined_subroutine
    )
}

/// The scopes of a unit by their offsets. `None` where an entry cannot be read, or more would have to be gone through
/// than may be.
fn read_scopes(
    file: &DwarfFile<'_>,
    unit: &Unit<'_>,
    costs: &mut UnitCosts,
) -> Option<Vec<ScopeEntry>> {
    let abbrevs = file.abbrevs(unit)?;
    let sections = &file.sections;
    let mut cursor = ByteCursor::new(&sections.info, unit.entries, sections.big_endian);
    let mut scopes: Vec<ScopeEntry> = Vec::new();
    // For each entry that is open, the scope that it is, or is in.
    let mut open: Vec<(Option<u32>, bool)> = Vec::new();
    while cursor.at() < unit.end {
        let start = cursor.at();
        let code = cursor.uleb()?;
        if code == 0 {
            let Some((Some(scope), true)) = open.pop() else {
                if open.is_empty() { break } else { continue }
            };
            if let Some(scope) = scopes.get_mut(scope as usize) {
                scope.end = cursor.at();
            }
            continue;
        }
        if !UnitCosts::spend(&mut costs.names, 1, &mut costs.exhausted) {
            return None;
        }
        let abbrev = abbrevs.get(code)?;
        let sibling = abbrevs.skip(&mut cursor, abbrev)?;
        if !abbrev.children {
            continue;
        }
        let target = usize::try_from(sibling).ok()?.checked_add(unit.offset)?;
        if declares_nothing(abbrev.tag) && target > cursor.at() && target <= unit.end {
            cursor.seek(target);
            continue;
        }
        let parent = open.last().and_then(|(scope, _)| *scope);
        if is_scope(abbrev.tag) {
            open.push((Some(scopes.len() as u32), true));
            scopes.push(ScopeEntry { start, end: unit.end, tag: abbrev.tag, parent });
        } else {
            open.push((parent, false));
        }
    }
    Some(scopes)
}
