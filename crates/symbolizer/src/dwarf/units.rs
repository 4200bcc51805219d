//! Which units hold the requested addresses, and what a unit says about those that it holds.

use address::Svma;
use gimli::AttributeValue;
use hashbrown::HashMap;
use profile::Table;

use crate::addresses::{AddressIndex, Cover, sweep};
use crate::bytes::c_string_at;
use crate::dwarf::abbrev;
use crate::dwarf::die_names::{DwarfPair, EntryRef, function_name, origin};
use crate::dwarf::file::{DwarfFile, Slice};
use crate::dwarf::form::Value;
use crate::dwarf::lines::{self, UnitLines};
use crate::dwarf::ranges::{Pcs, each_range};
use crate::dwarf::split::split_id;
use crate::dwarf::unit::Unit;
use crate::dwarf::walk::{ScopeId, UnitWalk, walk};
use crate::finding::SymbolFindingKind;

/// How many units are tried for an address where the ranges of several hold it.
pub(crate) const CANDIDATES: usize = 3;

/// Deepest chain of inlined calls; what is above is left out, but for the function itself.
const MAX_INLINES: usize = 256;

/// For each address the units whose ranges hold it, the one with the nearest start first.
pub(crate) fn candidates(
    file: &DwarfFile<'_>,
    index: &AddressIndex<'_>,
) -> Vec<[Option<u32>; CANDIDATES]> {
    let mut covers = Vec::new();
    for (number, unit) in file.units.iter().enumerate() {
        let pcs = Pcs { low: unit.root.low_pc, high: unit.root.high_pc, ranges: unit.root.ranges };
        // Damaged lists give what was read of them.
        let _ = each_range(file, unit, &pcs, |start, end| {
            if index.first_in(start, end).is_some() {
                covers.push(Cover { start, end, item: number as u32 });
            }
            true
        });
    }
    covers.sort_by_key(|cover| cover.start);
    let mut found = vec![[None; CANDIDATES]; index.all().len()];
    sweep::<CANDIDATES>(index.all(), &covers, |address, units| {
        if let Some(slot) = found.get_mut(address) {
            *slot = units;
        }
    });
    found
}

/// Units that may hold code without saying where: those whose functions or rows have addresses all the same. Most that
/// state no ranges have no code at all.
pub(crate) fn units_without_ranges(file: &DwarfFile<'_>) -> impl Iterator<Item = u32> {
    let silent = |unit: &Unit<'_>| {
        let root = &unit.root;
        unit.tag == gimli::DW_TAG_compile_unit && root.ranges.is_none() && root.high_pc.is_none()
    };
    let may_hold_code = move |unit: &Unit<'_>| {
        split_id(unit).is_some()
            || abbrev::describe_code(&file.sections.abbrev, unit.abbrev_offset)
            || unit.root.line_program.is_some_and(|offset| lines::has_rows(file.sections, offset))
    };
    file.units
        .iter()
        .enumerate()
        .filter(move |(_, unit)| silent(unit) && may_hold_code(unit))
        .map(|(number, _)| number as u32)
}

/// The addresses of one unit.
pub(crate) struct UnitJob<'j> {
    pub(crate) unit: u32,
    /// Sorted.
    pub(crate) addresses: &'j [Svma],
    /// For each address, whether the name of its outermost function is known already.
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

/// A frame, with the names and files of its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitFrame {
    pub(crate) function: Option<UnitNameId>,
    pub(crate) file: Option<UnitPathId>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) inlined: bool,
}

/// What is known about an address of the unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitAddress {
    pub(crate) first_frame: u32,
    pub(crate) n_frames: u32,
    /// Lowest address of the outermost function.
    pub(crate) function_start: Option<u64>,
}

/// What a unit says.
#[derive(Default)]
pub(crate) struct UnitResult<'f> {
    pub(crate) addresses: Vec<UnitAddress>,
    pub(crate) frames: Vec<UnitFrame>,
    pub(crate) functions: Table<UnitNameId, &'f [u8]>,
    pub(crate) files: Table<UnitPathId, Vec<u8>>,
    pub(crate) damage: Vec<(SymbolFindingKind, u64)>,
}

/// Finds the frames of a unit's addresses. The entries of a skeleton unit are those in `split`.
pub(crate) fn resolve<'f, 's>(
    files: DwarfPair<'f, 's>,
    split: Option<&'f DwarfFile<'s>>,
    job: &UnitJob<'_>,
) -> UnitResult<'f> {
    let mut result = UnitResult::default();
    let Some(unit) = files.file.units.get(job.unit as usize) else { return result };
    let split_unit = split.and_then(|file| Some((file, file.units.get(file.main_unit?)?)));
    let wants_entries = job.inlines || job.named.contains(&false);
    if wants_entries && split_unit.is_none() && split_id(unit).is_some() {
        result.damage.push((SymbolFindingKind::SplitUnitMissing, unit.offset as u64));
    }
    let (entries, entries_unit) =
        split_unit.map_or((files, unit), |(file, unit)| (DwarfPair { file, ..files }, unit));
    let walked = if wants_entries {
        walk(entries.file, entries_unit, job.addresses)
    } else {
        UnitWalk::of(job.addresses.len())
    };
    if let Some(at) = walked.damage {
        result.damage.push((SymbolFindingKind::Entries, at as u64));
    }
    // A program without rows is of use to the places where functions were inlined only.
    let wanted =
        |offset: u64| !walked.scopes.is_empty() || lines::has_rows(files.file.sections, offset);
    let program = unit.root.line_program.filter(|&offset| job.lines && wanted(offset));
    let lines =
        program.and_then(|offset| lines::run(files.file.sections, unit, offset, job.addresses));
    if let Some(offset) = program
        && lines.as_ref().is_none_or(|lines| lines.damaged)
    {
        result.damage.push((SymbolFindingKind::LineProgram, offset));
    }
    let mut resolver = Resolver {
        files,
        entries,
        unit,
        lines,
        walk: &walked,
        scope_names: vec![None; walked.scopes.len()],
        names: HashMap::new(),
        paths: HashMap::new(),
        inlines: job.inlines,
        result,
    };
    for (index, &named) in job.named.iter().enumerate() {
        resolver.address(index, named);
    }
    resolver.result
}

