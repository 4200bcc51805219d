//! Answers to questions about a profile: a table of what costs most, or the tree of calls.

use hashbrown::HashMap;
use profile::query::FunctionLine;
use profile::{Profile, StringId, ThreadId};
use serde::Serialize;

use super::about::text;
use super::selected::{Selected, Stack};
use crate::problem::Problem;
use crate::query::{Group, Query, View};

/// An answer.
#[derive(Debug, Serialize)]
pub(super) struct Answered {
    /// In what weights are counted: `samples`, `nanoseconds` or `events`.
    unit: &'static str,
    /// The event whose samples are counted.
    event: Option<String>,
    /// Samples that passed the filter.
    samples: u64,
    /// What they weigh.
    total: u64,
    /// The share of them whose chain is complete.
    complete_share: f64,
    /// Rows that limits left out.
    cut: usize,
    rows: Vec<Row>,
}

/// A row of a table, or a node of a tree.
#[derive(Debug, Default, Serialize)]
struct Row {
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// The row of the node that it is below; trees only.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<usize>,
    own: u64,
    inclusive: u64,
}

/// What samples have in common that are added up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Code(FunctionLine),
    Module(Option<StringId>),
    Thread(ThreadId),
    Process(i32),
    Comm(StringId),
}

/// What is counted of a key.
#[derive(Clone, Copy)]
struct Sums {
    key: Key,
    own: u64,
    inclusive: u64,
    /// The last stack that was counted here: one with a function twice counts once.
    last: usize,
}

/// Answers a question.
pub(super) fn rows(profile: &Profile, query: &Query, inlines: bool) -> Result<Answered, Problem> {
    let selected = Selected::new(profile, query, inlines)?;
    let total = selected.stacks.iter().map(|stack| stack.weight).sum();
    let least = (query.min_share * total as f64).ceil() as u64;
    let (rows, cut) = match query.view {
        View::Top => top(&selected, query, least),
        View::Tree => tree(&selected, query, least),
    };
    Ok(Answered {
        unit: selected.unit,
        event: selected.event,
        samples: selected.samples,
        total,
        complete_share: selected.complete as f64 / selected.samples.max(1) as f64,
        cut,
        rows,
    })
}

fn top(selected: &Selected<'_>, query: &Query, least: u64) -> (Vec<Row>, usize) {
    let mut index: HashMap<Key, usize> = HashMap::new();
    let mut sums: Vec<Sums> = Vec::new();
    let mut path = Vec::new();
    for (number, stack) in (1..).zip(&selected.stacks) {
        let mut count = |key, is_own| {
            let at = *index.entry(key).or_insert_with(|| {
                sums.push(Sums { key, own: 0, inclusive: 0, last: 0 });
                sums.len() - 1
            });
            let Some(sum) = sums.get_mut(at) else { return };
            if is_own {
                sum.own = sum.own.saturating_add(stack.weight);
            }
            if std::mem::replace(&mut sum.last, number) != number {
                sum.inclusive = sum.inclusive.saturating_add(stack.weight);
            }
        };
        if let Some(key) = thread_key(selected.profile, stack, query.group) {
            count(key, true);
            continue;
        }
        selected.path(stack, &mut path);
        for (depth, &at) in path.iter().enumerate() {
            count(code_key(selected, at, query.group), depth == 0);
        }
    }
    let all = sums.len();
    sums.retain(|sum| sum.inclusive >= least);
    sums.sort_by_key(|sum| std::cmp::Reverse((sum.own, sum.inclusive)));
    sums.truncate(query.rows());
    let rows: Vec<Row> = sums.iter().map(|sum| row(selected, sum)).collect();
    let cut = all - rows.len();
    (rows, cut)
}

/// The key of a stack's thread, where samples are grouped by what is outside of functions.
fn thread_key(profile: &Profile, stack: &Stack, group: Group) -> Option<Key> {
    let thread = profile.threads.get(stack.thread);
    match group {
        Group::Function | Group::Line | Group::Module => None,
        Group::Thread => Some(Key::Thread(stack.thread)),
        Group::Process => Some(Key::Process(thread.map_or(-1, |thread| thread.pid.0))),
        Group::Comm => Some(thread.map_or(Key::Thread(stack.thread), |it| Key::Comm(it.comm))),
    }
}

