//! Functions: those at a location, and the distinct ones of a profile as small indexes, which printers of call graphs
//! share.

use address::ModuleId;
use hashbrown::HashMap;

use crate::id::{FrameId, LocationId, StackId, StringId};
use crate::profile::Profile;
use crate::query::stack_walk::each_location;
use crate::tables::{FrameRow, InlineRow, LocationRow, Table};

/// The functions at a location, innermost first: all of them, or with `inlines` false only the last, which is not
/// inlined. Empty where nothing is known.
#[inline]
pub fn functions<'a>(
    profile: &'a Profile,
    location: &LocationRow,
    inlines: bool,
) -> &'a [InlineRow] {
    let rows = profile.inlines.as_slice().get(location.inlines()).unwrap_or_default();
    if inlines { rows } else { rows.last_chunk::<1>().map_or(&[], |last| last) }
}

/// A function of a frame, with the rows that say the rest of it.
#[derive(Debug, Clone, Copy)]
pub struct FrameFunction<'a> {
    /// The frame.
    pub frame: &'a FrameRow,
    /// Where it is.
    pub location: &'a LocationRow,
    /// The function; `None` where nothing is known about the location.
    pub function: Option<&'a InlineRow>,
}

/// The functions of a frame as [`functions`] gives them, innermost first; one without a function where nothing is
/// known. Empty where the frame or its location is not in the tables.
#[inline]
pub fn frame_functions(
    profile: &Profile,
    frame: FrameId,
    inlines: bool,
) -> impl DoubleEndedIterator<Item = FrameFunction<'_>> {
    let rows = profile.frames.get(frame).and_then(|frame| {
        let location = profile.locations.get(frame.location)?;
        Some((frame, location, functions(profile, location, inlines)))
    });
    let with = move |function| {
        rows.map(|(frame, location, _)| FrameFunction { frame, location, function })
    };
    let known = rows.map_or(&[][..], |(.., functions)| functions);
    let unknown = if known.is_empty() { with(None) } else { None };
    known.iter().filter_map(move |function| with(Some(function))).chain(unknown)
}

crate::row_ids! {
    /// A row of [`Functions::rows`].
    pub FunctionId(u32);
}

/// A function as users see it: name, source file and module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name; `None` where unknown.
    pub name: Option<StringId>,
    /// Its source file.
    pub file: Option<StringId>,
    /// The path of the module that holds it.
    pub module: Option<StringId>,
}

/// A function at one of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionLine {
    /// The function.
    pub function: FunctionId,
    /// The line; 0 where unknown.
    pub line: u32,
}

/// The distinct functions of a profile, and those at each location.
#[derive(Debug)]
pub struct Functions {
    /// Distinct functions, in order of first appearance.
    pub rows: Table<FunctionId, Function>,
    lines: Vec<FunctionLine>,
    /// By location: where its functions end in `lines`.
    ends: Table<LocationId, u32>,
}

impl Functions {
    /// All functions of `profile`; `inlines`: whether inlined ones are functions of their own.
    pub fn new(profile: &Profile, inlines: bool) -> Self {
        let mut index: HashMap<Function, FunctionId> = HashMap::new();
        let mut all = Self { rows: Table::new(), lines: Vec::new(), ends: Table::new() };
        for location in &profile.locations {
            let module = module_path(profile, location.module);
            let rows = functions(profile, location, inlines);
            let unknown =
                rows.is_empty().then_some((Function { name: None, file: None, module }, 0));
            let known = rows
                .iter()
                .map(|row| (Function { name: row.function, file: row.file, module }, row.line));
            for (function, line) in known.chain(unknown) {
                let id = *index.entry(function).or_insert_with(|| all.rows.push(function));
                all.lines.push(FunctionLine { function: id, line });
            }
            all.ends.push(all.lines.len() as u32);
        }
        all
    }

    /// The functions at a location, innermost first.
    pub fn at(&self, location: LocationId) -> &[FunctionLine] {
        let ends = self.ends.as_slice();
        let start = location.index().checked_sub(1).and_then(|before| ends.get(before)).copied();
        let end = ends.get(location.index()).copied().unwrap_or(0);
        self.lines.get(start.unwrap_or(0) as usize..end as usize).unwrap_or_default()
    }

    /// Puts the functions of a stack into `path`, innermost first.
    pub fn path(&self, profile: &Profile, stack: Option<StackId>, path: &mut Vec<FunctionLine>) {
        path.clear();
        each_location(profile, stack, |location| path.extend_from_slice(self.at(location)));
    }
}

fn module_path(profile: &Profile, module: Option<ModuleId>) -> Option<StringId> {
    profile.modules.get(module?).map(|module| module.path)
}
