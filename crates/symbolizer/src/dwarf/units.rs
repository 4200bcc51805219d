//! The frames of a unit's addresses.

use std::sync::Arc;

use address::{ById as _, Svma};
use budget::{HeldMemory, Resource};
use hashbrown::HashMap;
use profile::Table;

use crate::bytes::NameText;
use crate::dwarf::costs::UnitCosts;
use crate::dwarf::die_names::{DwarfPair, EntryRef, FoundDeclaration, FoundName, function, origin};
use crate::dwarf::file::DwarfFile;
use crate::dwarf::form::FormValue;
use crate::dwarf::lines::header::{FileNames, FilePath};
use crate::dwarf::lines::{self, NoLines, SharedLines, SourceLocation, UnitLines};
use crate::dwarf::scopes::{ScopeName, Scopes};
use crate::dwarf::split::split_id;
use crate::dwarf::unit::Unit;
use crate::dwarf::walk::{ScopeId, UnitWalk, walk};
use crate::finding::SymbolFindingKind;

/// Limit on the chain of inlined calls; outer ones are omitted, except for the function itself.
const MAX_INLINES: usize = 256;

/// The addresses of one unit.
pub(crate) struct UnitJob<'j> {
    pub(crate) unit: u32,
    /// Sorted.
    pub(crate) addresses: &'j [Svma],
    /// For each address, whether the name of its outermost function is already found.
    pub(crate) named: &'j [bool],
    pub(crate) inlines: bool,
    pub(crate) lines: bool,
}

profile::row_ids! {
    /// A name of [`UnitResult::functions`].
    pub(crate) UnitNameId(u32);
    /// A path of [`UnitResult::files`].
    pub(crate) UnitPathId(u32);
}

/// The name of a function, and the names of its scopes, outermost first, if its own name does not include them.
#[derive(Clone, Debug)]
pub(crate) struct FunctionName<'f> {
    pub(crate) own: NameText<'f>,
    pub(crate) scopes: Vec<ScopeName<'f>>,
}

/// A frame, with indexes of names and files of its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitFrame {
    pub(crate) function: Option<UnitNameId>,
    pub(crate) file: Option<UnitPathId>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) inlined: bool,
    pub(crate) declared: UnitDeclaration,
}

/// Declaration of a function.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct UnitDeclaration {
    pub(crate) file: Option<UnitPathId>,
    /// From 1; 0 if unknown.
    pub(crate) line: u32,
}

/// The frames of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitAddress {
    pub(crate) first_frame: u32,
    pub(crate) n_frames: u32,
    /// Lowest address of the outermost function.
    pub(crate) function_start: Option<u64>,
}

/// The frames, names and files of a unit's addresses.
#[derive(Default)]
pub(crate) struct UnitResult<'f> {
    pub(crate) addresses: Vec<UnitAddress>,
    pub(crate) frames: Vec<UnitFrame>,
    pub(crate) functions: Table<UnitNameId, FunctionName<'f>>,
    pub(crate) files: Table<UnitPathId, FilePath<'f>>,
    pub(crate) damage: Vec<(SymbolFindingKind, u64)>,
    /// Memory accounting for the result.
    held: HeldMemory,
}

impl UnitResult<'_> {
    /// Accounts for the memory of the result under `held`.
    pub(crate) fn count(&mut self, held: &HeldMemory) {
        let bytes = self.addresses.capacity() * size_of::<UnitAddress>()
            + self.frames.capacity() * size_of::<UnitFrame>()
            + self.functions.heap_bytes()
            + self.files.heap_bytes();
        self.held = held.another(bytes as u64);
    }
}

/// The files with the entries and rows of a unit.
#[derive(Clone, Copy)]
pub(crate) struct UnitSources<'l, 'f, 's> {
    pub(crate) files: DwarfPair<'f, 's>,
    /// The file with the entries of a skeleton unit.
    pub(crate) split: Option<&'f DwarfFile<'s>>,
    /// The rows of the addresses of all units that share the line program, if there are several.
    pub(crate) lines: Option<&'l SharedLines<'f>>,
}

