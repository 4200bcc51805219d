//! The table of the highest costs.

use address::ById as _;
use options::{ChoiceOrValue, CostKind, GroupBy};
use std::cmp::Reverse;

use super::LimitedRows;
use super::index::{GroupKeys, Index};
use super::paths::NONE;
use super::selection::Selection;
use super::values::RowValue;
use crate::id::{EventId, RowId as _, StringId, ThreadId};
use crate::query::cost::Cost;
use crate::query::functions::{FunctionId, FunctionLine};
use crate::reason::WaitKind;
use crate::tables::{ProcessKey, ThreadRow};
use hashbrown::HashMap;

/// Key that samples are grouped by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowKey {
    /// A function.
    Function(FunctionId),
    /// A function at one of its lines.
    Line(FunctionLine),
    /// Path of a module; `None` if nothing was mapped.
    Module(Option<StringId>),
    /// A thread with one name; for a pool, its first thread.
    Thread(ThreadId),
    /// A process with one name.
    Process(ProcessKey),
    /// A thread name.
    Comm(StringId),
    /// Path of a control group; `None` if it was not recorded.
    Cgroup(Option<StringId>),
    /// An event.
    Event(EventId),
    /// Number of a CPU; `None` for samples without one.
    Cpu(Option<u32>),
    /// Kind of wait; `None` for samples that are not times off the processor.
    Wait(Option<WaitKind>),
    /// Value of a field or label.
    Value(RowValue),
}

/// A row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableRow {
    /// The key.
    pub key: RowKey,
    /// Cost of samples with the key at their innermost frame.
    pub own: Cost,
    /// Cost of samples with the key on their stack, counted once per sample.
    pub inclusive: Cost,
}

/// Selection and order of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableShape<'n> {
    /// Key that samples are grouped by.
    pub group: GroupBy,
    /// Label or field ([`ValueColumns::named`](super::ValueColumns::named)) whose values group samples instead.
    pub value: Option<&'n str>,
    /// Whether threads of one name in one process share a row.
    pub pools: bool,
    /// Cost to sort by. Ties are resolved by the other cost, then by the first sample.
    pub sort: CostKind,
    /// Minimum inclusive weight of a row.
    pub least: u64,
    /// Maximum number of rows.
    pub most: usize,
}

impl<'n> TableShape<'n> {
    /// Returns the shape of all rows of a group, sorted by own cost.
    #[must_use]
    pub const fn all(group: GroupBy) -> Self {
        Self { group, value: None, pools: false, sort: CostKind::Own, least: 0, most: usize::MAX }
    }

    /// Returns the shape of all rows of a grouping, sorted by own cost.
    #[must_use]
    pub fn of(grouping: &'n ChoiceOrValue<GroupBy>) -> Self {
        let group = grouping.choice().unwrap_or_default();
        Self { value: grouping.value(), ..Self::all(group) }
    }
}

/// Costs of a key.
#[derive(Clone, Copy)]
struct Sums {
    own: Cost,
    inclusive: Cost,
    /// Number of the first counted sample or set, or [`NONE`], and depth of the key in its stack.
    /// Keys of equal cost are sorted by this number, and within one stack the innermost comes first.
    first: u32,
    depth: u32,
}

const ZERO: Cost = Cost { samples: 0, weight: 0 };
const NOTHING: Sums = Sums { own: ZERO, inclusive: ZERO, first: NONE, depth: 0 };

