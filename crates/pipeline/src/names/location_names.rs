//! Sources of the names of locations, and their transfer into the locations.

use std::borrow::Cow;
use std::ops::Range;

use address::Svma;
use hashbrown::HashMap;
use profile::{InlineId, InlineRow, LocationRow, StringId, Strings, Table};
use rayon::prelude::*;
use symbolizer::Symbols;

use super::gap::{GapFunctions, GapLocations};

/// Number of locations that a task fills in.
const CHUNK: usize = 1 << 12;

/// The locations to look up, and their answers.
pub(crate) struct LocationNames<'p> {
    pub(crate) locations: &'p mut [LocationRow],
    /// The locations of frames that are not functions.
    gaps: GapLocations,
    /// The source of the names of each location.
    pub(crate) sources: Vec<NameSource>,
    /// The answers from files.
    pub(crate) symbols: Symbols,
    /// For kernel locations with a name from a file: recorded address minus file address.
    pub(crate) slides: HashMap<u32, u64>,
    /// The answers from all other sources.
    listed: Vec<ListedFunction>,
}

/// Source of the names of a location.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NameSource {
    Nothing,
    /// Index of the request, and of the address in it.
    File(u32, u32),
    /// Index into the functions from lists.
    List(u32),
}

impl NameSource {
    pub(crate) const fn is_nothing(self) -> bool {
        matches!(self, Self::Nothing)
    }
}

/// A kernel or JIT function: its name and its start, in the address space of the location.
#[derive(Debug)]
struct ListedFunction {
    name: Vec<u8>,
    start: u64,
}

/// Number of functions of a location, and its offset in the outermost of them.
struct FilledLocation {
    n_inlines: u32,
    function_offset: Option<u64>,
}

impl<'p> LocationNames<'p> {
    pub(crate) fn new(locations: &'p mut [LocationRow], gaps: GapLocations) -> Self {
        Self {
            gaps,
            sources: vec![NameSource::Nothing; locations.len()],
            locations,
            symbols: Symbols::default(),
            slides: HashMap::new(),
            listed: Vec::new(),
        }
    }

    /// Calls `find` with the index, row and current source of each location, including named ones. It returns the name
    /// and the start of the function.
    /// Locations with the same borrowed name and start share one copy, since names may be long.
    pub(crate) fn name<'n>(
        &mut self,
        find: impl Fn(usize, &LocationRow, NameSource) -> Option<(Cow<'n, [u8]>, u64)>,
    ) {
        let mut lent: HashMap<(*const u8, usize, u64), u32> = HashMap::new();
        for (at, (location, source)) in self.locations.iter().zip(&mut self.sources).enumerate() {
            let Some((name, start)) = find(at, location, *source) else { continue };
            let listed = &mut self.listed;
            let mut add = |name: Cow<'_, [u8]>| list(listed, name.into_owned(), start);
            let at = match name {
                Cow::Borrowed(known) => *lent
                    .entry((known.as_ptr(), known.len(), start))
                    .or_insert_with(|| add(Cow::Borrowed(known))),
                Cow::Owned(_) => add(name),
            };
            *source = NameSource::List(at);
        }
    }

    /// Returns the location at an index, if it has no name yet.
    pub(super) fn nameless(&self, at: u32) -> Option<LocationRow> {
        let source = self.sources.get(at as usize)?;
        self.locations.get(at as usize).filter(|_| source.is_nothing()).copied()
    }

    /// Returns the start of the function that the file names for a location.
    pub(super) fn function_start(&self, at: u32) -> Option<Svma> {
        match *self.sources.get(at as usize)? {
            NameSource::File(request, at) => {
                self.symbols.addresses.get(request as usize)?.get(at as usize)?.function_start
            }
            NameSource::Nothing | NameSource::List(_) => None,
        }
    }

    /// Adds a function for [`Self::take_listed`] and returns its index.
    pub(super) fn list(&mut self, name: Vec<u8>, start: u64) -> u32 {
        list(&mut self.listed, name, start)
    }

    /// Assigns a function of [`Self::list`] to the location at an index.
    pub(super) fn take_listed(&mut self, at: u32, function: u32) {
        if let Some(source) = self.sources.get_mut(at as usize) {
            *source = NameSource::List(function);
        }
    }