/// Finds the frames of a unit's addresses.
pub(crate) fn resolve<'f>(sources: UnitSources<'_, 'f, '_>, job: &UnitJob<'_>) -> UnitResult<'f> {
    let mut result = UnitResult::default();
    let UnitSources { files, split, .. } = sources;
    let Some(unit) = files.file.units.get(job.unit as usize) else { return result };
    let split_unit = split.and_then(|file| Some((file, file.units.get(file.main_unit?)?)));
    let wants_entries = job.inlines || job.named.contains(&false);
    if wants_entries && split_unit.is_none() && split_id(unit).is_some() {
        result.damage.push((SymbolFindingKind::SplitUnitMissing, unit.offset as u64));
    }
    let (entries, entries_unit) =
        split_unit.map_or((files, unit), |(file, unit)| (DwarfPair { file, ..files }, unit));
    let entries_unit: &Unit<'_> = entries_unit;
    let mut costs = entries.file.costs.unit(entries_unit, job.addresses.len());
    let walked = if wants_entries {
        walk(entries.file, entries_unit, job.addresses, &mut costs)
    } else {
        UnitWalk::of(job.addresses.len())
    };
    if let Some(at) = walked.damage {
        let damage = (SymbolFindingKind::Entries, at as u64);
        let limit = entries.file.costs.limit(Resource::Abbreviations);
        let cut = (SymbolFindingKind::OverBudget(Resource::Abbreviations), limit);
        result.damage.push(if walked.is_truncated { cut } else { damage });
    }
    let _walked = entries.file.held.another(walked.heap_bytes() as u64);
    let lines = unit_lines(sources, unit, &walked, job, &mut result.damage);
    let mut resolver = Resolver {
        files,
        entries,
        unit,
        entries_unit: entries_unit.offset,
        lines,
        walk: &walked,
        functions_of_scopes: vec![None; walked.scopes.len()],
        known: HashMap::new(),
        functions: Vec::new(),
        paths: HashMap::new(),
        scopes: Scopes::default(),
        inlines: job.inlines,
        costs,
        result,
    };
    for (index, &named) in job.named.iter().enumerate() {
        resolver.address(index, named);
    }
    let Resolver { mut result, costs, .. } = resolver;
    if let Some(resource) = costs.exhausted {
        let limit = entries.file.costs.limit(resource);
        result.damage.push((SymbolFindingKind::OverBudget(resource), limit));
    }
    result.damage.extend(costs.unread.map(|entry| (SymbolFindingKind::Reference, entry)));
    result.count(&entries.file.held);
    result
}

/// Returns the rows of a unit's addresses.
fn unit_lines<'f>(
    sources: UnitSources<'_, 'f, '_>,
    unit: &Unit<'_>,
    walked: &UnitWalk,
    job: &UnitJob<'_>,
    damage: &mut Vec<(SymbolFindingKind, u64)>,
) -> Option<UnitLines<'f>> {
    let file = sources.files.file;
    // A line program without rows is only needed for the call sites of inlined functions.
    let wanted = |offset: u64| !walked.scopes.is_empty() || lines::has_rows(file.sections, offset);
    let offset = unit.root.line_program.filter(|&offset| job.lines && wanted(offset))?;
    let size = unit.encoding.address_size;
    let found = match sources.lines {
        Some(shared) => shared.of(job.addresses),
        None => lines::run(file, size, offset, job.addresses),
    };
    match &found {
        Ok(lines) if lines.damaged => damage.push((SymbolFindingKind::LineProgram, offset)),
        Ok(_) => {}
        Err(why) => damage.push(no_lines(file, *why, offset)),
    }
    found.ok()
}

/// Returns the finding for an unreadable line program.
pub(crate) fn no_lines(
    file: &DwarfFile<'_>,
    why: NoLines,
    offset: u64,
) -> (SymbolFindingKind, u64) {
    match why {
        NoLines::Damaged => (SymbolFindingKind::LineProgram, offset),
        NoLines::Overlaps => {
            let limit = file.costs.limit(Resource::LineRows);
            (SymbolFindingKind::OverBudget(Resource::LineRows), limit)
        }
    }
}

