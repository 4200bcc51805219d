//! Matching of functions across recordings: those with equal names in paired modules are the same.

use address::ById as _;
use hashbrown::{HashMap, HashSet};

use super::modules::{DiffModuleId, Modules};
use super::names::{
    PositionedName, PositionedNames, ResolvedNames, offset_in_name, positioned_function,
};
use super::run::DiffInput;
use crate::id::{LocationId, StringId};
use crate::profile::Profile;
use crate::query::functions::functions;
use crate::tables::{InlineRow, LocationRow, Strings, Table};

crate::row_ids! {
    /// Index of a row of [`Diff::functions`](super::Diff::functions).
    pub DiffFunctionId(u32);
}

/// Identification of a function within its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiffName {
    /// Its name, without suffixes added by compilers.
    Named(StringId),
    /// Its start address in a module that has the same build in all recordings.
    At(u64),
    /// All code of the module with unknown functions.
    Unknown,
    /// Not a function, but frames that no sample shows.
    Gap,
    /// Not a function, but unknown functions that left by jumps.
    TailCalls,
    /// Samples without a stack.
    NoFrames,
}

impl DiffName {
    /// Returns true if it is not a function, but represents an unknown number of them.
    #[must_use]
    pub const fn is_gap(self) -> bool {
        matches!(self, Self::Gap | Self::TailCalls)
    }
}

/// Key of a function: its identification, and its module if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FunctionKey {
    pub(super) name: DiffName,
    pub(super) module: Option<DiffModuleId>,
}

/// Name of frames that no sample shows.
const GAP: &[u8] = b"[gap]";
/// Name of functions that left by jumps.
const TAIL_CALLS: &[u8] = b"[tail calls]";

/// The functions of all recordings.
#[derive(Debug)]
pub(super) struct Matching {
    pub(super) strings: Strings,
    pub(super) modules: Modules,
    pub(super) functions: Table<DiffFunctionId, FunctionKey>,
    index: HashMap<FunctionKey, DiffFunctionId>,
    /// Names of functions that are distinguished by their positions.
    positioned: ResolvedNames,
    /// Names of functions by start address, in modules with the same build in all recordings. Only some of the
    /// recordings may know them.
    starts: HashMap<(DiffModuleId, u64), StringId>,
    exact_names: bool,
    inlines: bool,
}

/// A function of a recording: its module, its name, and the source file of its declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct SourceFunction {
    module: Option<DiffModuleId>,
    name: StringId,
    file: Option<StringId>,
}

/// Compared names of a recording's functions.
type ComparedNames = HashMap<SourceFunction, Option<StringId>>;

/// Returns the function of a row; `None` if it has no name.
fn source_function(module: Option<DiffModuleId>, row: &InlineRow) -> Option<SourceFunction> {
    Some(SourceFunction { module, name: row.function?, file: row.declared_file })
}

/// Returns the name of a function with the positions that distinguish it from others of the same name.
fn positioned_name(profile: &Profile, function: SourceFunction) -> PositionedName {
    let file = function.file.map(|file| profile.strings.get(file));
    positioned_function(profile.strings.get(function.name)).declared_in(file)
}

/// Functions at the locations of one recording.
#[derive(Debug)]
pub(super) struct LocationFunctions {
    ids: Vec<DiffFunctionId>,
    /// By location: end of its functions in `ids`.
    ends: Table<LocationId, u32>,
}

impl LocationFunctions {
    /// Returns the functions at a location, innermost first.
    pub(super) fn at(&self, location: LocationId) -> &[DiffFunctionId] {
        let ends = self.ends.as_slice();
        let start = location.index().checked_sub(1).and_then(|before| ends.get(before)).copied();
        let end = ends.by_id(location).copied().unwrap_or(0);
        self.ids.get(start.unwrap_or(0) as usize..end as usize).unwrap_or_default()
    }
}

impl Matching {
    /// Returns an instance without functions. With `inlines`, inlined functions are separate functions.
    pub(super) fn new(
        strings: Strings,
        modules: Modules,
        exact_names: bool,
        inlines: bool,
    ) -> Self {
        let (functions, index) = (Table::new(), HashMap::new());
        let (positioned, starts) = (ResolvedNames::default(), HashMap::new());
        Self { strings, modules, functions, index, positioned, starts, exact_names, inlines }
    }

