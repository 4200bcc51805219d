//! A difference as an HTML page: the union of all stacks with the cost per node and recording. From these, the scripts
//! of the crate `web` compute costs per function for any subset of stacks, and their significance.

use std::io;

use options::Spelling;
use profile::query::diff::{
    Diff, DiffFunction, DiffLabel, DiffName, DiffNode, DiffNodeId, DiffRun, DiffWeight, NotCompared,
};

use super::labels::{function, module};
use super::notes::{normalization, not_by_time, sentence};
use super::scale::Scale;
use crate::formats::{PAGE_NONE, PageRowColumn, PageWidth, page_column, write_page, write_tables};
use crate::render::encoding::json_writer::JsonWriter;

/// Version of the layout of the head and the columns. `data/compare/diff.js` has the same.
const VERSION: u8 = 1;

/// Prints the page.
pub(super) fn print(diff: &Diff, spelling: Spelling, out: &mut dyn io::Write) -> io::Result<()> {
    write_page(out, &head(diff, spelling), |sink| columns(diff, sink))
}

/// Prints only the tables of the page, as a gzip stream, for a server that has the rest of the page.
///
/// # Errors
/// Returns the error of writing to `out`, unchanged.
pub fn print_diff_tables(
    diff: &Diff,
    spelling: Spelling,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    write_tables(out, &head(diff, spelling), |sink| columns(diff, sink))
}

/// A node of the union of all stacks.
struct PageDiffNode {
    parent: Option<DiffNodeId>,
    /// Index of its label.
    label: u64,
}

/// The columns of nodes.
const NODES: &[PageRowColumn<PageDiffNode>] = &[
    PageRowColumn::new("parent", PageWidth::U32, |row| {
        row.parent.map_or(PAGE_NONE, |id| id.index() as u32).into()
    }),
    PageRowColumn::new("func", PageWidth::U32, |row| row.label),
];

/// Columns of each recording, with a row per node. The recording's number is appended to the name.
const WEIGHTS: &[PageRowColumn<DiffWeight>] =
    &[PageRowColumn::new("samples", PageWidth::U32, |weight| weight.samples)];

/// Columns of each recording that exist only if a unit other than samples is compared.
const COSTS: &[PageRowColumn<DiffWeight>] = &[
    PageRowColumn::new("cost", PageWidth::F64, |weight| (weight.cost as f64).to_bits()),
    PageRowColumn::new("squares", PageWidth::F64, |weight| (weight.squares as f64).to_bits()),
];

/// Returns all columns of one recording.
fn of_runs(diff: &Diff) -> impl Iterator<Item = &'static PageRowColumn<DiffWeight>> {
    WEIGHTS.iter().chain(diff.unit.map(|_| COSTS).unwrap_or_default())
}

fn columns(diff: &Diff, sink: &mut dyn io::Write) -> io::Result<()> {
    let labels = NodeLabels::new(diff);
    let node =
        |node: &DiffNode| PageDiffNode { parent: node.parent, label: labels.number(node.label) };
    let nodes: Vec<PageDiffNode> = diff.tree.iter().map(node).collect();
    for column in NODES {
        page_column(sink, column.width, nodes.iter().map(column.number))?;
    }
    for run in &diff.weights {
        let weight = |node| run.get(node).copied().unwrap_or_default();
        for column in of_runs(diff) {
            let rows = (0..diff.tree.len()).map(|node| (column.number)(&weight(node)));
            page_column(sink, column.width, rows)?;
        }
    }
    Ok(())
}

/// Labels of nodes in one numbering: functions, modules (which filters substitute for functions), thread names, and the
/// label of truncated stacks.
struct NodeLabels {
    threads: Vec<profile::StringId>,
    first_thread: usize,
}

impl NodeLabels {
    fn new(diff: &Diff) -> Self {
        let mut threads = Vec::new();
        for node in &diff.tree {
            if let DiffLabel::Thread(name) = node.label {
                threads.push(name);
            }
        }
        threads.sort_unstable();
        threads.dedup();
        Self { threads, first_thread: diff.functions.len() + diff.modules.len() }
    }

    fn number(&self, label: DiffLabel) -> u64 {
        let number = match label {
            DiffLabel::Function(function) => function.index(),
            DiffLabel::Thread(name) => {
                self.first_thread + self.threads.binary_search(&name).unwrap_or_default()
            }
            DiffLabel::Truncated => self.first_thread + self.threads.len(),
        };
        number as u64
    }
}

