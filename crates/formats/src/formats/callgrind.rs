//! Callgrind's profile format, for `KCachegrind`, `QCachegrind` and `callgrind_annotate`.
//!
//! Readers take the costs of all calls of a function for its inclusive cost. So that recursion does not count a sample
//! twice, a sample's cost goes to one call of each function on its stack: the outermost one. The other calls are there
//! with a cost of 0. So that the outermost functions are called, too, the threads' names are functions that call them.
//!
//! Source: <https://valgrind.org/docs/manual/cl-format.html>.

use std::io;

use hashbrown::HashMap;

use crate::printer::Printer;
use crate::render::text::{push_line_safe, push_number};
use profile::Profile;
use profile::StringId;
use profile::query::{At, Function, Functions, event_name, group, period_units};

/// Bytes that are collected before they are written.
const PIECE: usize = 1 << 18;

/// Prints a call graph with costs by function and line.
#[derive(Debug, Clone, Copy)]
pub struct Callgrind {
    /// Whether inlined functions are functions of their own.
    pub inlines: bool,
}

impl Printer for Callgrind {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let graph = Graph::new(profile, self.inlines);
        let mut text = Vec::new();
        head(profile, &graph, &mut text);
        let mut names = Names::new(profile);
        let mut rows = graph.rows.iter().peekable();
        while let Some(&(Row { at, .. }, _)) = rows.peek() {
            text.push(b'\n');
            if let Some(function) = graph.functions.rows.get(at.function as usize) {
                names.function(["ob", "fl", "fn"], function, &mut text);
            }
            while let Some((row, costs)) = rows.next_if(|(row, _)| row.at.function == at.function) {
                let callee = row.callee.and_then(|id| graph.functions.rows.get(id as usize));
                if let Some(callee) = callee {
                    names.function(["cob", "cfi", "cfn"], callee, &mut text);
                    text.extend_from_slice(b"calls=");
                    push_number(&mut text, costs.calls);
                    text.extend_from_slice(b" 0\n");
                }
                push_costs(&mut text, row.at.line, &costs.costs);
            }
            if text.len() >= PIECE {
                out.write_all(&text)?;
                text.clear();
            }
        }
        text.extend_from_slice(b"\ntotals:");
        push_numbers(&mut text, &graph.total);
        out.write_all(&text)
    }
}

/// A function's line, and the function that was called there; `None` for the line's own cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Row {
    at: At,
    callee: Option<u32>,
}

/// What a row costs.
#[derive(Debug, Clone)]
struct Costs {
    /// Samples that show the call.
    calls: u64,
    /// By column.
    costs: Vec<u64>,
}

/// Own costs and calls of all functions.
struct Graph {
    functions: Functions,
    /// Names of the columns: samples, then the events with periods.
    columns: Vec<u16>,
    /// Sorted: a function's rows are neighbours, its own costs first on each line.
    rows: Vec<(Row, Costs)>,
    total: Vec<u64>,
}

impl Graph {
    fn new(profile: &Profile, inlines: bool) -> Self {
        let mut functions = Functions::new(profile, inlines);
        let columns: Vec<u16> = (0_u16..)
            .zip(period_units(profile))
            .filter(|(_, unit)| unit.is_some())
            .map(|(event, _)| event)
            .collect();
        let zero = Costs { calls: 0, costs: vec![0; columns.len() + 1] };
        let mut total = zero.costs.clone();
        let mut rows: HashMap<Row, Costs> = HashMap::new();
        let comms = add_comms(profile, &mut functions);
        // By function: the last group, counted from 1, in which it was met.
        let mut seen = vec![0_u32; functions.rows.len()];
        let mut path = Vec::new();
        let groups = group(&profile.samples, |sample| {
            let comm = comms.get(sample.thread as usize).copied().unwrap_or(0);
            (sample.stack, sample.event, comm)
        });
        for (number, group) in (1_u32..).zip(&groups) {
            let (stack, event, comm) = group.key;
            let column = columns.iter().position(|&column| column == event);
            let add = |costs: &mut [u64]| {
                let of_period = column.map(|column| (column + 1, group.period));
                for (at, cost) in [Some((0, group.count)), of_period].into_iter().flatten() {
                    if let Some(slot) = costs.get_mut(at) {
                        *slot = slot.saturating_add(cost);
                    }
                }
            };
            add(&mut total);
            functions.path(profile, stack, &mut path);
            let mut at = At { function: comm, line: 0 };
            for &called in path.iter().rev() {
                let row = Row { at, callee: Some(called.function) };
                let costs = rows.entry(row).or_insert_with(|| zero.clone());
                costs.calls += group.count;
                if let Some(seen) = seen.get_mut(called.function as usize)
                    && *seen != number
                {
                    *seen = number;
                    add(&mut costs.costs);
                }
                at = called;
            }
            let own = rows.entry(Row { at, callee: None }).or_insert_with(|| zero.clone());
            add(&mut own.costs);
        }
        let mut rows: Vec<(Row, Costs)> = rows.into_iter().collect();
        rows.sort_unstable_by_key(|&(row, _)| row);
        Self { functions, columns, rows, total }
    }
}

