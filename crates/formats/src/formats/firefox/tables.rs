//! Tables that all threads share: functions, frames, and the prefix tree of stacks with a node for each inlined
//! function.

use std::io;
use std::ops::Range;

use hashbrown::HashMap;

use super::libraries::last_part;
use super::sink::TextSink;
use super::{StringArray, category};
use crate::render::text::push_number;
use profile::query::{Function, FunctionId, FunctionMarks, Functions, functions};
use profile::{
    FrameId, FrameRow, LocationId, LocationRow, ModuleKind, Profile, SampleRow, StackId, StringId,
    Table, row_ids,
};

row_ids! {
    /// Index of a node of the stack tree, which has a node for each inlined function.
    NodeId(u32);
}

/// Exclusive bound of the integers that JavaScript readers represent exactly.
const EXACT: u64 = 1 << 53;

/// A function at an address, inlined or not.
struct FrameEntry {
    location: LocationId,
    function: FunctionId,
    /// Line in the function's own file; 0 if it is unknown or in another file.
    line: u32,
    column: u32,
    /// Number of outer functions at the same address.
    depth: u32,
    category: u8,
    guessed: bool,
    gap: bool,
}

/// A column of the frame table: its name, its value for a frame, and its value for `[truncated]`.
type FrameTableColumn<'a> = (&'a str, fn(&FrameEntry) -> u32, u32);

/// Tables that the threads share.
pub(super) struct SharedTables<'a> {
    profile: &'a Profile,
    functions: Functions,
    /// By function: its module.
    module_of: Table<FunctionId, Option<u32>>,
    frames: Vec<FrameEntry>,
    /// Nodes as the caller's node and the frame.
    nodes: Table<NodeId, (Option<NodeId>, u32)>,
    /// By stack of the profile: its innermost node, first for rooted stacks, then for truncated ones.
    of_stack: [Table<StackId, Option<NodeId>>; 2],
    /// Node of `[truncated]`.
    truncated: Option<NodeId>,
    keep_unrooted: bool,
    sources: Vec<StringId>,
    source_index: HashMap<StringId, u32>,
}

impl<'a> SharedTables<'a> {
    pub(super) fn new(profile: &'a Profile, inlines: bool, keep_unrooted: bool) -> Self {
        let mut tables = Self {
            profile,
            functions: Functions::new(profile, inlines),
            module_of: Table::new(),
            frames: Vec::new(),
            nodes: Table::new(),
            of_stack: [Table::new(), Table::new()],
            truncated: None,
            keep_unrooted,
            sources: Vec::new(),
            source_index: HashMap::new(),
        };
        tables.module_of = Table::from_vec(vec![None; tables.functions.rows.len()]);
        let files = tables.functions.rows.iter().filter_map(|function| function.file);
        for file in files {
            tables.source_index.entry(file).or_insert_with(|| {
                tables.sources.push(file);
                tables.sources.len() as u32 - 1
            });
        }
        let ranges = tables.fill_frames(inlines);
        tables.fill_stacks(&ranges);
        tables
    }

    /// Returns the node of a sample's stack; `None` for a complete stack without frames.
    pub(super) fn node(&self, sample: &SampleRow) -> Option<u32> {
        let truncated = self.is_truncated(sample);
        let of_stack = &self.of_stack[usize::from(truncated)];
        let node = match sample.stack.and_then(|stack| of_stack.get(stack)) {
            Some(&node) => node,
            None => self.truncated.filter(|_| truncated),
        };
        node.map(NodeId::as_u32)
    }

    /// Returns true if the stack of a sample belongs under `[truncated]`.
    const fn is_truncated(&self, sample: &SampleRow) -> bool {
        !self.keep_unrooted && !sample.end.is_rooted()
    }

    /// Builds the frames. Returns the range of frames for each frame of the profile, outermost function first.
    fn fill_frames(&mut self, inlines: bool) -> Table<FrameId, Range<u32>> {
        let profile = self.profile;
        let mut ranges = Table::new();
        ranges.reserve(profile.frames.len());
        for row in &profile.frames {
            let start = self.frames.len() as u32;
            let Some(location) = profile.locations.get(row.location) else {
                ranges.push(start..start);
                continue;
            };
            let module = location.module.map(|module| module.0);
            let rows = functions(profile, location, inlines);
            let lines = self.functions.at(row.location);
            for (depth, (innermost, at)) in lines.iter().enumerate().rev().enumerate() {
                if let Some(of) = self.module_of.get_mut(at.function) {
                    *of = of.or(module);
                }
                let file = self.functions.rows.get(at.function).and_then(|row| row.file);
                let is_own = at.file == file;
                let column = rows.get(innermost).map_or(0, |row| row.column);
                self.frames.push(FrameEntry {
                    location: row.location,
                    function: at.function,
                    line: if is_own { at.line } else { 0 },
                    column: if is_own { column } else { 0 },
                    depth: depth as u32,
                    category: self.category(location, row),
                    guessed: row.found_by.is_unverified() && !row.found_by.is_gap(),
                    gap: row.found_by.is_gap(),
                });
            }
            ranges.push(start..self.frames.len() as u32);
        }
        ranges
    }