struct Resolver<'r, 'f, 's> {
    files: DwarfPair<'f, 's>,
    /// Files of the entries: the same, or the split file.
    entries: DwarfPair<'f, 's>,
    unit: &'f Unit<'s>,
    /// Offset of the unit with the entries.
    entries_unit: usize,
    lines: Option<UnitLines<'f>>,
    walk: &'r UnitWalk,
    /// For each scope the index of its function, once it was requested.
    functions_of_scopes: Vec<Option<usize>>,
    /// The index of the function, by the entry that instances share.
    known: HashMap<EntryRef, usize>,
    functions: Vec<ResolvedFunction<'f>>,
    /// By the unit of the line program, and the number of the file in it.
    paths: HashMap<(EntryRef, u64), Option<UnitPathId>>,
    /// Scopes of units that have functions without linkage names.
    scopes: Scopes,
    inlines: bool,
    costs: UnitCosts,
    result: UnitResult<'f>,
}

/// A function of the unit.
#[derive(Clone, Copy)]
struct ResolvedFunction<'f> {
    found: Option<FoundName<'f>>,
    /// The id of its name, once it was requested.
    name: Option<Option<UnitNameId>>,
    declared: UnitDeclaration,
}

impl<'f> Resolver<'_, 'f, '_> {
    fn address(&mut self, index: usize, named: bool) {
        let first_frame = self.result.frames.len() as u32;
        let row = self
            .lines
            .as_ref()
            .and_then(|lines| lines.rows.get(index))
            .copied()
            .unwrap_or_default();
        let mut place = row;
        let mut scope = self.walk.innermost.get(index).copied().flatten();
        let mut function_start = None;
        let mut depth = 0;
        while let Some((id, &found)) = scope.and_then(|id| Some((id, self.walk.scopes.get(id)?))) {
            let inlined = found.parent.is_some();
            if inlined && (!self.inlines || depth >= MAX_INLINES || !self.has_frames()) {
                scope = found.function;
                continue;
            }
            if inlined {
                let known = self.function(id);
                let name = known.and_then(|known| self.name(known));
                self.push(name, self.declared(known), place, true);
                let (file, line, column) = found.call;
                place = SourceLocation { file, line, column, known: true };
                depth += 1;
            }
            if !inlined {
                function_start = Some(found.low_pc);
                let known = self.function(id);
                let name = known.filter(|_| !named).and_then(|known| self.name(known));
                self.push(name, self.declared(known), place, false);
            }
            scope = found.parent;
        }
        if function_start.is_none() && row.known {
            self.push(None, UnitDeclaration::default(), place, false);
        }
        let n_frames = self.result.frames.len() as u32 - first_frame;
        self.result.addresses.push(UnitAddress { first_frame, n_frames, function_start });
    }

    /// Takes the budget of one more frame besides the function itself; returns false if it is exhausted.
    fn has_frames(&mut self) -> bool {
        let UnitCosts { frames, exhausted, .. } = &mut self.costs;
        UnitCosts::spend(frames, 1, exhausted)
    }

    fn push(
        &mut self,
        function: Option<UnitNameId>,
        declared: UnitDeclaration,
        place: SourceLocation,
        inlined: bool,
    ) {
        let file = if place.known { self.path(place.file) } else { None };
        let (line, column) =
            if self.lines.is_some() { (small(place.line), small(place.column)) } else { (0, 0) };
        self.result.frames.push(UnitFrame { function, file, line, column, inlined, declared });
    }

    /// Returns the index of the function that a scope is an instance of.
    fn function(&mut self, scope: ScopeId) -> Option<usize> {
        if let Some(Some(known)) = self.functions_of_scopes.by_id(scope) {
            return Some(*known);
        }
        let entry = origin(self.entries, self.walk.scopes.get(scope)?.entry, &mut self.costs);
        let index = match self.known.get(&entry) {
            Some(&known) => known,
            None => {
                let found = function(self.entries, entry, &mut self.costs);
                let declared = self.declaration(found.declaration);
                self.functions.push(ResolvedFunction { found: found.name, name: None, declared });
                self.known.insert(entry, self.functions.len() - 1);
                self.functions.len() - 1
            }
        };
        if let Some(slot) = self.functions_of_scopes.by_id_mut(scope) {
            *slot = Some(index);
        }
        Some(index)
    }

