//! Tables that all queries on a profile share: grouped samples, and the paths of stacks as trees. The cost of a query
//! depends on the number of distinct stacks.

use address::ById as _;
use options::GroupBy;
use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, OnceLock};

use super::call_paths::CallPaths;
use super::paths::{NONE, Nodes, Paths};
use super::sample_sets::{SampleSet, SampleSets};
use super::view::PathView;
use crate::id::{StackId, StringId};
use crate::profile::Profile;
use crate::query::functions::{Function, FunctionId, FunctionLine, Functions};
use crate::query::marks::FunctionMarks;
use crate::query::weights::EventSums;
use crate::tables::Table;
use hashbrown::HashMap;

/// Tables that queries share.
#[derive(Debug)]
pub struct Index {
    /// In the order of their first samples.
    pub(super) sets: Vec<SampleSet>,
    /// By sample: its set.
    pub(super) set_of: Vec<u32>,
    pub(super) times: SampleTimes,
    pub(super) events: EventSums,
    pub(super) functions: Table<FunctionId, Function>,
    marks: OnceLock<FunctionMarks>,
    /// Distinct lines of functions, which are the codes of `paths`.
    pub(super) lines: Vec<FunctionLine>,
    pub(super) modules: Vec<Option<StringId>>,
    /// Paths of all stacks, with lines of functions as codes.
    pub(super) paths: Paths,
    keys: [Keys; 3],
    /// The call trees, top-down and bottom-up.
    trees: [OnceLock<Option<Arc<CallPaths>>>; 2],
    /// Maximum size of a cached tree; a larger one is rebuilt for each query.
    most_bytes: usize,
}

/// Times of the samples.
#[derive(Debug)]
pub(super) struct SampleTimes {
    /// The earliest.
    pub(super) first: Option<u64>,
    /// Whether all samples have a time and are in time order.
    is_in_order: bool,
}

impl SampleTimes {
    fn of(profile: &Profile) -> Self {
        let times = || profile.samples.iter().map(|sample| sample.time());
        Self {
            first: times().flatten().map(|time| time.0).min(),
            is_in_order: times().is_sorted() && times().next().is_none_or(|first| first.is_some()),
        }
    }
}

/// Keys for grouping lines in a table.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// By line.
    pub(super) of_line: Vec<u32>,
    pub(super) count: usize,
    /// By node of the paths: whether no ancestor has the same key.
    outermost: OnceLock<Vec<bool>>,
}

/// Keys for grouping by functions, modules or lines.
#[derive(Debug)]
pub(super) struct GroupKeys<'i> {
    pub(super) of_line: &'i [u32],
    pub(super) count: usize,
    pub(super) outermost: Cow<'i, [bool]>,
}

impl Index {
    /// Builds the index of a profile. With `inlines`, inlined functions are separate functions.
    #[must_use]
    pub fn new(profile: &Profile, inlines: bool) -> Self {
        // Each pass over millions of samples takes a share of a query's time.
        let (SampleSets { sets, set_of, stacks }, ((functions, (lines, numbers)), (times, events))) =
            rayon::join(
                || SampleSets::of(profile),
                || {
                    let functions = || {
                        let functions = Functions::new(profile, inlines);
                        let lines = lines(&functions);
                        (functions, lines)
                    };
                    let facts = || (SampleTimes::of(profile), EventSums::new(profile));
                    rayon::join(functions, facts)
                },
            );
        let paths = paths(profile, &stacks, &functions, &numbers);
        let functions = functions.rows;
        let (modules, module_of) = modules(&functions);
        let function_of = |line: &FunctionLine| line.function.as_u32();
        let module = |line: &FunctionLine| module_of.by_id(line.function).copied();
        let keys = [
            Keys::new(lines.iter().map(function_of).collect(), functions.len()),
            Keys::new(lines.iter().map(|it| module(it).unwrap_or(NONE)).collect(), modules.len()),
            Keys::new((0..lines.len() as u32).collect(), lines.len()),
        ];
        Self {
            times,
            events,
            sets,
            set_of,
            marks: OnceLock::new(),
            functions,
            lines,
            modules,
            paths,
            keys,
            trees: Default::default(),
            most_bytes: profile.heap_bytes(),
        }
    }