    /// Collects the names that depend on all recordings: those distinguished by positions, and those by start address
    /// in modules of the same build.
    pub(super) fn learn(&mut self, sides: [&[DiffInput<'_>]; 2]) {
        if !self.exact_names {
            let mut book = PositionedNames::default();
            for (side, inputs) in sides.into_iter().enumerate() {
                inputs.iter().for_each(|input| self.add_positions(side, input.profile, &mut book));
            }
            self.positioned = book.resolve();
        }
        for (side, inputs) in sides.into_iter().enumerate() {
            inputs.iter().for_each(|input| self.add_starts(side, input.profile));
        }
    }

    fn add_positions(&mut self, side: usize, profile: &Profile, book: &mut PositionedNames) {
        let modules = self.modules.ids(side, profile, &mut self.strings);
        let mut observed: HashSet<SourceFunction> = HashSet::new();
        for location in &profile.locations {
            let module = location.module.and_then(|module| modules.get(module).copied().flatten());
            for row in functions(profile, location, true) {
                if let Some(function) =
                    source_function(module, row).filter(|&function| observed.insert(function))
                {
                    book.add(
                        side,
                        module.map(DiffModuleId::to_bits),
                        positioned_name(profile, function),
                    );
                }
            }
        }
    }

    fn add_starts(&mut self, side: usize, profile: &Profile) {
        let modules = self.modules.ids(side, profile, &mut self.strings);
        let mut names = ComparedNames::new();
        for location in &profile.locations {
            let module = location.module.and_then(|module| modules.get(module).copied().flatten());
            let Some((module, start)) = module.zip(function_start(location)) else { continue };
            let row = self.modules.rows.get(module);
            if row.is_none_or(|row| row.same_build != Some(true)) {
                continue;
            }
            let outermost = functions(profile, location, false).first();
            let function = outermost.and_then(|row| source_function(Some(module), row));
            if let Some(name) = self.compared_name(side, profile, function, &mut names)
                && offset_in_name(self.strings.get(name), self.module_name(Some(module))).is_none()
            {
                self.starts.entry((module, start)).or_insert(name);
            }
        }
    }

    /// Returns the functions at the locations of a recording, before (`side` 0) or after (1).
    pub(super) fn location_functions(
        &mut self,
        side: usize,
        profile: &Profile,
    ) -> LocationFunctions {
        let modules = self.modules.ids(side, profile, &mut self.strings);
        let mut names = ComparedNames::new();
        let mut located = LocationFunctions { ids: Vec::new(), ends: Table::new() };
        for location in &profile.locations {
            let module = location.module.and_then(|module| modules.get(module).copied().flatten());
            let row = module.and_then(|module| self.modules.rows.get(module));
            let inlines = self.inlines && !row.is_some_and(|row| row.without_inlines);
            let rows = functions(profile, location, inlines);
            for (index, row) in rows.iter().enumerate() {
                let is_outermost = index + 1 == rows.len();
                let name =
                    self.compared_name(side, profile, source_function(module, row), &mut names);
                let start = function_start(location).filter(|_| is_outermost);
                located.ids.push(self.function(name, module, start));
            }
            if rows.is_empty() {
                located.ids.push(self.function(None, module, function_start(location)));
            }
            located.ends.push(located.ids.len() as u32);
        }
        located
    }

    /// Returns the function for samples without a stack.
    pub(super) fn no_frames(&mut self) -> DiffFunctionId {
        self.intern(FunctionKey { name: DiffName::NoFrames, module: None })
    }

    /// Returns the name to compare; `None` for an empty one.
    fn compared_name(
        &mut self,
        side: usize,
        profile: &Profile,
        function: Option<SourceFunction>,
        names: &mut ComparedNames,
    ) -> Option<StringId> {
        let function = function?;
        *names.entry(function).or_insert_with(|| {
            let text = profile.strings.get(function.name);
            if text.is_empty() {
                return None;
            }
            let module = function.module.map(DiffModuleId::to_bits);
            let resolved = self.positioned.get(&(side, module, positioned_name(profile, function)));
            Some(match resolved.filter(|_| !self.exact_names) {
                Some(resolved) => self.strings.intern(resolved),
                None => self.strings.intern(text),
            })
        })
    }

    fn module_name(&self, module: Option<DiffModuleId>) -> &[u8] {
        let row = module.and_then(|module| self.modules.rows.get(module));
        row.map_or(&b""[..], |row| self.strings.get(row.name))
    }

    fn function(
        &mut self,
        name: Option<StringId>,
        module: Option<DiffModuleId>,
        start: Option<u64>,
    ) -> DiffFunctionId {
        let row = module.and_then(|module| self.modules.rows.get(module));
        let other_name = row.and_then(|row| row.other_name).map(|name| self.strings.get(name));
        let names = [Some(self.module_name(module)), other_name];
        let text = name.map(|name| self.strings.get(name));
        let place = text.and_then(|text| {
            names.into_iter().flatten().find_map(|module| offset_in_name(text, module))
        });
        let name = match (name, place) {
            (Some(_), None) if text == Some(GAP) && module.is_none() => DiffName::Gap,
            (Some(_), None) if text == Some(TAIL_CALLS) && module.is_none() => DiffName::TailCalls,
            (Some(name), None) => DiffName::Named(name),
            // An address identifies a function only within one build.
            _ if row.is_some_and(|row| row.same_build == Some(true)) => {
                let start = place.or(start);
                let named = start.zip(module).and_then(|(start, id)| self.starts.get(&(id, start)));
                match (named, start) {
                    (Some(&name), _) => DiffName::Named(name),
                    (None, Some(start)) => DiffName::At(start),
                    (None, None) => DiffName::Unknown,
                }
            }
            _ => DiffName::Unknown,
        };
        self.intern(FunctionKey { name, module })
    }

    fn intern(&mut self, key: FunctionKey) -> DiffFunctionId {
        *self.index.entry(key).or_insert_with(|| self.functions.push(key))
    }
}

/// Returns the start of the function that is not inlined, in the module's address space.
fn function_start(location: &LocationRow) -> Option<u64> {
    location.relative.checked_sub(location.function_offset?)
}
