//! Callgrind's profile format, for `KCachegrind`, `QCachegrind` and `callgrind_annotate`.
//!
//! Readers sum the costs of all calls to a function as its inclusive cost. With recursion, this would count a sample
//! several times. The cost of a sample is therefore assigned to one call of each function on its stack, the outermost
//! one. The other calls have a cost of 0. Thread names are written as functions that call the outermost functions, so
//! that these are called, too.
//!
//! Source: <https://valgrind.org/docs/manual/cl-format.html>.

use std::io;

use hashbrown::HashMap;

use crate::facts::{FormatFacts, PLAIN};
use crate::printer::Printer;
use crate::render::text::{push_line_safe, push_number};
use crate::render::truncation::push_truncated;
use profile::query::{
    Function, FunctionId, FunctionLine, FunctionMarks, Functions, event_name, group, period_units,
};
use profile::{EventId, LONGEST_IN_TABLE, Profile, StringId, Table, ThreadId};

/// Bytes to collect before a write.
const FLUSH_SIZE: usize = 1 << 18;

/// Prints a call graph with costs by function and line.
#[derive(Debug, Clone, Copy)]
pub struct Callgrind {
    /// Whether inlined functions are separate functions.
    pub inlines: bool,
}

impl Callgrind {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::text(
        "callgrind",
        "a call graph with costs, for KCachegrind",
        &[".callgrind"],
        PLAIN,
    );
}

impl Printer for Callgrind {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let graph = Graph::new(profile, self.inlines);
        let mut text = Vec::new();
        head(profile, &graph, &mut text);
        let mut names = NumberedNames::new(profile, &graph.functions);
        let mut rows = graph.rows.iter().peekable();
        while let Some(&(CostKey { at, .. }, _)) = rows.peek() {
            text.push(b'\n');
            if let Some(function) = graph.functions.rows.get(at.function) {
                names.function(["ob", "fl", "fn"], function, &mut text);
            }
            let own_file = graph.functions.rows.get(at.function).and_then(|row| row.file);
            let mut file = own_file;
            while let Some((row, costs)) = rows.next_if(|(row, _)| row.at.function == at.function) {
                // Lines without a file belong to the file of their function.
                let file_of_line = row.at.file.filter(|_| row.at.line != 0).or(own_file);
                if std::mem::replace(&mut file, file_of_line) != file_of_line {
                    let word = if file_of_line == own_file { "fe" } else { "fi" };
                    names.file(word, file_of_line, &mut text);
                }
                let callee = row.callee.and_then(|id| graph.functions.rows.get(id));
                if let Some(callee) = callee {
                    names.function(["cob", "cfi", "cfn"], callee, &mut text);
                    text.extend_from_slice(b"calls=");
                    push_number(&mut text, costs.calls);
                    text.extend_from_slice(b" 0\n");
                }
                push_costs(&mut text, row.at.line, &costs.costs);
            }
            if text.len() >= FLUSH_SIZE {
                out.write_all(&text)?;
                text.clear();
            }
        }
        text.extend_from_slice(b"\ntotals:");
        push_numbers(&mut text, &graph.total);
        out.write_all(&text)
    }
}

/// A line of a function with its callee there; `None` for the line's own cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct CostKey {
    at: FunctionLine,
    callee: Option<FunctionId>,
}

/// Costs of a row.
#[derive(Debug, Clone)]
struct Costs {
    /// Number of samples that show the call.
    calls: u64,
    /// By column.
    costs: Vec<u64>,
}

/// Own costs of all functions, and costs of their calls.
struct Graph {
    functions: Functions,
    /// Events of the columns after the first, which counts samples: those with periods.
    columns: Vec<EventId>,
    /// Sorted: rows of a function are adjacent, and each line starts with its own cost.
    rows: Vec<(CostKey, Costs)>,
    total: Vec<u64>,
}

