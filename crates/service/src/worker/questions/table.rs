//! The table of what costs most.

use options::GroupBy;
use std::cmp::Reverse;

use hashbrown::HashMap;
use profile::query::{FunctionId, FunctionLine};
use profile::{ProcessKey, RowId as _, StringId, ThreadId};

use super::answer::{Row, Rows, code_row};
use super::index::GroupKeys;
use super::paths::NONE;
use super::selection::Selection;
use crate::query::Query;
use crate::worker::about::text;

/// What samples have in common that are added up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Code(FunctionLine),
    Module(Option<StringId>),
    Thread(ThreadId),
    Process(ProcessKey),
    Comm(StringId),
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

/// The rows that cost at least so much.
pub(super) fn rows(selection: &Selection<'_>, query: &Query, least: u64) -> Rows {
    let mut sums = match query.group {
        GroupBy::Function | GroupBy::Line | GroupBy::Module => by_code(selection, query.group),
        GroupBy::Thread | GroupBy::Process | GroupBy::Comm => by_thread(selection, query.group),
        // Questions by them are refused.
        GroupBy::Cgroup | GroupBy::Event | GroupBy::Cpu => Vec::new(),
    };
    let all = sums.len();
    sums.retain(|(_, sum)| sum.inclusive >= least);
    sums.sort_unstable_by_key(|(_, sum)| {
        (Reverse((sum.own, sum.inclusive)), sum.first, Reverse(sum.depth))
    });
    sums.truncate(query.rows());
    let rows: Vec<Row> = sums.iter().map(|(key, sum)| row(selection, *key, sum)).collect();
    let cut = all - rows.len();
    (rows, cut)
}

fn by_thread(selection: &Selection<'_>, group: GroupBy) -> Vec<(Key, Sums)> {
    let threads = &selection.profile.threads;
    let mut of_thread = vec![NOTHING; threads.len()];
    for (order, it) in (0..).zip(&selection.counted) {
        if let Some(sums) = of_thread.get_mut(it.thread.index()) {
            sums.own = sums.own.saturating_add(it.weight);
            sums.first = order.min(sums.first);
        }
    }
    let mut index: HashMap<Key, usize> = HashMap::new();
    let mut all: Vec<(Key, Sums)> = Vec::new();
    for ((id, thread), sums) in threads.ids().zip(threads).zip(of_thread) {
        if sums.first == NONE {
            continue;
        }
        let key = match group {
            GroupBy::Process => Key::Process(thread.process_key()),
            GroupBy::Comm => Key::Comm(thread.comm),
            _ => Key::Thread(id),
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

fn by_code(selection: &Selection<'_>, group: GroupBy) -> Vec<(Key, Sums)> {
    let index = selection.index;
    let shows = |function: FunctionId| selection.shows(function);
    let keys = index.keys(group, if selection.shows_all() { None } else { Some(&shows) });
    let mut sums = vec![NOTHING; keys.count];
    let shown = selection.shown_lines();
    add_own(selection, &keys, &shown, &mut sums);
    add_inclusive(selection, &keys, &shown, &mut sums);
    let key = |at: usize| match group {
        GroupBy::Line => index.lines.get(at).copied().map(Key::Code),
        GroupBy::Module => index.modules.get(at).copied().map(Key::Module),
        _ => Some(Key::Code(FunctionLine {
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

fn row(selection: &Selection<'_>, key: Key, sum: &Sums) -> Row {
    let profile = selection.profile;
    let row = Row { own: sum.own, inclusive: sum.inclusive, ..Row::default() };
    match key {
        Key::Code(at) => Row { own: sum.own, inclusive: sum.inclusive, ..code_row(selection, at) },
        Key::Module(module) => Row { name: module.map(|id| text(profile, id)), ..row },
        Key::Thread(id) => {
            let thread = profile.threads.get(id);
            let name = thread.map(|it| format!("{} {}", text(profile, it.comm), it.tid.0));
            Row { name, ..row }
        }
        Key::Process(ProcessKey { pid, name }) => {
            Row { name: Some(format!("{} {pid}", text(profile, name))), ..row }
        }
        Key::Comm(comm) => Row { name: Some(text(profile, comm)), ..row },
    }
}
