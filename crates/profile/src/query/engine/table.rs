//! The table of the highest costs.

use address::ById as _;
use options::{CostKind, GroupBy};
use std::cmp::Reverse;

use super::Rows;
use super::index::GroupKeys;
use super::paths::NONE;
use super::selection::Selection;
use crate::id::{EventId, RowId as _, StringId, ThreadId};
use crate::query::cost::Cost;
use crate::query::functions::{FunctionId, FunctionLine};
use crate::tables::{ProcessKey, ThreadRow};
use hashbrown::HashMap;

/// The key by which samples are added up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowKey {
    /// A function.
    Function(FunctionId),
    /// A function at one of its lines.
    Line(FunctionLine),
    /// A module's path; `None` if nothing was mapped.
    Module(Option<StringId>),
    /// A thread under one name; of a pool its first thread.
    Thread(ThreadId),
    /// A process under one name.
    Process(ProcessKey),
    /// A name of threads.
    Comm(StringId),
    /// The path of a control group; `None` if it was not recorded.
    Cgroup(Option<StringId>),
    /// An event.
    Event(EventId),
    /// The number of a processor; `None` for samples that do not state it.
    Cpu(Option<u32>),
}

/// A row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableRow {
    /// The key.
    pub key: RowKey,
    /// Samples in which it ran itself.
    pub own: Cost,
    /// Samples in whose stack it is, however often.
    pub inclusive: Cost,
}

/// The rows that are wanted, and their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableShape {
    /// By what samples are added up.
    pub group: GroupBy,
    /// Whether threads of one name in one process have one row.
    pub pools: bool,
    /// The cost by which rows are sorted; the other one decides between equal rows, then the first sample.
    pub sort: CostKind,
    /// The least inclusive weight of a row.
    pub least: u64,
    /// Rows at most.
    pub most: usize,
}

impl TableShape {
    /// All rows of a group, sorted by own cost.
    #[must_use]
    pub const fn all(group: GroupBy) -> Self {
        Self { group, pools: false, sort: CostKind::Own, least: 0, most: usize::MAX }
    }
}

/// The costs of a key.
#[derive(Clone, Copy)]
struct Sums {
    own: Cost,
    inclusive: Cost,
    /// The number of the first sample or set that was counted, which is [`NONE`] for none, and its depth in that stack.
    /// Of keys with equal costs the first comes first, and of one stack the innermost.
    first: u32,
    depth: u32,
}

const ZERO: Cost = Cost { samples: 0, weight: 0 };
const NOTHING: Sums = Sums { own: ZERO, inclusive: ZERO, first: NONE, depth: 0 };

/// The rows that a shape wants, and the number of further ones.
#[must_use]
pub fn table(selection: &Selection<'_>, shape: TableShape) -> Rows<TableRow> {
    let mut sums = match shape.group {
        GroupBy::Function | GroupBy::Line | GroupBy::Module => by_code(selection, shape.group),
        _ => by_sample(selection, shape),
    };
    let all = sums.len();
    sums.retain(|(_, sum)| sum.inclusive.weight >= shape.least);
    sums.sort_unstable_by_key(|(_, sum)| {
        let (own, inclusive) = (sum.own.weight, sum.inclusive.weight);
        let costs = match shape.sort {
            CostKind::Own => (own, inclusive),
            CostKind::Inclusive => (inclusive, own),
        };
        (Reverse(costs), sum.first, Reverse(sum.depth))
    });
    sums.truncate(shape.most);
    let row =
        |&(key, Sums { own, inclusive, .. }): &(RowKey, Sums)| TableRow { key, own, inclusive };
    let rows: Vec<TableRow> = sums.iter().map(row).collect();
    let cut = all - rows.len();
    (rows, cut)
}

/// Sums by keys that are found as samples come.
#[derive(Default)]
struct SampleSums {
    places: HashMap<RowKey, usize>,
    rows: Vec<(RowKey, Sums)>,
}

impl SampleSums {
    /// The place of a key.
    fn place(&mut self, key: RowKey) -> usize {
        *self.places.entry(key).or_insert_with(|| {
            self.rows.push((key, NOTHING));
            self.rows.len() - 1
        })
    }

    fn add(&mut self, place: usize, order: u32, cost: Cost) {
        if let Some((_, sums)) = self.rows.get_mut(place) {
            sums.own.add(cost);
            sums.inclusive.add(cost);
            sums.first = order.min(sums.first);
        }
    }
}

