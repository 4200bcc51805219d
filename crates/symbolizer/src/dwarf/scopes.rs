//! The scopes of functions without a linkage name: the namespaces, classes and functions around the entry that declares
//! one.
//! Entries do not refer to their parents, so all entries of a unit are read once if one of its functions needs a scope.
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
    /// A name to use unchanged.
    Plain(NameText<'f>),
    /// The name of a function, possibly mangled.
    Function(NameText<'f>),
    /// A namespace without a name.
    AnonymousNamespace,
    /// A class or union without a name, and its line if it is stated.
    AnonymousClass(Option<u64>),
}

/// Deepest nesting of scopes.
const MAX_DEPTH: usize = 32;

/// The scopes of the queried units, by unit.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    units: HashMap<EntryRef, Vec<ScopeEntry>>,
}

/// An entry that is a scope, with the range of its children.
#[derive(Clone, Copy, Debug)]
struct ScopeEntry {
    start: usize,
    end: usize,
    tag: DwTag,
    /// The enclosing scope.
    parent: Option<u32>,
}

impl Scopes {
    /// Returns the names around the entry that declares a function, outermost first; none if the language has no such
    /// scopes.
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
                // A linkage name includes all enclosing scopes.
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

    /// Returns the scopes around an entry, innermost first.
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

/// Returns true if functions of a unit may be in namespaces and classes without a linkage name that says so: C++.
/// Partial units may not state their language.
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

/// Returns true if an entry declares no scopes below it, so that its children are skipped.
const fn declares_nothing(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_enumeration_type
            | dw::DW_TAG_array_type
            | dw::DW_TAG_subroutine_type
            | dw::DW_TAG_inlined_subroutine
    )
}

/// Reads the scopes of a unit, by offset. `None` if an entry cannot be read, or if the limit is exceeded.
fn read_scopes(
    file: &DwarfFile<'_>,
    unit: &Unit<'_>,
    costs: &mut UnitCosts,
) -> Option<Vec<ScopeEntry>> {
    let abbrevs = file.abbrevs(unit)?;
    let sections = &file.sections;
    let mut cursor = ByteCursor::new(&sections.info, unit.entries, sections.big_endian);
    let mut scopes: Vec<ScopeEntry> = Vec::new();
    // For each open entry, its scope or the enclosing one, and whether it is a scope itself.
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