/// Returns the rows selected by a shape, and the number of omitted ones.
#[must_use]
pub fn table(selection: &Selection<'_>, shape: TableShape<'_>) -> LimitedRows<TableRow> {
    let mut sums = match (shape.value, shape.group) {
        (Some(name), _) => by_value(selection, name),
        (None, GroupBy::Function | GroupBy::Line | GroupBy::Module) => {
            by_code(selection, shape.group)
        }
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
    let omitted = all - rows.len();
    (rows, omitted)
}

/// Sums by keys that are added when first encountered.
#[derive(Default)]
struct SampleSums {
    positions: HashMap<RowKey, usize>,
    rows: Vec<(RowKey, Sums)>,
}

impl SampleSums {
    /// Returns the position of a key.
    fn position(&mut self, key: RowKey) -> usize {
        *self.positions.entry(key).or_insert_with(|| {
            self.rows.push((key, NOTHING));
            self.rows.len() - 1
        })
    }

    fn add(&mut self, position: usize, order: u32, cost: Cost) {
        if let Some((_, sums)) = self.rows.get_mut(position) {
            sums.own.add(cost);
            sums.inclusive.add(cost);
            sums.first = order.min(sums.first);
        }
    }
}

/// Returns the sums by the values of a field or label.
fn by_value(selection: &Selection<'_>, name: &str) -> Vec<(RowKey, Sums)> {
    let mut sums = SampleSums::default();
    for (order, (value, _, cost)) in (0..).zip(selection.values(name)) {
        let position = sums.position(RowKey::Value(value));
        sums.add(position, order, cost);
    }
    sums.rows
}

/// Returns the sums by a property of samples or of their threads.
fn by_sample(selection: &Selection<'_>, shape: TableShape<'_>) -> Vec<(RowKey, Sums)> {
    let mut sums = SampleSums::default();
    match shape.group {
        GroupBy::Event | GroupBy::Wait => {
            for (order, it) in (0..).zip(&selection.counted) {
                let position = sums.position(match shape.group {
                    GroupBy::Event => RowKey::Event(it.set.event),
                    _ => RowKey::Wait(it.set.wait),
                });
                sums.add(position, order, it.cost);
            }
        }
        GroupBy::Cpu => {
            for (order, (_, sample, cost)) in (0..).zip(selection.samples()) {
                let position = sums.position(RowKey::Cpu(sample.cpu()));
                sums.add(position, order, cost);
            }
        }
        _ => {
            let keys = thread_keys(selection, shape);
            let of_thread: Vec<usize> = keys.into_iter().map(|key| sums.position(key)).collect();
            for (order, (_, sample, cost)) in (0..).zip(selection.samples()) {
                let Some(&position) = of_thread.by_id(sample.thread) else { continue };
                sums.add(position, order, cost);
            }
            sums.rows.retain(|(_, sums)| sums.first != NONE);
        }
    }
    sums.rows
}

/// Returns, by thread, the key of a group by a property of threads.
pub(super) fn thread_keys(selection: &Selection<'_>, shape: TableShape<'_>) -> Vec<RowKey> {
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
    selection.profile.threads.entries().map(key).collect()
}

/// Returns the key of a position in the sums by functions, lines or modules.
pub(super) fn code_key(index: &Index, group: GroupBy, at: usize) -> Option<RowKey> {
    match group {
        GroupBy::Line => index.lines.get(at).copied().map(RowKey::Line),
        GroupBy::Module => index.modules.get(at).copied().map(RowKey::Module),
        _ => Some(RowKey::Function(FunctionId::from_index(at))),
    }
}

/// Returns the sums by functions, lines or modules.
fn by_code(selection: &Selection<'_>, group: GroupBy) -> Vec<(RowKey, Sums)> {
    let keys = selection.view.keys(group);
    let mut sums = vec![NOTHING; keys.count];
    add_own(selection, &keys, &mut sums);
    add_inclusive(selection, &keys, &mut sums);
    let sums = sums.into_iter().enumerate().filter(|(_, sum)| sum.first != NONE);
    sums.filter_map(|(at, sum)| Some((code_key(selection.index, group, at)?, sum))).collect()
}

/// Adds the cost of each stack to its innermost shown function.
fn add_own(selection: &Selection<'_>, keys: &GroupKeys<'_>, sums: &mut [Sums]) {
    for (it, key) in selection.counted.iter().zip(own_keys(selection, keys)) {
        if let Some(sum) = key.and_then(|key| sums.get_mut(key as usize)) {
            sum.own.add(it.cost);
        }
    }
}

/// Iterates over the keys of the innermost shown functions of the matching sets, in their order.
pub(super) fn own_keys(
    selection: &Selection<'_>,
    keys: &GroupKeys<'_>,
) -> impl Iterator<Item = Option<u32>> {
    let view = &selection.view;
    let paths = view.paths();
    selection.counted.iter().map(move |it| {
        let mut run = paths.end(it.set.stack);
        let mut line = None;
        while run != NONE && line.is_none() {
            line = paths.coded_nodes(run).rev().find(|&(node, &line)| view.shows(node, line));
            run = paths.parent(run);
        }
        line.and_then(|(_, &line)| keys.of_line.get(line as usize)).copied()
    })
}

/// Adds the cost of each stack once to each of its shown functions.
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