fn code_key(selected: &Selected<'_>, at: FunctionLine, group: Group) -> Key {
    match group {
        Group::Line => Key::Code(at),
        Group::Module => Key::Module(selected.function(at.function).module),
        _ => Key::Code(FunctionLine { line: 0, ..at }),
    }
}

fn row(selected: &Selected<'_>, sum: &Sums) -> Row {
    let profile = selected.profile;
    let row = Row { own: sum.own, inclusive: sum.inclusive, ..Row::default() };
    match sum.key {
        Key::Code(at) => Row { own: sum.own, inclusive: sum.inclusive, ..code_row(selected, at) },
        Key::Module(module) => Row { name: module.map(|id| text(profile, id)), ..row },
        Key::Thread(id) => {
            let thread = profile.threads.get(id);
            let name = thread.map(|it| format!("{} {}", text(profile, it.comm), it.tid.0));
            Row { name, ..row }
        }
        Key::Process(pid) => Row { name: Some(pid.to_string()), ..row },
        Key::Comm(comm) => Row { name: Some(text(profile, comm)), ..row },
    }
}

/// A function, with its line where it has one.
fn code_row(selected: &Selected<'_>, at: FunctionLine) -> Row {
    let function = selected.function(at.function);
    let text = |id: Option<StringId>| id.map(|id| text(selected.profile, id));
    Row {
        name: text(function.name),
        module: text(function.module),
        file: text(function.file),
        line: (at.line > 0).then_some(at.line),
        ..Row::default()
    }
}

/// A node of the tree of calls.
struct Node {
    at: FunctionLine,
    parent: Option<usize>,
    depth: usize,
    own: u64,
    inclusive: u64,
}

/// The tree, a parent before its children; nodes that cost too little or lie too deep are left out with what is below.
fn tree(selected: &Selected<'_>, query: &Query, least: u64) -> (Vec<Row>, usize) {
    let mut index: HashMap<(Option<usize>, FunctionLine), usize> = HashMap::new();
    let mut nodes: Vec<Node> = Vec::new();
    let mut path = Vec::new();
    for stack in &selected.stacks {
        selected.path(stack, &mut path);
        if !query.inverted {
            path.reverse();
        }
        let mut parent = None;
        for (depth, &at) in path.iter().enumerate() {
            let at = FunctionLine { line: 0, ..at };
            let node = *index.entry((parent, at)).or_insert_with(|| {
                nodes.push(Node { at, parent, depth, own: 0, inclusive: 0 });
                nodes.len() - 1
            });
            if let Some(node) = nodes.get_mut(node) {
                node.inclusive = node.inclusive.saturating_add(stack.weight);
                if depth + 1 == path.len() {
                    node.own = node.own.saturating_add(stack.weight);
                }
            }
            parent = Some(node);
        }
    }
    let deepest = query.depth.unwrap_or(usize::MAX);
    let mut kept: Vec<usize> = (0..nodes.len())
        .filter(|&at| {
            nodes.get(at).is_some_and(|node| node.inclusive >= least && node.depth < deepest)
        })
        .collect();
    // A parent costs no less than its children and comes before them, so that it stays where they do.
    kept.sort_by_key(|&at| (std::cmp::Reverse(nodes.get(at).map_or(0, |it| it.inclusive)), at));
    kept.truncate(query.rows());
    kept.sort_unstable();
    let places: HashMap<usize, usize> = kept.iter().copied().zip(0..).collect();
    let rows = kept.iter().filter_map(|&at| nodes.get(at)).map(|node| Row {
        parent: node.parent.and_then(|parent| places.get(&parent).copied()),
        depth: Some(node.depth),
        own: node.own,
        inclusive: node.inclusive,
        ..code_row(selected, node.at)
    });
    let rows: Vec<Row> = rows.collect();
    let cut = nodes.len() - rows.len();
    (rows, cut)
}