    fn category(&self, location: &LocationRow, frame: &FrameRow) -> u8 {
        let module = location.module.and_then(|id| self.profile.modules.get(id));
        match module.map(|module| module.kind) {
            _ if frame.kernel => category::KERNEL,
            _ if frame.found_by.is_gap() => category::TRUNCATED,
            Some(ModuleKind::Anonymous) | None => category::ANONYMOUS,
            _ => category::USER,
        }
    }

    /// Builds the nodes of complete stacks, then those below `[truncated]`.
    fn fill_stacks(&mut self, ranges: &Table<FrameId, Range<u32>>) {
        let stacks = &self.profile.stacks;
        let unused = Table::<StackId, bool>::from_vec(vec![false; stacks.len()]);
        let mut used = [unused.clone(), unused];
        let mut any_truncated = false;
        for sample in &self.profile.samples {
            let truncated = self.is_truncated(sample);
            any_truncated |= truncated;
            let used = &mut used[usize::from(truncated)];
            if let Some(slot) = sample.stack.and_then(|stack| used.get_mut(stack)) {
                *slot = true;
            }
        }
        for (which, used) in used.iter_mut().enumerate() {
            for (row, stack) in stacks.entries().rev() {
                let parent = stack.parent.filter(|&parent| parent < row);
                if used.get(row) == Some(&true)
                    && let Some(slot) = parent.and_then(|parent| used.get_mut(parent))
                {
                    *slot = true;
                }
            }
            if which == 1 && any_truncated {
                // `[truncated]` is the frame after all others, of the function after all others.
                self.truncated = Some(self.nodes.push((None, self.frames.len() as u32)));
            }
            let outside = self.truncated;
            let mut of_stack = Table::new();
            of_stack.reserve(stacks.len());
            for (stack, &used) in stacks.iter().zip(&*used) {
                if !used {
                    of_stack.push(None);
                    continue;
                }
                // Parents precede their children; a parent without an entry yet is invalid and ignored.
                let parent = stack.parent.and_then(|parent| of_stack.get(parent));
                let mut node = parent.map_or(outside, |&node| node);
                for frame in ranges.get(stack.frame).cloned().unwrap_or(0..0) {
                    node = Some(self.nodes.push((node, frame)));
                }
                of_stack.push(node);
            }
            self.of_stack[which] = of_stack;
        }
    }

    /// Writes the shared tables. The strings come last because the other tables add to them.
    pub(super) fn shared(
        &self,
        names: &mut StringArray<'_>,
        sink: &mut TextSink<'_>,
    ) -> io::Result<()> {
        sink.raw(b"\"stackTable\":{");
        let prefix = self.nodes.iter().map(|node| node.0.map(NodeId::as_u32));
        sink.options("prefix", prefix)?;
        sink.raw(b",");
        sink.column("frame", self.nodes.iter(), |text, node| push_number(text, node.1))?;
        sink.raw(format!(",\"length\":{}}},\n\"frameTable\":{{", self.nodes.len()).as_bytes());
        let symbols = self.symbols();
        self.frame_table(&symbols.1, sink)?;
        sink.raw(b"},\n\"funcTable\":{");
        self.function_table(names, sink)?;
        sink.raw(b"},\n\"resourceTable\":{");
        let n_modules = self.profile.modules.len();
        let made: Vec<u32> = self
            .profile
            .modules
            .iter()
            .map(|module| names.make(last_part(self.profile.strings.get(module.path))))
            .collect();
        sink.options("lib", (0..n_modules as u32).map(Some))?;
        sink.raw(b",");
        sink.options("name", made.into_iter().map(Some))?;
        sink.raw(b",");
        sink.repeated("host", n_modules, b"null")?;
        sink.raw(b",");
        sink.repeated("type", n_modules, b"1")?;
        sink.raw(format!(",\"length\":{n_modules}}},\n\"nativeSymbols\":{{").as_bytes());
        symbols.0.write(sink)?;
        sink.raw(b"},\n\"sources\":{");
        sink.repeated("id", self.sources.len(), b"null")?;
        sink.raw(b",");
        sink.column("filename", self.sources.iter(), |text, id| push_number(text, id.as_u32()))?;
        sink.raw(format!(",\"length\":{}}},\n", self.sources.len()).as_bytes());
        names.write(sink)
    }

    /// Returns the symbols of functions that are not inlined, and the symbol of each location.
    fn symbols(&self) -> (NativeSymbols, Table<LocationId, Option<u32>>) {
        let mut index = HashMap::new();
        let mut symbols = NativeSymbols::default();
        let of_location = self.profile.locations.iter().map(|location| {
            let start = location.relative.checked_sub(location.function_offset?)?;
            let module = location.module?.0;
            let name = functions(self.profile, location, false).first()?.function?;
            if start >= EXACT {
                return None;
            }
            Some(*index.entry((module, start)).or_insert_with(|| {
                symbols.rows.push((module, start, name));
                symbols.rows.len() as u32 - 1
            }))
        });
        let of_location = of_location.collect();
        (symbols, of_location)
    }

