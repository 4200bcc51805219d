//! Location of the table in a file, and facts that are not in it: the address of the code and the trees of inlined
//! calls. These come from the runtime's module data, which is part of the program's data.
//!
//! Source: `moduledata` in src/runtime/symtab.go of Go.

use std::cell::Cell;
use std::ops::Range;

use crate::bytes::u64_at;
use crate::functions::GoFunctions;
use crate::layout::{TableLayout, Version};
use crate::program::{Program, ProgramSegment};
use crate::table_data::TableData;

/// Location of the table in a file, and the address that it was linked for. It is only valid for the file that it was
/// found in; for another one, results are empty or wrong, but there is no panic.
#[derive(Clone, Debug)]
pub struct GoTable {
    bytes: Range<usize>,
    layout: TableLayout,
    text: u64,
    inlined_calls: Range<usize>,
}

/// A table that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadGoTable {
    /// Its file offset.
    pub offset: u64,
    /// True if the step limit was reached before its code was found.
    pub is_out_of_steps: bool,
}

/// The words of a file as loaded at its stated addresses.
struct FileWords<'i> {
    bytes: &'i [u8],
    segments: &'i [ProgramSegment],
    steps: &'i StepLimit<'i>,
    relative: Vec<(u64, u64)>,
}

/// Step limit of a search. Each item of a loop over the file costs one step.
struct StepLimit<'s> {
    take: &'s dyn Fn() -> bool,
    are_out: Cell<bool>,
}

impl StepLimit<'_> {
    /// Yields items until the steps are exhausted. The check for another item also costs a step, since filters before
    /// it may examine many items.
    fn each<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = I::Item> {
        let mut items = items.into_iter();
        std::iter::from_fn(move || {
            let has_left = (self.take)();
            self.are_out.set(self.are_out.get() || !has_left);
            if has_left { items.next() } else { None }
        })
    }
}

/// Indexes of words in the module data. Its first word is the address of the table.
const NAMES: u64 = 1;
const RECORDS: u64 = 13;
const TEXT: u64 = 22;

impl GoTable {
    /// Finds the table of a program; `None` if it has none of a known version. `take_step` is called for each item of a
    /// loop over the file, and returns whether the search may continue.
    ///
    /// # Errors
    /// If there is a table that cannot be read.
    pub fn find(
        program: &dyn Program,
        take_step: &dyn Fn() -> bool,
    ) -> Option<Result<Self, BadGoTable>> {
        let is_wide = program.bytes().get(4) == Some(&2);
        if !is_wide || !program.is_little_endian() {
            return None;
        }
        let steps = StepLimit { take: take_step, are_out: Cell::new(false) };
        let named = [".gopclntab", ".data.rel.ro.gopclntab"];
        let found = match named.into_iter().find_map(|name| program.section(name)) {
            Some(section) => (section.bytes?, section.address),
            None => hidden(program, &steps)?,
        };
        let (bytes, address) = found;
        let offset = bytes.start as u64;
        let all = program.bytes().get(bytes.clone())?;
        // Versions before 1.16 are not read.
        let is_old = all.starts_with(&[0xfb, 0xff, 0xff, 0xff]);
        let layout = TableLayout::read(all);
        if is_old || layout.is_none_or(|layout| layout.functions == 0) {
            return (!is_old).then_some(Err(BadGoTable { offset, is_out_of_steps: false }));
        }
        let table = Self::with(program, bytes, address, layout?, &steps);
        Some(table.ok_or_else(|| BadGoTable { offset, is_out_of_steps: steps.are_out.get() }))
    }

    fn with(
        program: &dyn Program,
        bytes: Range<usize>,
        address: u64,
        layout: TableLayout,
        steps: &StepLimit<'_>,
    ) -> Option<Self> {
        let segments = program.segments();
        let mut table = Self { bytes, layout, text: layout.text, inlined_calls: 0..0 };
        if layout.version != Version::Go116 {
            let (bytes, relative) = (program.bytes(), program.relative_words());
            let words = FileWords { bytes, segments: &segments, steps, relative };
            let module = words.module(address, &layout);
            if let Some((module, text)) = module.zip(module.and_then(|it| words.get(it, TEXT))) {
                table.text = text;
                let end = address.wrapping_add(table.bytes.len() as u64);
                let found = inlined_calls(&words, module, end, layout.version);
                table.inlined_calls = found.unwrap_or(0..0);
            }
        }
        let (start, end) = table.functions(program).extent()?;
        let is_code = segments.iter().filter(|segment| segment.is_executable).any(|segment| {
            let left = segment.holds(start).map(|within| segment.file_size - within);
            left.is_some_and(|left| end.wrapping_sub(start) <= left)
        });
        (is_code && start < end).then_some(table)
    }