    fn name(&mut self, function: usize) -> Option<UnitNameId> {
        let Self { functions, result, entries, costs, scopes, .. } = self;
        let known = functions.get_mut(function)?;
        *known.name.get_or_insert_with(|| {
            let FoundName { text, declared } = known.found?;
            let around = declared.map(|declared| scopes.around(*entries, declared, costs));
            let scopes = around.unwrap_or_default();
            Some(result.functions.push(FunctionName { own: text, scopes }))
        })
    }

    fn declared(&self, function: Option<usize>) -> UnitDeclaration {
        let known = function.and_then(|function| self.functions.get(function));
        known.map(|known| known.declared).unwrap_or_default()
    }

    /// Converts a declaration, with its file as a path of the unit.
    fn declaration(&mut self, found: FoundDeclaration) -> UnitDeclaration {
        let file = found.file.and_then(|(EntryRef { in_alt, offset }, number)| {
            let from = if in_alt { self.files.alt? } else { self.entries.file };
            let unit = from.unit_at(offset)?;
            // Source: DWARF 4, 2.14: 0 is no file. DWARF 5 numbers files from 0.
            if number == 0 && unit.encoding.version < 5 {
                return None;
            }
            let is_own = !in_alt && unit.offset == self.entries_unit;
            if is_own { self.own_path(number) } else { self.path_of(from, unit, in_alt, number) }
        });
        UnitDeclaration { file, line: found.line.map_or(0, small) }
    }

    /// Returns a file of the unit's own line program; for a split unit, that of its skeleton.
    fn own_path(&mut self, number: u64) -> Option<UnitPathId> {
        if self.lines.is_some() {
            return self.path(number);
        }
        self.path_of(self.files.file, self.unit, false, number)
    }

    /// Returns a file of the line program of any unit.
    fn path_of(
        &mut self,
        file: &'f DwarfFile<'_>,
        unit: &'f Unit<'_>,
        in_alt: bool,
        number: u64,
    ) -> Option<UnitPathId> {
        let key = (EntryRef { in_alt, offset: unit.offset }, number);
        if let Some(&known) = self.paths.get(&key) {
            return known;
        }
        let names = file.file_names(unit);
        // The unit's own line program has its own finding.
        let is_own = !in_alt && unit.offset == self.unit.offset;
        if names.is_none() && unit.root.line_program.is_some() && !is_own {
            self.costs.note_unread(unit.entries);
        }
        let path = names.and_then(|names| self.join(file, in_alt, unit, names, number));
        let path = path.map(|path| self.result.files.push(path));
        self.paths.insert(key, path);
        path
    }

    /// Returns a file that a row of the unit refers to.
    fn path(&mut self, number: u64) -> Option<UnitPathId> {
        let lines = self.lines.as_ref()?;
        let key = (EntryRef { in_alt: false, offset: self.unit.offset }, number);
        if let Some(&known) = self.paths.get(&key) {
            return known;
        }
        let header = Arc::clone(&lines.header);
        let path = self.join(self.files.file, false, self.unit, header.file_names(), number);
        let path = path.map(|path| self.result.files.push(path));
        self.paths.insert(key, path);
        path
    }

    /// Joins the path of a file of a unit's line program. `in_alt` is true if the unit is in the supplementary file.
    fn join(
        &mut self,
        file: &'f DwarfFile<'_>,
        in_alt: bool,
        unit: &'f Unit<'_>,
        names: FileNames<'_, 'f>,
        number: u64,
    ) -> Option<FilePath<'f>> {
        let alt = self.files.alt;
        let mut is_whole = true;
        let mut text = |value: Option<FormValue<'f>>| {
            let value = value?;
            let text = file.string(unit, value, alt);
            is_whole &= text.is_some() || !value.is_stored_string(alt.is_some());
            text
        };
        let (comp_dir, name) = (text(unit.root.comp_dir), text(unit.root.name));
        let path = FilePath::of(names, number, comp_dir, name, &mut |value| text(Some(value)));
        let is_nameless = path.as_ref().is_some_and(FilePath::is_nameless);
        if (!is_whole || is_nameless) && !in_alt {
            self.costs.note_unread(unit.entries);
        }
        path
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