    fn frame_table(
        &self,
        symbols: &Table<LocationId, Option<u32>>,
        sink: &mut TextSink<'_>,
    ) -> io::Result<()> {
        // The last row is `[truncated]`.
        let n = self.frames.len() + 1;
        let rows = || self.frames.iter().map(Some).chain([None]);
        let location = |frame: &FrameEntry| self.profile.locations.get(frame.location);
        let relative = |frame: &FrameEntry| {
            let at = location(frame).filter(|_| !frame.gap)?.relative;
            (at < EXACT).then_some(at)
        };
        sink.column("address", rows(), |text, row| match row.and_then(relative) {
            Some(address) => push_number(text, address),
            None => text.extend_from_slice(b"-1"),
        })?;
        let columns: [FrameTableColumn<'_>; 4] = [
            ("inlineDepth", |frame| frame.depth, 0),
            ("category", |frame| frame.category.into(), category::TRUNCATED.into()),
            ("subcategory", |frame| frame.guessed.into(), 0),
            ("func", |frame| frame.function.as_u32(), self.functions.rows.len() as u32),
        ];
        for (name, value, last) in columns {
            sink.raw(b",");
            sink.column(name, rows(), |text, row| push_number(text, row.map_or(last, value)))?;
        }
        sink.raw(b",");
        let symbol = |frame: &FrameEntry| symbols.get(frame.location).copied().flatten();
        sink.options("nativeSymbol", rows().map(|row| row.and_then(symbol)))?;
        sink.raw(b",");
        sink.repeated("innerWindowID", n, b"0")?;
        sink.raw(b",");
        let known = |number: u32| (number > 0).then_some(number);
        sink.options("line", rows().map(|row| known(row?.line)))?;
        sink.raw(b",");
        sink.options("column", rows().map(|row| known(row?.column)))?;
        sink.raw(format!(",\"length\":{n}").as_bytes());
        Ok(())
    }

    fn function_table(
        &self,
        names: &mut StringArray<'_>,
        sink: &mut TextSink<'_>,
    ) -> io::Result<()> {
        let (unknown, truncated) = (names.make(b"[unknown]"), names.make(b"[truncated]"));
        let marks = FunctionMarks::new(self.profile, &self.functions.rows);
        let n = self.functions.rows.len() + 1;
        let rows = || self.functions.rows.iter().map(Some).chain([None]);
        let name = |row: &Function, names: &mut StringArray<'_>| {
            let own = row.name.filter(|id| !self.profile.strings.get(*id).is_empty());
            match (own, marks.of(row)) {
                (Some(own), Some(mark)) => {
                    let own = self.profile.strings.get(own);
                    names.make(&[own, format!(" ({mark})").as_bytes()].concat())
                }
                (Some(own), None) => own.as_u32(),
                (None, _) => unknown,
            }
        };
        let numbers: Vec<u32> =
            rows().map(|row| row.map_or(truncated, |row| name(row, names))).collect();
        sink.column("name", numbers.iter(), |text, number| push_number(text, *number))?;
        for (name, word) in [("isJS", b"false"), ("relevantForJS", b"false")] {
            sink.raw(b",");
            sink.repeated(name, n, word)?;
        }
        sink.raw(b",");
        let modules = self.module_of.iter().copied().chain([None]);
        sink.column("resource", modules, |text, module| match module {
            Some(module) => push_number(text, module),
            None => text.extend_from_slice(b"-1"),
        })?;
        sink.raw(b",");
        let source = |row: &Function| self.source_index.get(&row.file?).copied();
        sink.options("source", rows().map(|row| row.and_then(source)))?;
        sink.raw(b",");
        let line = |row: &Function| (row.line > 0).then_some(row.line);
        sink.options("lineNumber", rows().map(|row| row.and_then(line)))?;
        sink.raw(b",");
        sink.repeated("columnNumber", n, b"null")?;
        sink.raw(format!(",\"length\":{n}").as_bytes());
        Ok(())
    }
}

/// Symbols as module, start and name.
#[derive(Default)]
struct NativeSymbols {
    rows: Vec<(u32, u64, StringId)>,
}

impl NativeSymbols {
    fn write(&self, sink: &mut TextSink<'_>) -> io::Result<()> {
        sink.column("libIndex", self.rows.iter(), |text, row| push_number(text, row.0))?;
        sink.raw(b",");
        sink.column("address", self.rows.iter(), |text, row| push_number(text, row.1))?;
        sink.raw(b",");
        sink.column("name", self.rows.iter(), |text, row| push_number(text, row.2.as_u32()))?;
        sink.raw(b",");
        sink.repeated("functionSize", self.rows.len(), b"null")?;
        sink.raw(format!(",\"length\":{}", self.rows.len()).as_bytes());
        Ok(())
    }
}