    /// Stores the functions in the locations, and adds them to `inlines` in the order of the locations.
    pub(crate) fn fill_in(self, strings: &mut Strings, inlines: &mut Table<InlineId, InlineRow>) {
        let listed = self.intern_listed(strings);
        let gaps = self.gaps.functions(strings);
        let length = self.locations.len();
        let chunks: Vec<(Vec<FilledLocation>, Vec<InlineRow>)> = (0..length.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let start = chunk * CHUNK;
                self.functions_of(start..length.min(start + CHUNK), &listed, &gaps)
            })
            .collect();
        inlines.reserve(chunks.iter().map(|(_, rows)| rows.len()).sum());
        let mut locations = self.locations.iter_mut();
        for (filled, rows) in chunks {
            let mut first = inlines.next_id().as_u32();
            for (FilledLocation { n_inlines, function_offset }, location) in
                filled.into_iter().zip(&mut locations)
            {
                location.first_inline = InlineId::new(first);
                location.n_inlines = n_inlines;
                location.function_offset = function_offset;
                first += n_inlines;
            }
            inlines.extend(rows);
        }
    }

    /// Interns the names of the listed functions in the order of the locations.
    fn intern_listed(&self, strings: &mut Strings) -> Vec<Option<StringId>> {
        let mut ids = vec![None; self.listed.len()];
        for source in &self.sources {
            let NameSource::List(at) = *source else { continue };
            if let Some((slot @ None, function)) =
                ids.get_mut(at as usize).zip(self.listed.get(at as usize))
            {
                *slot = Some(strings.intern(&function.name));
            }
        }
        ids
    }

    fn functions_of(
        &self,
        range: Range<usize>,
        listed: &[Option<StringId>],
        gaps: &GapFunctions,
    ) -> (Vec<FilledLocation>, Vec<InlineRow>) {
        let mut filled = Vec::with_capacity(range.len());
        let mut rows = Vec::new();
        for index in range {
            let before = rows.len();
            let start = self.push_functions(index, listed, &mut rows);
            rows.extend(gaps.iter().filter(|(at, _)| *at == index).map(|(_, function)| *function));
            let relative = self.locations.get(index).map_or(0, |location| location.relative);
            filled.push(FilledLocation {
                n_inlines: (rows.len() - before) as u32,
                function_offset: start.and_then(|start| relative.checked_sub(start)),
            });
        }
        (filled, rows)
    }

    /// Adds the functions at a location; returns the start of the outermost.
    fn push_functions(
        &self,
        index: usize,
        listed: &[Option<StringId>],
        rows: &mut Vec<InlineRow>,
    ) -> Option<u64> {
        match *self.sources.get(index)? {
            NameSource::Nothing => None,
            NameSource::File(request, at) => {
                let answer = self.symbols.addresses.get(request as usize)?.get(at as usize)?;
                let range = answer.frames.start as usize..answer.frames.end as usize;
                let functions = self.symbols.frames.get(range).unwrap_or_default();
                if self.locations.get(index).is_some_and(|location| location.is_whole) {
                    rows.extend(functions.last().map(whole_function));
                } else {
                    rows.extend_from_slice(functions);
                }
                let slide = self.slides.get(&(index as u32)).copied().unwrap_or(0);
                answer.function_start.map(|start| start.0.wrapping_add(slide))
            }
            NameSource::List(at) => {
                let function = listed.get(at as usize).copied().flatten();
                rows.push(InlineRow { function, ..InlineRow::NAMELESS });
                self.listed.get(at as usize).map(|function| function.start)
            }
        }
    }
}

/// Returns the row of a function as a whole, without a line in it.
fn whole_function(row: &InlineRow) -> InlineRow {
    InlineRow { file: row.declared_file.or(row.file), line: 0, column: 0, ..*row }
}

/// Adds a function; returns its index.
fn list(listed: &mut Vec<ListedFunction>, name: Vec<u8>, start: u64) -> u32 {
    listed.push(ListedFunction { name, start });
    listed.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use address::ModuleId;

    const GAP: GapLocations = GapLocations::gap_at(1);

    /// The start of a function, a gap, and an unmapped address.
    fn locations() -> [LocationRow; 3] {
        let nowhere = LocationRow::unnamed(None, 0);
        [LocationRow::unnamed(Some(ModuleId(0)), 0x10), nowhere, nowhere]
    }

    #[test]
    fn a_gap_has_a_name_and_no_offset() {
        let (mut strings, mut inlines) = (Strings::default(), Table::new());
        let mut locations = locations();
        let mut named = LocationNames::new(&mut locations, GAP);
        named.name(|_, location, _| {
            Some((Cow::Borrowed(&b"main"[..]), location.module.map(|_| 0x10)?))
        });
        named.fill_in(&mut strings, &mut inlines);
        let name = |at: usize| strings.get(inlines.as_slice()[at].function.expect("a name"));
        assert_eq!((name(0), name(1)), (&b"main"[..], &b"[gap]"[..]));
        assert_eq!(locations.map(|row| row.inlines()), [0..1, 1..2, 2..2]);
        assert_eq!(locations.map(|row| row.function_offset), [Some(0), None, None]);
    }

    #[test]
    fn a_gap_has_its_name_without_a_look_up() {
        let (mut strings, mut inlines) = (Strings::default(), Table::new());
        let mut locations = locations();
        GAP.name(&mut locations, &mut strings, &mut inlines);
        assert_eq!(locations.map(|row| row.n_inlines), [0, 1, 0]);
        let gap = inlines.as_slice()[locations[1].first_inline.index()];
        assert_eq!(strings.get(gap.function.expect("a name")), b"[gap]");
        assert_eq!((gap.file, gap.line, gap.column, gap.inlined), (None, 0, 0, false));
    }
}