/// Sums by a property of samples or of their threads.
fn by_sample(selection: &Selection<'_>, shape: TableShape) -> Vec<(RowKey, Sums)> {
    let mut sums = SampleSums::default();
    if shape.group == GroupBy::Cpu {
        for (order, (sample, cost)) in (0..).zip(selection.samples()) {
            let place = sums.place(RowKey::Cpu(sample.cpu()));
            sums.add(place, order, cost);
        }
        return sums.rows;
    }
    let of_thread: Vec<usize> = if shape.group == GroupBy::Event {
        Vec::new()
    } else {
        let mut pools = HashMap::new();
        let key = |(id, thread): (ThreadId, &ThreadRow)| match shape.group {
            GroupBy::Process => RowKey::Process(thread.process_key()),
            GroupBy::Comm => RowKey::Comm(thread.comm),
            GroupBy::Cgroup => RowKey::Cgroup(thread.cgroup),
            _ if shape.pools => {
                RowKey::Thread(*pools.entry((thread.process_key(), thread.comm)).or_insert(id))
            }
            _ => RowKey::Thread(id),
        };
        let keys: Vec<RowKey> = selection.profile.threads.entries().map(key).collect();
        keys.into_iter().map(|key| sums.place(key)).collect()
    };
    for (order, it) in (0..).zip(&selection.counted) {
        let place = if shape.group == GroupBy::Event {
            sums.place(RowKey::Event(it.set.event))
        } else {
            let Some(&place) = of_thread.by_id(it.set.thread) else { continue };
            place
        };
        sums.add(place, order, it.cost);
    }
    sums.rows.retain(|(_, sums)| sums.first != NONE);
    sums.rows
}

/// Sums by functions, lines or modules.
fn by_code(selection: &Selection<'_>, group: GroupBy) -> Vec<(RowKey, Sums)> {
    let index = selection.index;
    let keys = selection.view.keys(group);
    let mut sums = vec![NOTHING; keys.count];
    add_own(selection, &keys, &mut sums);
    add_inclusive(selection, &keys, &mut sums);
    let key = |at: usize| match group {
        GroupBy::Line => index.lines.get(at).copied().map(RowKey::Line),
        GroupBy::Module => index.modules.get(at).copied().map(RowKey::Module),
        _ => Some(RowKey::Function(FunctionId::from_index(at))),
    };
    let sums = sums.into_iter().enumerate().filter(|(_, sum)| sum.first != NONE);
    sums.filter_map(|(at, sum)| Some((key(at)?, sum))).collect()
}

/// Adds the costs of stacks to their innermost functions that are shown.
fn add_own(selection: &Selection<'_>, keys: &GroupKeys<'_>, sums: &mut [Sums]) {
    let view = &selection.view;
    let paths = view.paths();
    for it in &selection.counted {
        let mut run = paths.end(it.set.stack);
        let mut line = None;
        while run != NONE && line.is_none() {
            line = paths.coded_nodes(run).rev().find(|&(node, &line)| view.shows(node, line));
            run = paths.parent(run);
        }
        let key = line.and_then(|(_, &line)| keys.of_line.get(line as usize));
        if let Some(sum) = key.and_then(|&key| sums.get_mut(key as usize)) {
            sum.own.add(it.cost);
        }
    }
}

/// Adds the costs of stacks to all of their functions that are shown, once each.
fn add_inclusive(selection: &Selection<'_>, keys: &GroupKeys<'_>, sums: &mut [Sums]) {
    let view = &selection.view;
    let paths = view.paths();
    let totals = paths.totals(selection.counted.iter().map(|it| (it.set.stack, it.cost)));
    for ((run, &cost), &first) in paths.runs().zip(&totals.costs).zip(&totals.firsts) {
        if first == NONE {
            continue;
        }
        let outermost = keys.outermost.get(paths.nodes(run)).unwrap_or_default();
        let nodes = paths.coded_nodes(run).zip(outermost).zip(paths.depth(run)..);
        for (((node, &line), &is_outermost), depth) in nodes {
            let key = keys.of_line.get(line as usize).filter(|_| view.shows(node, line));
            let Some(sum) = key.and_then(|&key| sums.get_mut(key as usize)) else { continue };
            if is_outermost {
                sum.inclusive.add(cost);
            }
            if (first, Reverse(depth)) < (sum.first, Reverse(sum.depth)) {
                (sum.first, sum.depth) = (first, depth);
            }
        }
    }
}
