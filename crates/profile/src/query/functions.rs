//! Functions at a location, and the distinct functions of a profile with dense indexes for printers of call graphs.

use std::ops::Range;

use address::ById as _;
use hashbrown::HashMap;

use crate::id::{FrameId, LocationId, StackId, StringId};
use crate::profile::Profile;
use crate::query::identity::{FunctionIdentity, FunctionPosition, Identities, module_path};
use crate::query::stack_walk::each_location;
use crate::tables::{FrameRow, InlineRow, LocationRow, Table};

/// Returns the functions at a location, innermost first. Without `inlines`, returns only the last one, which is not
/// inlined. The result is empty if nothing is known.
#[inline]
pub fn functions<'a>(
    profile: &'a Profile,
    location: &LocationRow,
    inlines: bool,
) -> &'a [InlineRow] {
    let rows = profile.inlines.range(location.inlines());
    if inlines { rows } else { rows.last_chunk::<1>().map_or(&[], |last| last) }
}

/// A function of a frame, with the rows of the frame.
#[derive(Debug, Clone, Copy)]
pub struct FrameFunction<'a> {
    /// The frame.
    pub frame: &'a FrameRow,
    /// Its location.
    pub location: &'a LocationRow,
    /// The function; `None` if nothing is known about the location.
    pub function: Option<&'a InlineRow>,
}

/// Returns the functions of a frame in the order of [`functions`]. If nothing is known, the only item has no function.
/// The result is empty if the tables lack the frame or its location.
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
    /// Index of a row of [`Functions::rows`].
    pub FunctionId(u32);
}

/// A function in the sense of a user: one declaration in one module, regardless of the files of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name; `None` if it is unknown.
    pub name: Option<StringId>,
    /// Path of its module.
    pub module: Option<StringId>,
    /// Source file of its declaration. If there is no declaration: the file of the sampled line nearest to its start.
    pub file: Option<StringId>,
    /// Line of its declaration, from 1; 0 if it is unknown.
    pub line: u32,
    /// Start address in the address space of the module's kind, if it has no declaration.
    pub start: Option<u64>,
}

impl Function {
    /// Returns the function that a row of `location` states. [`Functions`] additionally resolves a row without
    /// declaration and start to the only function of its name.
    #[must_use]
    pub fn stated(profile: &Profile, location: &LocationRow, row: &InlineRow) -> Self {
        FunctionIdentity::stated(profile, location, row).function()
    }

    /// Returns the function for code with only its module known.
    #[must_use]
    pub const fn unknown(module: Option<StringId>) -> Self {
        Self { name: None, module, file: None, line: 0, start: None }
    }
}

/// A function at one of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionLine {
    /// The function.
    pub function: FunctionId,
    /// The source file of the line.
    pub file: Option<StringId>,
    /// The line; 0 if it is unknown.
    pub line: u32,
}

/// The distinct functions of a profile, and those at each location.
#[derive(Debug)]
pub struct Functions {
    /// Distinct functions, in order of first appearance.
    pub rows: Table<FunctionId, Function>,
    lines: Vec<FunctionLine>,
    /// By location: end of its functions in `lines`.
    ends: Table<LocationId, u32>,
}

impl Functions {
    /// Collects all functions of `profile`. With `inlines`, inlined functions are separate functions.
    pub fn new(profile: &Profile, inlines: bool) -> Self {
        let identities = Identities::new(profile, inlines);
        let mut index: HashMap<FunctionIdentity, FunctionId> = HashMap::new();
        // By function without a declaration: distance of its nearest line from its start, in bytes.
        let mut nearest: Table<FunctionId, u64> = Table::new();
        let mut all = Self { rows: Table::new(), lines: Vec::new(), ends: Table::new() };
        for location in &profile.locations {
            let module = module_path(profile, location.module);
            let distance = location.function_offset.unwrap_or(u64::MAX - 1);
            let mut add = |identity: FunctionIdentity, file, line| {
                let function = *index.entry(identity).or_insert_with(|| {
                    nearest.push(u64::MAX);
                    all.rows.push(identity.function())
                });
                all.lines.push(FunctionLine { function, file, line });
                let nearest = nearest.get_mut(function).filter(|nearest| distance < **nearest);
                if let (Some(nearest), FunctionPosition::Start(_) | FunctionPosition::Unknown) =
                    (nearest, identity.position)
                    && let (Some(row), Some(_)) = (all.rows.get_mut(function), file)
                {
                    (*nearest, row.file) = (distance, file);
                }
            };
            let rows = functions(profile, location, inlines);
            if rows.is_empty() {
                add(
                    FunctionIdentity { name: None, module, position: FunctionPosition::Unknown },
                    None,
                    0,
                );
            }
            for row in rows {
                add(identities.of(profile, location, row), row.file, row.line);
            }
            all.ends.push(all.lines.len() as u32);
        }
        all
    }

    /// Returns the functions at a location, innermost first.
    pub fn at(&self, location: LocationId) -> &[FunctionLine] {
        self.lines.get(self.rows_at(location)).unwrap_or_default()
    }

    /// The functions at all locations, in the order of the locations.
    pub(super) fn lines(&self) -> &[FunctionLine] {
        &self.lines
    }

    /// Returns the range of the functions at a location in [`Self::lines`].
    pub(super) fn rows_at(&self, location: LocationId) -> Range<usize> {
        let ends = self.ends.as_slice();
        let start = location.index().checked_sub(1).and_then(|before| ends.get(before)).copied();
        let end = ends.by_id(location).copied().unwrap_or(0);
        start.unwrap_or(0) as usize..end as usize
    }

    /// Stores the functions of a stack in `path`, innermost first.
    pub fn path(&self, profile: &Profile, stack: Option<StackId>, path: &mut Vec<FunctionLine>) {
        path.clear();
        each_location(profile, stack, |location| path.extend_from_slice(self.at(location)));
    }
}
