//! The table of what costs most.

use options::GroupBy;
use std::cmp::Reverse;

use super::Rows;
use super::index::GroupKeys;
use super::paths::NONE;
use super::selection::Selection;
use crate::id::{RowId as _, StringId, ThreadId};
use crate::query::functions::{FunctionId, FunctionLine};
use crate::tables::ProcessKey;
use hashbrown::HashMap;

/// The key by which samples are added up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowKey {
    /// A function, or a line of it.
    Code(FunctionLine),
    /// A module's path; `None` if nothing was mapped.
    Module(Option<StringId>),
    /// A thread under one name.
    Thread(ThreadId),
    /// A process under one name.
    Process(ProcessKey),
    /// A name of threads.
    Comm(StringId),
}

/// A row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableRow {
    /// The key.
    pub key: RowKey,
    /// The weight of samples in which it ran itself.
    pub own: u64,
    /// The weight of samples in whose stack it is, however often.
    pub inclusive: u64,
}

/// What is counted of a key.
#[derive(Clone, Copy)]
struct Sums {
    own: u64,
    inclusive: u64,
    /// The first that was counted here, which is [`NONE`] for none, and how deep in its stack. Of keys that cost the same
    /// the first comes first, and of one stack the innermost.
    first: u32,
    depth: u32,
}

const NOTHING: Sums = Sums { own: 0, inclusive: 0, first: NONE, depth: 0 };

/// The rows that cost at least `least`, up to `most` of them. By control groups, events and processors there are none.
#[must_use]
pub fn table(selection: &Selection<'_>, group: GroupBy, least: u64, most: usize) -> Rows<TableRow> {
    let mut sums = match group {
        GroupBy::Function | GroupBy::Line | GroupBy::Module => by_code(selection, group),
        GroupBy::Thread | GroupBy::Process | GroupBy::Comm => by_thread(selection, group),
        GroupBy::Cgroup | GroupBy::Event | GroupBy::Cpu => Vec::new(),
    };
    let all = sums.len();
    sums.retain(|(_, sum)| sum.inclusive >= least);
    sums.sort_unstable_by_key(|(_, sum)| {
        (Reverse((sum.own, sum.inclusive)), sum.first, Reverse(sum.depth))
    });
    sums.truncate(most);
    let row =
        |&(key, Sums { own, inclusive, .. }): &(RowKey, Sums)| TableRow { key, own, inclusive };
    let rows: Vec<TableRow> = sums.iter().map(row).collect();
    let cut = all - rows.len();
    (rows, cut)
}

fn by_thread(selection: &Selection<'_>, group: GroupBy) -> Vec<(RowKey, Sums)> {
    let threads = &selection.profile.threads;
    let mut of_thread = vec![NOTHING; threads.len()];
    for (order, it) in (0..).zip(&selection.counted) {
        if let Some(sums) = of_thread.get_mut(it.thread.index()) {
            sums.own = sums.own.saturating_add(it.weight);
            sums.first = order.min(sums.first);
        }
    }
    let mut index: HashMap<RowKey, usize> = HashMap::new();
    let mut all: Vec<(RowKey, Sums)> = Vec::new();
    for ((id, thread), sums) in threads.ids().zip(threads).zip(of_thread) {
        if sums.first == NONE {
            continue;
        }
        let key = match group {
            GroupBy::Process => RowKey::Process(thread.process_key()),
            GroupBy::Comm => RowKey::Comm(thread.comm),
            _ => RowKey::Thread(id),
        };
        let at = *index.entry(key).or_insert_with(|| {
            all.push((key, NOTHING));
            all.len() - 1
        });
        if let Some((_, sum)) = all.get_mut(at) {
            sum.own = sum.own.saturating_add(sums.own);
            sum.inclusive = sum.own;
            sum.first = sum.first.min(sums.first);
        }
    }
    all
}

fn by_code(selection: &Selection<'_>, group: GroupBy) -> Vec<(RowKey, Sums)> {
    let index = selection.index;
    let shows = |function: FunctionId| selection.shows(function);
    let keys = index.keys(group, if selection.shows_all() { None } else { Some(&shows) });
    let mut sums = vec![NOTHING; keys.count];
    let shown = selection.shown_lines();
    add_own(selection, &keys, &shown, &mut sums);
    add_inclusive(selection, &keys, &shown, &mut sums);
    let key = |at: usize| match group {
        GroupBy::Line => index.lines.get(at).copied().map(RowKey::Code),
        GroupBy::Module => index.modules.get(at).copied().map(RowKey::Module),
        _ => Some(RowKey::Code(FunctionLine {
            function: FunctionId::from_index(at),
            file: None,
            line: 0,
        })),
    };
    let sums = sums.into_iter().enumerate().filter(|(_, sum)| sum.first != NONE);
    sums.filter_map(|(at, sum)| Some((key(at)?, sum))).collect()
}

/// What stacks weigh, at their innermost functions that are shown.
fn add_own(selection: &Selection<'_>, keys: &GroupKeys<'_>, shown: &[bool], sums: &mut [Sums]) {
    let paths = &selection.index.paths;
    let is_shown = |line: &&u32| shown.get(**line as usize) == Some(&true);
    for it in &selection.counted {
        let mut run = paths.end(it.stack);
        let mut line = None;
        while run != NONE && line.is_none() {
            line = paths.codes(run).iter().rev().find(is_shown);
            run = paths.parent(run);
        }
        let key = line.and_then(|&line| keys.of_line.get(line as usize));
        if let Some(sum) = key.and_then(|&key| sums.get_mut(key as usize)) {
            sum.own = sum.own.saturating_add(it.weight);
        }
    }
}

/// What stacks weigh, at all of their functions that are shown; a stack with one twice counts once.
fn add_inclusive(
    selection: &Selection<'_>,
    keys: &GroupKeys<'_>,
    shown: &[bool],
    sums: &mut [Sums],
) {
    let paths = &selection.index.paths;
    let totals = paths.totals(selection.counted.iter().map(|it| (it.stack, it.weight)));
    // What is not shown has no key.
    let key_of_line = keys.of_line.iter().zip(shown);
    let key_of_line = key_of_line.map(|(&key, &is_shown)| if is_shown { key } else { NONE });
    let key_of_line: Vec<u32> = key_of_line.collect();
    for ((run, &weight), &first) in paths.runs().zip(&totals.weights).zip(&totals.firsts) {
        if first == NONE {
            continue;
        }
        let outermost = keys.outermost.get(paths.nodes(run)).unwrap_or_default();
        let nodes = paths.codes(run).iter().zip(outermost).zip(paths.depth(run)..);
        for ((&line, &is_outermost), depth) in nodes {
            let key = key_of_line.get(line as usize);
            let Some(sum) = key.and_then(|&key| sums.get_mut(key as usize)) else { continue };
            if is_outermost {
                sum.inclusive = sum.inclusive.saturating_add(weight);
            }
            if (first, Reverse(depth)) < (sum.first, Reverse(sum.depth)) {
                (sum.first, sum.depth) = (first, depth);
            }
        }
    }
}