/// Returns the head of the page: all data except the columns.
fn head(diff: &Diff, spelling: Spelling) -> Vec<u8> {
    let mut json = JsonWriter::default();
    json.object(|json| {
        json.key("kind").string(b"diff");
        json.key("version").number(VERSION);
        json.key("title").string(title(diff));
        json.key("event").string(&diff.event);
        json.key("unit").string(diff.unit.unwrap_or("samples"));
        json.key("normalization").string(diff.normalization.as_str());
        json.key("normalized").string(normalization(diff));
        let scale = Scale::new(diff);
        let (divisor, decimals, suffix) = scale.parts();
        json.key("scale").array([()], |json, ()| {
            json.float(divisor);
            json.number(decimals as u64);
            json.string(suffix);
        });
        json.key("method").string(diff.method.as_str());
        json.key("exactNames").number(u8::from(diff.exact_names));
        json.key("inlines").number(u8::from(diff.inlines));
        let why = not_by_time(diff, spelling).into_iter();
        let notes = why.chain(diff.notes.iter().map(|note| sentence(diff, note, spelling)));
        json.key("notes").array(notes, |json, note| json.string(note));
        for (name, side) in [("before", &diff.before), ("after", &diff.after)] {
            let runs = side.runs.iter().zip(&side.factors);
            json.key(name).array(runs, |json, (row, factor)| run(json, row, *factor));
        }
        tables(json, diff);
    });
    json.into_bytes()
}

/// Returns the names of the recordings before and after.
fn title(diff: &Diff) -> String {
    let [before, after] = [&diff.before, &diff.after].map(|side| {
        let names: Vec<&str> = side.runs.iter().map(|run| &*run.name).collect();
        names.join(" ")
    });
    format!("{before} → {after}")
}

fn run(json: &mut JsonWriter, run: &DiffRun, factor: f64) {
    json.object(|json| {
        json.key("name").string(&run.name);
        json.key("seconds").float(run.seconds);
        json.key("factor").float(factor);
        json.key("samples").number(run.total.samples);
        json.key("cost").number(run.total.cost);
        json.key("squares").float(run.total.squares as f64);
        json.key("complete").number(run.complete);
        json.key("truncated").number(run.truncated);
        json.key("lost").number(run.lost);
        json.key("threads").number(run.threads as u64);
    });
}

/// Appends the modules, functions, thread names, and shapes of the columns.
fn tables(json: &mut JsonWriter, diff: &Diff) {
    json.key("modules").array(diff.modules.entries(), |json, (id, row)| {
        json.object(|json| {
            json.key("path").string(module(diff, id));
            json.key("before").number(u8::from(row.sampled[0]));
            json.key("after").number(u8::from(row.sampled[1]));
            json.key("paired").number(u8::from(row.paired.is_some()));
            json.key("sameFile").maybe(row.same_build.map(u8::from));
        });
    });
    // The name, the source file (unknown here), and the module.
    json.key("functions").array(diff.functions.entries(), |json, (id, row)| {
        json.array([row], |json, row| {
            json.number(id.index() as u64);
            json.number(-1);
            json.number(row.module.map_or(-1, |module| module.index() as i64));
        });
    });
    json.key("names").array(&diff.functions, |json, row| json.string(name(diff, row)));
    // By function: 0 if it is compared, 1 if its module has no partner, 2 if its name is missing before or after.
    json.key("notCompared").array(&diff.functions, |json, row| {
        json.number(match row.not_compared {
            None => 0_u8,
            Some(NotCompared::NoPartner) => 1,
            Some(NotCompared::NoName) => 2,
        });
    });
    let is_gap = |row: &DiffFunction| row.name == DiffName::Gap;
    let gap = diff.functions.iter().position(is_gap);
    json.key("gap").number(gap.map_or(-1, |at| at as i64));
    let labels = NodeLabels::new(diff);
    json.key("threads").array(&labels.threads, |json, &name| json.string(diff.text(name)));
    let mut shapes: Vec<(String, PageWidth)> =
        NODES.iter().map(|column| (column.name.to_owned(), column.width)).collect();
    for run in 0..diff.weights.len() {
        let of_run = |column: &PageRowColumn<DiffWeight>| format!("{}{run}", column.name);
        shapes.extend(of_runs(diff).map(|column| (of_run(column), column.width)));
    }
    json.key("columns").array(shapes, |json, shape| {
        json.array([shape], |json, (name, width)| {
            json.string(name);
            json.string(width.name());
            json.number(diff.tree.len() as u64);
        });
    });
}

/// Returns a function's name; empty for an unknown function, which the page names after its module.
fn name<'a>(diff: &'a Diff, row: &DiffFunction) -> std::borrow::Cow<'a, [u8]> {
    match row.name {
        DiffName::Unknown => b"".into(),
        _ => function(diff, row),
    }
}
