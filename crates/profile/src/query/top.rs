//! What costs most: functions, modules, lines, threads, processes, names of threads, control groups or events, each with its own and
//! its inclusive cost.

use hashbrown::HashMap;

use crate::id::{EventId, StackId, StringId, ThreadId};
use crate::profile::Profile;
use crate::query::functions::{Function, FunctionLine, Functions};
use crate::query::weights::Weights;
use crate::tables::{ProcessKey, Table, ThreadRow};

/// Key by which samples are added up. By events, samples of all events are counted, each for its own.
pub use options::GroupBy;

/// What samples have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TopKey {
    /// A function.
    Function(Function),
    /// A module's path; `None` where nothing was mapped.
    Module(Option<StringId>),
    /// A function at a line of a file; `None` and 0 if they are unknown.
    Line(Function, Option<StringId>, u32),
    /// A thread under one name.
    Thread(ThreadId),
    /// A process under one name.
    Process(ProcessKey),
    /// The name of threads; `None` where it is unknown.
    Comm(Option<StringId>),
    /// The path of a control group; `None` where it was not recorded.
    Cgroup(Option<StringId>),
    /// An event.
    Event(EventId),
    /// The number of a processor; `None` for samples that do not state it.
    Cpu(Option<u32>),
}

/// What something costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Samples.
    pub samples: u64,
    /// What these weigh.
    pub weight: u64,
}

impl Cost {
    pub(crate) fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.weight = self.weight.saturating_add(other.weight);
    }
}

/// A row: what costs, and how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TopRow {
    /// What costs.
    pub key: TopKey,
    /// Samples in which it ran itself.
    pub own: Cost,
    /// Samples in whose stack it is, however often.
    pub inclusive: Cost,
}

/// What costs most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Top {
    /// All samples that were counted.
    pub total: Cost,
    /// Those that cost most by themselves first; of equal ones the one with the larger inclusive cost, then the one
    /// that is seen first.
    pub rows: Vec<TopRow>,
}

impl Top {
    /// Adds up the samples that `weights` counts. `inlines`: whether inlined functions are functions of their own; `pools`:
    /// whether threads of one name in one process have one row, which has the key of the first of them.
    #[must_use]
    pub fn new(
        profile: &Profile,
        weights: &Weights,
        by: GroupBy,
        inlines: bool,
        pools: bool,
    ) -> Self {
        let first_of_pool = if pools { first_of_pool(profile) } else { Table::new() };
        let functions = Functions::new(profile, inlines);
        let mut counts = Counts::default();
        let mut path = Vec::new();
        for group in groups(profile, weights, by) {
            functions.path(profile, group.stack, &mut path);
            counts.begin(group.cost);
            let of_sample = match by {
                GroupBy::Function | GroupBy::Module | GroupBy::Line => None,
                GroupBy::Thread => {
                    let first = first_of_pool.get(group.thread).copied();
                    Some(TopKey::Thread(first.unwrap_or(group.thread)))
                }
                GroupBy::Process => {
                    let process = profile.threads.get(group.thread).map(ThreadRow::process_key);
                    process.map(TopKey::Process)
                }
                GroupBy::Comm => {
                    let row = profile.threads.get(group.thread);
                    Some(TopKey::Comm(row.map(|row| row.comm)))
                }
                GroupBy::Cgroup => {
                    let row = profile.threads.get(group.thread);
                    Some(TopKey::Cgroup(row.and_then(|row| row.cgroup)))
                }
                GroupBy::Event => Some(TopKey::Event(group.event)),
                GroupBy::Cpu => Some(TopKey::Cpu(group.cpu)),
            };
            if let Some(key) = of_sample {
                counts.count(key, true);
                continue;
            }
            for (depth, at) in path.iter().enumerate() {
                counts.count(key_of(*at, &functions, by), depth == 0);
            }
        }
        let Counts { mut rows, total, .. } = counts;
        rows.sort_by_key(|row| std::cmp::Reverse((row.own.weight, row.inclusive.weight)));
        Self { total, rows }
    }
}

/// By thread: the first one of its process that has its name.
fn first_of_pool(profile: &Profile) -> Table<ThreadId, ThreadId> {
    let mut first = HashMap::new();
    let rows = profile.threads.entries();
    rows.map(|(id, row)| *first.entry((row.process_key(), row.comm)).or_insert(id)).collect()
}

/// The key of a function at a line.
fn key_of(at: FunctionLine, functions: &Functions, by: GroupBy) -> TopKey {
    let function = functions.rows.get(at.function).copied();
    let function = function.unwrap_or(Function::unknown(None));
    match by {
        GroupBy::Module => TopKey::Module(function.module),
        GroupBy::Line => TopKey::Line(function, at.file, at.line),
        _ => TopKey::Function(function),
    }
}

/// Samples that are alike.
#[derive(Clone, Copy)]
struct Group {
    stack: Option<StackId>,
    thread: ThreadId,
    event: EventId,
    cpu: Option<u32>,
    cost: Cost,
}

/// The samples that are counted, as groups in order of the first of each.
fn groups(profile: &Profile, weights: &Weights, by: GroupBy) -> Vec<Group> {
    let by_stack = matches!(by, GroupBy::Function | GroupBy::Module | GroupBy::Line);
    let mut index: HashMap<_, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (id, sample) in profile.samples.entries() {
        let weight = if by == GroupBy::Event { Some(1) } else { weights.of(id, sample) };
        let Some(weight) = weight else { continue };
        let stack = sample.stack.filter(|_| by_stack);
        let cpu = sample.cpu().filter(|_| by == GroupBy::Cpu);
        let key = (stack, (!by_stack).then_some(sample.thread), sample.event, cpu);
        let at = *index.entry(key).or_insert_with(|| {
            let (thread, event) = (sample.thread, sample.event);
            groups.push(Group { stack, thread, event, cpu, cost: Cost::default() });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(at) {
            group.cost.add(Cost { samples: 1, weight });
        }
    }
    groups
}

/// Rows while they are added up.
#[derive(Default)]
struct Counts {
    index: HashMap<TopKey, usize>,
    rows: Vec<TopRow>,
    /// By row: the last group that was counted, so that recursion counts once.
    counted: Vec<usize>,
    group: usize,
    cost: Cost,
    total: Cost,
}

impl Counts {
    /// Begins with the next group of samples.
    fn begin(&mut self, cost: Cost) {
        self.group += 1;
        self.cost = cost;
        self.total.add(cost);
    }

    fn count(&mut self, key: TopKey, own: bool) {
        let at = *self.index.entry(key).or_insert_with(|| {
            let zero = Cost::default();
            self.rows.push(TopRow { key, own: zero, inclusive: zero });
            self.counted.push(0);
            self.rows.len() - 1
        });
        let (Some(row), Some(counted)) = (self.rows.get_mut(at), self.counted.get_mut(at)) else {
            return;
        };
        if own {
            row.own.add(self.cost);
        }
        if std::mem::replace(counted, self.group) != self.group {
            row.inclusive.add(self.cost);
        }
    }
}