/// Adds a function for each name of threads; gives that of each thread.
fn add_comms(profile: &Profile, functions: &mut Functions) -> Vec<u32> {
    let mut index = HashMap::new();
    let of_thread = profile.threads.iter().map(|thread| {
        *index.entry(thread.comm).or_insert_with(|| {
            functions.rows.push(Function { name: Some(thread.comm), file: None, module: None });
            functions.rows.len() as u32 - 1
        })
    });
    of_thread.collect()
}

fn head(profile: &Profile, graph: &Graph, text: &mut Vec<u8>) {
    text.extend_from_slice(b"# callgrind format\nversion: 1\ncreator: unwind-perf ");
    text.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
    text.extend_from_slice(b"\ncmd:");
    for &word in &profile.recording.command_line {
        text.push(b' ');
        push_line_safe(text, profile.strings.get(word));
    }
    text.extend_from_slice(b"\npositions: line\nevents: Samples");
    for &event in &graph.columns {
        text.push(b' ');
        // A name of an event is a word here.
        let start = text.len();
        push_line_safe(text, event_name(profile, event));
        text.iter_mut().skip(start).filter(|byte| **byte == b' ').for_each(|byte| *byte = b'_');
    }
    text.extend_from_slice(b"\nsummary:");
    push_numbers(text, &graph.total);
}

/// Appends a line of a line number and its costs.
fn push_costs(text: &mut Vec<u8>, line: u32, costs: &[u64]) {
    push_number(text, line);
    push_numbers(text, costs);
}

fn push_numbers(text: &mut Vec<u8>, numbers: &[u64]) {
    for &number in numbers {
        text.push(b' ');
        push_number(text, number);
    }
    text.push(b'\n');
}

/// Names are written once and referred to by a number.
struct Names<'a> {
    profile: &'a Profile,
    known: [HashMap<Option<StringId>, u32>; 3],
}

impl<'a> Names<'a> {
    fn new(profile: &'a Profile) -> Self {
        Self { profile, known: [HashMap::new(), HashMap::new(), HashMap::new()] }
    }

    /// Appends the lines that say which function is meant; the words are those for object, file and function.
    fn function(&mut self, words: [&str; 3], function: &Function, text: &mut Vec<u8>) {
        let names = [function.module, function.file, function.name];
        for ((word, name), known) in words.iter().zip(names).zip(&mut self.known) {
            text.extend_from_slice(word.as_bytes());
            text.extend_from_slice(b"=(");
            let next = known.len() as u32 + 1;
            let id = *known.entry(name).or_insert(next);
            push_number(text, id);
            text.push(b')');
            if id == next {
                text.push(b' ');
                match name {
                    Some(name) if !self.profile.strings.get(name).is_empty() => {
                        push_line_safe(text, self.profile.strings.get(name));
                    }
                    _ if word.ends_with("fn") => text.extend_from_slice(b"[unknown]"),
                    _ => text.extend_from_slice(b"???"),
                }
            }
            text.push(b'\n');
        }
    }
}