impl Graph {
    fn new(profile: &Profile, inlines: bool) -> Self {
        let mut functions = Functions::new(profile, inlines);
        let units = period_units(profile);
        let columns: Vec<EventId> =
            units.entries().filter(|(_, unit)| unit.is_some()).map(|(event, _)| event).collect();
        let zero = Costs { calls: 0, costs: vec![0; columns.len() + 1] };
        let mut total = zero.costs.clone();
        let mut rows: HashMap<CostKey, Costs> = HashMap::new();
        let comms = add_comms(profile, &mut functions);
        // By function: the last group that contains it, counted from 1.
        let mut seen = Table::<FunctionId, u32>::from_vec(vec![0; functions.rows.len()]);
        let mut path = Vec::new();
        let groups = group(profile, |sample| {
            let comm = comms.get(sample.thread).copied().unwrap_or(FunctionId::new(0));
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
            let mut at = FunctionLine { function: comm, file: None, line: 0 };
            for &called in path.iter().rev() {
                let row = CostKey { at, callee: Some(called.function) };
                let costs = rows.entry(row).or_insert_with(|| zero.clone());
                costs.calls += group.count;
                if let Some(seen) = seen.get_mut(called.function)
                    && *seen != number
                {
                    *seen = number;
                    add(&mut costs.costs);
                }
                at = called;
            }
            let own = rows.entry(CostKey { at, callee: None }).or_insert_with(|| zero.clone());
            add(&mut own.costs);
        }
        let mut rows: Vec<(CostKey, Costs)> = rows.into_iter().collect();
        rows.sort_unstable_by_key(|&(row, _)| row);
        Self { functions, columns, rows, total }
    }
}

/// Adds a function for each distinct thread name. Returns the function of each thread.
fn add_comms(profile: &Profile, functions: &mut Functions) -> Table<ThreadId, FunctionId> {
    let mut index = HashMap::new();
    let of_thread = profile.threads.iter().map(|thread| {
        *index.entry(thread.comm).or_insert_with(|| {
            let name = Some(thread.comm);
            functions.rows.push(Function { name, ..Function::unknown(None) })
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
        // Event names cannot contain spaces here.
        let start = text.len();
        push_line_safe(text, event_name(profile, event));
        text.iter_mut().skip(start).filter(|byte| **byte == b' ').for_each(|byte| *byte = b'_');
    }
    text.extend_from_slice(b"\nsummary:");
    push_numbers(text, &graph.total);
}

/// Appends a line with a line number and its costs.
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

/// A name, and the mark that distinguishes functions with this name.
type NumberedName = (Option<StringId>, Option<String>);

/// Assigns ids to names. A name is written in full once; later lines refer to its id.
struct NumberedNames<'a> {
    profile: &'a Profile,
    marks: FunctionMarks,
    known: [HashMap<NumberedName, u32>; 3],
}

impl<'a> NumberedNames<'a> {
    fn new(profile: &'a Profile, functions: &Functions) -> Self {
        let marks = FunctionMarks::new(profile, &functions.rows);
        Self { profile, marks, known: [HashMap::new(), HashMap::new(), HashMap::new()] }
    }

    /// Appends the lines that select a function; `words` are the keys of object, file and function.
    fn function(&mut self, words: [&str; 3], function: &Function, text: &mut Vec<u8>) {
        let mark = self.marks.of(function).map(str::to_owned);
        let names = [(function.module, None), (function.file, None), (function.name, mark)];
        for (at, (word, name)) in words.into_iter().zip(names).enumerate() {
            self.name(at, word, name, text);
        }
    }

    /// Appends the line that selects the file of the lines after it.
    fn file(&mut self, word: &str, file: Option<StringId>, text: &mut Vec<u8>) {
        self.name(1, word, (file, None), text);
    }

    /// Appends a name of the kind `at`, in full on its first use.
    fn name(&mut self, at: usize, word: &str, name: NumberedName, text: &mut Vec<u8>) {
        let Some(known) = self.known.get_mut(at) else { return };
        text.extend_from_slice(word.as_bytes());
        text.extend_from_slice(b"=(");
        let next = known.len() as u32 + 1;
        let id = *known.entry(name.clone()).or_insert(next);
        push_number(text, id);
        text.push(b')');
        if id == next {
            text.push(b' ');
            match name.0 {
                Some(name) if !self.profile.strings.get(name).is_empty() => {
                    push_truncated(
                        text,
                        self.profile.strings.get(name),
                        LONGEST_IN_TABLE,
                        push_line_safe,
                    );
                }
                _ if word.ends_with("fn") => text.extend_from_slice(b"[unknown]"),
                _ => text.extend_from_slice(b"???"),
            }
            if let Some(mark) = name.1 {
                push_line_safe(text, format!(" ({mark})").as_bytes());
            }
        }
        text.push(b'\n');
    }
}