struct Resolver<'r, 'f, 's> {
    files: DwarfPair<'f, 's>,
    /// Where the entries are: the same, or the split file.
    entries: DwarfPair<'f, 's>,
    unit: &'f Unit<'s>,
    lines: Option<UnitLines<'f>>,
    walk: &'r UnitWalk,
    /// The name of each scope, once it was asked for.
    scope_names: Vec<Option<Option<UnitNameId>>>,
    names: HashMap<EntryRef, Option<UnitNameId>>,
    paths: HashMap<u64, Option<UnitPathId>>,
    inlines: bool,
    result: UnitResult<'f>,
}

impl Resolver<'_, '_, '_> {
    fn address(&mut self, index: usize, named: bool) {
        let first_frame = self.result.frames.len() as u32;
        let row = self
            .lines
            .as_ref()
            .and_then(|lines| lines.rows.get(index))
            .copied()
            .unwrap_or_default();
        let mut place = (row.known.then_some(row.file), row.line, row.column);
        let mut scope = self.walk.innermost.get(index).copied().flatten();
        let mut function_start = None;
        let mut depth = 0;
        while let Some((id, &found)) = scope.and_then(|id| Some((id, self.walk.scopes.get(id)?))) {
            let inlined = found.parent.is_some();
            if inlined && self.inlines && depth < MAX_INLINES {
                let function = self.scope_name(id);
                self.push(function, place, true);
                place = (Some(found.call.0), found.call.1, found.call.2);
                depth += 1;
            }
            if !inlined {
                function_start = Some(found.low_pc);
                let function = if named { None } else { self.scope_name(id) };
                self.push(function, place, false);
            }
            scope = found.parent;
        }
        if function_start.is_none() && row.known {
            self.push(None, place, false);
        }
        let n_frames = self.result.frames.len() as u32 - first_frame;
        self.result.addresses.push(UnitAddress { first_frame, n_frames, function_start });
    }

    fn push(
        &mut self,
        function: Option<UnitNameId>,
        place: (Option<u64>, u64, u64),
        inlined: bool,
    ) {
        let file = place.0.and_then(|file| self.path(file));
        let small = |number: u64| u32::try_from(number).unwrap_or(0);
        let (line, column) =
            if self.lines.is_some() { (small(place.1), small(place.2)) } else { (0, 0) };
        self.result.frames.push(UnitFrame { function, file, line, column, inlined });
    }

    fn scope_name(&mut self, scope: ScopeId) -> Option<UnitNameId> {
        if let Some(Some(known)) = self.scope_names.get(scope.index()) {
            return *known;
        }
        let entry = origin(self.entries, self.walk.scopes.get(scope)?.entry);
        let Self { names, result, entries, .. } = self;
        let name = *names.entry(entry).or_insert_with(|| {
            function_name(*entries, entry).map(|name| result.functions.push(name))
        });
        if let Some(slot) = self.scope_names.get_mut(scope.index()) {
            *slot = Some(name);
        }
        name
    }

    fn path(&mut self, file: u64) -> Option<UnitPathId> {
        let Self { lines, files, unit, paths, result, .. } = self;
        let lines = lines.as_ref()?;
        if let Some(&known) = paths.get(&file) {
            return known;
        }
        let text = |value: Option<Value<'_>>| {
            value
                .and_then(|value| files.file.string(unit, value, files.alt).map(<[u8]>::to_vec))
                .unwrap_or_default()
        };
        let (comp_dir, name) = (text(unit.root.comp_dir), text(unit.root.name));
        let path = lines::path(&lines.header, file, &comp_dir, &name, &mut |value| {
            line_string(*files, unit, value)
        });
        let path = path.filter(|path| !path.is_empty()).map(|path| result.files.push(path));
        paths.insert(file, path);
        path
    }
}

/// A string of a line program's header.
fn line_string(
    files: DwarfPair<'_, '_>,
    unit: &Unit<'_>,
    value: AttributeValue<Slice<'_>>,
) -> Option<Vec<u8>> {
    let sections = files.file.sections;
    let bytes = match value {
        AttributeValue::String(string) => return Some(string.slice().to_vec()),
        AttributeValue::DebugStrRef(offset) => c_string_at(&sections.str, offset.0 as u64),
        AttributeValue::DebugLineStrRef(offset) => c_string_at(&sections.line_str, offset.0 as u64),
        AttributeValue::DebugStrRefSup(offset) => {
            c_string_at(&files.alt?.sections.str, offset.0 as u64)
        }
        AttributeValue::DebugStrOffsetsIndex(index) => {
            files.file.string(unit, Value::StrIndex(index.0 as u64), files.alt)
        }
        _ => None,
    };
    bytes.map(<[u8]>::to_vec)
}