    /// Returns the functions of the table.
    #[must_use]
    pub fn functions<'i>(&self, program: &'i dyn Program) -> GoFunctions<'i> {
        let part = |range: &Range<usize>| program.bytes().get(range.clone()).unwrap_or_default();
        GoFunctions(TableData {
            program,
            bytes: part(&self.bytes),
            layout: self.layout,
            text: self.text,
            inlined_calls: part(&self.inlined_calls),
        })
    }
}

/// Finds the table in a file that an external linker linked: it is in the data that is read-only after relocation.
fn hidden(program: &dyn Program, steps: &StepLimit<'_>) -> Option<(Range<usize>, u64)> {
    const ALIGNMENT: usize = 8;
    [".go.buildinfo", ".note.go.buildid"].iter().find_map(|name| program.section(name))?;
    let section = program.section(".data.rel.ro")?;
    let place = section.bytes?;
    let bytes = program.bytes().get(place.clone())?;
    let is_table =
        |at: &usize| bytes.get(*at..).is_some_and(|rest| TableLayout::read(rest).is_some());
    let at = steps.each((0..bytes.len()).step_by(ALIGNMENT)).find(is_table)?;
    Some((place.start + at..place.end, section.address.checked_add(at as u64)?))
}

/// Returns the trees of inlined calls, up to the end of their segment. Since 1.26 they are in the table, and the next
/// word of the module data is the end of the table.
fn inlined_calls(
    words: &FileWords<'_>,
    module: u64,
    table_end: u64,
    version: Version,
) -> Option<Range<usize>> {
    const LATER: std::ops::RangeInclusive<u64> = 41..=48;
    let ends_table = |&word: &u64| words.get(module, word) == Some(table_end);
    let word = match version {
        Version::Go116 => return None,
        Version::Go118 => 38,
        Version::Go120 => LATER.into_iter().find(ends_table).map_or(40, |word| word - 1),
    };
    let address = words.get(module, word)?;
    let mut holding = words.segments.iter().filter_map(|it| Some((it, it.holds(address)?)));
    let (segment, within) = holding.next()?;
    let start = usize::try_from(segment.offset.checked_add(within)?).ok()?;
    let end = start.checked_add(usize::try_from(segment.file_size - within).ok()?)?;
    (end <= words.bytes.len()).then_some(start..end)
}

impl FileWords<'_> {
    /// Reads the word at an index from an address.
    fn get(&self, from: u64, index: u64) -> Option<u64> {
        let address = from.checked_add(8 * index)?;
        if let Ok(known) = self.relative.binary_search_by_key(&address, |&(word, _)| word) {
            return Some(self.relative.get(known)?.1);
        }
        let segments = self.steps.each(self.segments);
        let mut offsets = segments.filter_map(|it| Some(it.offset.checked_add(it.holds(address)?)));
        u64_at(self.bytes, usize::try_from(offsets.next()??).ok()?)
    }

    /// Returns the address of the module data for the table at an address. Three of its words are addresses in the
    /// table, as its header states them.
    fn module(&self, table: u64, layout: &TableLayout) -> Option<u64> {
        let is_module = |&at: &u64| {
            let part = |offset: usize| table.checked_add(offset as u64);
            self.get(at, 0) == Some(table)
                && self.get(at, NAMES) == part(layout.names)
                && self.get(at, RECORDS) == part(layout.records)
        };
        let relative = self.steps.each(&self.relative).filter(|(_, address)| *address == table);
        relative.map(|(word, _)| *word).find(is_module).or_else(|| {
            let segments = self.segments.iter().filter(|segment| segment.is_writable);
            let words = segments.flat_map(|segment| {
                let start = usize::try_from(segment.offset).unwrap_or(usize::MAX);
                let size = usize::try_from(segment.file_size).unwrap_or(usize::MAX);
                let bytes = self.bytes.get(start..start.saturating_add(size));
                let words = self.steps.each(bytes.unwrap_or_default().chunks_exact(8)).enumerate();
                let wanted = table.to_le_bytes();
                let found = words.filter(move |(_, word)| *word == wanted);
                found.map(|(index, _)| segment.address.wrapping_add(8 * index as u64))
            });
            words.into_iter().find(is_module)
        })
    }
}