    /// Memory in bytes, without trees that are not built yet.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let trees = self.trees.iter().filter_map(|tree| tree.get()?.as_ref());
        let trees: usize = trees.map(|tree| tree.heap_bytes()).sum();
        let outermost = self.keys.iter().filter_map(|keys| keys.outermost.get());
        let outermost: usize = outermost.map(Vec::capacity).sum();
        let marks = self.marks.get().map_or(0, FunctionMarks::heap_bytes);
        self.sets.capacity() * size_of::<SampleSet>()
            + self.set_of.capacity() * size_of::<u32>()
            + self.lines.capacity() * (size_of::<FunctionLine>() + 3 * size_of::<u32>())
            + self.functions.heap_bytes()
            + marks
            + self.paths.heap_bytes()
            + trees
            + outermost
    }

    /// Returns a range of samples that contains all samples of a time range, and others if the samples are not in time
    /// order.
    pub(super) fn samples_within(
        &self,
        profile: &Profile,
        time: &RangeInclusive<u64>,
    ) -> Range<usize> {
        let rows = profile.samples.as_slice();
        if !self.times.is_in_order {
            return 0..rows.len();
        }
        let before = |bound: u64, or_at: bool| {
            rows.partition_point(|row| {
                row.time().is_some_and(|time| time.0 < bound || (or_at && time.0 == bound))
            })
        };
        before(*time.start(), false)..before(*time.end(), true)
    }

    /// Marks that distinguish functions of the same name and module.
    pub(super) fn marks(&self, profile: &Profile) -> &FunctionMarks {
        self.marks.get_or_init(|| FunctionMarks::new(profile, &self.functions))
    }

    /// Returns the function of a line.
    pub(super) fn function(&self, line: u32) -> Option<FunctionId> {
        self.lines.get(line as usize).map(|line| line.function)
    }

    /// Returns the keys for grouping lines.
    pub(super) const fn keys(&self, group: GroupBy) -> &Keys {
        let [functions, modules, lines] = &self.keys;
        match group {
            GroupBy::Line => lines,
            GroupBy::Module => modules,
            _ => functions,
        }
    }

    /// Returns the tree of functions. It is cached unless it is larger than the profile.
    pub(super) fn tree(&self, inverted: bool) -> Arc<CallPaths> {
        let make = || {
            let all = vec![true; self.paths.stacks() as usize];
            Arc::new(CallPaths::new(&PathView::whole(self), &[all], inverted))
        };
        let [top_down, bottom_up] = &self.trees;
        let mut made = None;
        let cached = if inverted { bottom_up } else { top_down }.get_or_init(|| {
            let tree = made.insert(make());
            (tree.heap_bytes() <= self.most_bytes).then(|| Arc::clone(tree))
        });
        cached.clone().or(made).unwrap_or_else(make)
    }
}

impl Keys {
    fn new(of_line: Vec<u32>, count: usize) -> Self {
        Self { of_line, count, outermost: OnceLock::new() }
    }

    /// Returns the key of a line.
    pub(super) fn key(&self, line: u32) -> Option<u32> {
        self.of_line.get(line as usize).copied()
    }

    /// Returns, by node of the index's paths, whether no ancestor has the same key.
    pub(super) fn outermost(&self, paths: &Paths) -> &[bool] {
        self.outermost.get_or_init(|| paths.outermost(self.count, |_, line| self.key(line)))
    }
}

/// Returns the distinct lines of functions, and by line of `functions` its number among them.
fn lines(functions: &Functions) -> (Vec<FunctionLine>, Vec<u32>) {
    let mut lines = Vec::new();
    let mut index: HashMap<FunctionLine, u32> = HashMap::new();
    let number = |at: &FunctionLine| {
        *index.entry(*at).or_insert_with(|| {
            lines.push(*at);
            lines.len() as u32 - 1
        })
    };
    let numbers = functions.lines().iter().map(number).collect();
    (lines, numbers)
}

/// Returns the distinct modules of functions, and by function the index of its module.
fn modules(functions: &Table<FunctionId, Function>) -> (Vec<Option<StringId>>, Vec<u32>) {
    let mut modules = Vec::new();
    let mut index: HashMap<Option<StringId>, u32> = HashMap::new();
    let of_function = functions.iter().map(|function| {
        *index.entry(function.module).or_insert_with(|| {
            modules.push(function.module);
            modules.len() as u32 - 1
        })
    });
    let of_function = of_function.collect();
    (modules, of_function)
}

/// Builds the paths of stacks. Each node of the profile becomes one node per line.
fn paths(
    profile: &Profile,
    stacks: &[Option<StackId>],
    functions: &Functions,
    numbers: &[u32],
) -> Paths {
    let mut paths = Nodes::with_capacity(profile.stacks.len());
    // By node of the profile: its innermost node in `paths`, once it exists.
    let mut known: Vec<u32> = vec![NONE; profile.stacks.len()];
    let mut climbed = Vec::new();
    for &stack in stacks {
        let mut at = NONE;
        let mut next = stack;
        while let Some(node) = next
            && let Some(row) = profile.stacks.get(node)
        {
            if let Some(&found) = known.by_id(node).filter(|&&found| found != NONE) {
                at = found;
                break;
            }
            climbed.push((node, row.frame));
            next = row.parent.filter(|&parent| parent < node);
        }
        for (node, frame) in climbed.drain(..).rev() {
            let rows = profile.frames.get(frame).map(|frame| functions.rows_at(frame.location));
            for &line in rows.and_then(|rows| numbers.get(rows)).unwrap_or_default().iter().rev() {
                at = paths.push(at, line);
            }
            if let Some(place) = known.by_id_mut(node) {
                *place = at;
            }
        }
        paths.end_at(at);
    }
    Paths::of(paths)
}
