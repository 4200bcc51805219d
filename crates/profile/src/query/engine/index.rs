//! What is made of a profile once, for all questions about it: its samples counted together, and the paths of its
//! stacks as trees. A question then goes through tables whose size depends on how many different stacks there are.

use options::GroupBy;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::paths::{MergedNodes, NONE, Nodes, Paths};
use crate::id::{EventId, StackId, StringId, ThreadId};
use crate::profile::Profile;
use crate::query::functions::{Function, FunctionId, FunctionLine, Functions};
use crate::query::grouped::period_units;
use crate::query::marks::FunctionMarks;
use crate::tables::Table;
use hashbrown::HashMap;

/// Samples of one stack, thread and event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alike {
    /// Their stack, among the distinct ones.
    pub(super) stack: u32,
    pub(super) thread: ThreadId,
    pub(super) event: EventId,
    pub(super) complete: bool,
    pub(super) samples: u32,
    /// Sum of their periods; a sample without one counts 1.
    pub(super) period: u64,
}

/// What is made of a profile.
#[derive(Debug)]
pub struct Index {
    /// In order of the first sample.
    pub(super) alike: Vec<Alike>,
    /// By sample: which of these it is among.
    pub(super) of_sample: Vec<u32>,
    /// The time of the first sample, and whether all others have one and follow in its order.
    pub(super) first_time: Option<u64>,
    pub(super) is_in_order: bool,
    /// The event that is meant where none is named.
    pub(super) usual_event: Option<EventId>,
    pub(super) units: Table<EventId, Option<&'static str>>,
    pub(super) functions: Table<FunctionId, Function>,
    pub(super) marks: FunctionMarks,
    /// The distinct lines of functions, which are the codes of `paths`.
    pub(super) lines: Vec<FunctionLine>,
    pub(super) modules: Vec<Option<StringId>>,
    /// All paths, with the lines of functions.
    pub(super) paths: Paths,
    /// By function: its module.
    pub(super) module_of: Vec<u32>,
    keys: [Keys; 3],
    /// The tree of functions, and that from the innermost functions on.
    trees: [OnceLock<Option<Arc<Paths>>>; 2],
    /// A tree that takes more is made anew for each question.
    most_bytes: usize,
}

/// By what lines are added up.
#[derive(Debug, Default)]
struct Keys {
    /// By line.
    of_line: Vec<u32>,
    count: usize,
    /// By node of the paths: whether nothing above it has the same key.
    outermost: OnceLock<Vec<bool>>,
}

/// The keys of a group of functions.
#[derive(Debug)]
pub(super) struct GroupKeys<'i> {
    pub(super) of_line: &'i [u32],
    pub(super) count: usize,
    pub(super) outermost: Cow<'i, [bool]>,
}

impl Index {
    /// Of a profile whose inlined functions are functions of their own, or not.
    #[must_use]
    pub fn new(profile: &Profile, inlines: bool) -> Self {
        let functions = Functions::new(profile, inlines);
        let (alike, of_sample, stacks) = alike(profile);
        let (lines, of_location) = lines(profile, &functions);
        let paths = paths(profile, &stacks, &of_location);
        let functions = functions.rows;
        let (modules, module_of) = modules(&functions);
        let function_of = |line: &FunctionLine| line.function.as_u32();
        let module = |line: &FunctionLine| module_of.get(line.function.index()).copied();
        let keys = [
            Keys::new(lines.iter().map(function_of).collect(), functions.len()),
            Keys::new(lines.iter().map(|it| module(it).unwrap_or(NONE)).collect(), modules.len()),
            Keys::new((0..lines.len() as u32).collect(), lines.len()),
        ];
        let times = || profile.samples.iter().map(|sample| sample.time());
        let recorded = profile.samples.iter().map(|sample| sample.event);
        Self {
            first_time: times().flatten().map(|time| time.0).min(),
            is_in_order: times().is_sorted() && times().next().is_none_or(|first| first.is_some()),
            usual_event: recorded.filter(|event| profile.off_cpu != Some(*event)).min(),
            units: period_units(profile),
            alike,
            of_sample,
            marks: FunctionMarks::new(profile, &functions),
            functions,
            lines,
            modules,
            module_of,
            paths,
            keys,
            trees: Default::default(),
            most_bytes: profile.heap_bytes(),
        }
    }

    /// What it takes, trees that are not made yet left out.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let trees = self.trees.iter().filter_map(|tree| tree.get()?.as_ref());
        let trees: usize = trees.map(|tree| tree.heap_bytes()).sum();
        let outermost = self.keys.iter().filter_map(|keys| keys.outermost.get());
        let outermost: usize = outermost.map(Vec::capacity).sum();
        self.alike.capacity() * size_of::<Alike>()
            + self.of_sample.capacity() * size_of::<u32>()
            + self.lines.capacity() * (size_of::<FunctionLine>() + 3 * size_of::<u32>())
            + self.functions.heap_bytes()
            + self.marks.heap_bytes()
            + self.paths.heap_bytes()
            + trees
            + outermost
    }

    /// The samples in a range of time, and others where they are not in the order of time.
    pub(super) fn samples_within(&self, profile: &Profile, (from, to): (u64, u64)) -> Range<usize> {
        let rows = profile.samples.as_slice();
        if !self.is_in_order {
            return 0..rows.len();
        }
        let before = |bound: u64, or_at: bool| {
            rows.partition_point(|row| {
                row.time().is_some_and(|time| time.0 < bound || (or_at && time.0 == bound))
            })
        };
        before(from, false)..before(to, true)
    }

    /// By what a group adds lines up; `None` of `is_shown` for all.
    pub(super) fn keys(
        &self,
        group: GroupBy,
        is_shown: Option<&dyn Fn(FunctionId) -> bool>,
    ) -> GroupKeys<'_> {
        let [functions, modules, lines] = &self.keys;
        let keys = match group {
            GroupBy::Line => lines,
            GroupBy::Module => modules,
            _ => functions,
        };
        let outermost = match is_shown {
            // A function is shown or not wherever it is, but another one of the module may be the outermost then.
            Some(is_shown) if group == GroupBy::Module => {
                Cow::Owned(self.paths.outermost(keys.count, |line| {
                    keys.key(line).filter(|_| self.function(line).is_some_and(is_shown))
                }))
            }
            _ => Cow::Borrowed(keys.outermost(&self.paths)),
        };
        GroupKeys { of_line: &keys.of_line, count: keys.count, outermost }
    }

    /// The tree of functions.
    pub(super) fn tree(
        &self,
        inverted: bool,
        is_shown: Option<&dyn Fn(FunctionId) -> bool>,
    ) -> Arc<Paths> {
        let make = |is_shown: &dyn Fn(FunctionId) -> bool| {
            Arc::new(if inverted {
                self.inverted_tree_of(is_shown)
            } else {
                self.tree_of(is_shown)
            })
        };
        if let Some(is_shown) = is_shown {
            return make(is_shown);
        }
        let [usual, inverse] = &self.trees;
        let mut made = None;
        let kept = if inverted { inverse } else { usual }.get_or_init(|| {
            let tree = made.insert(make(&|_| true));
            (tree.heap_bytes() <= self.most_bytes).then(|| Arc::clone(tree))
        });
        kept.clone().or(made).unwrap_or_else(|| make(&|_| true))
    }

    fn function(&self, line: u32) -> Option<FunctionId> {
        self.lines.get(line as usize).map(|line| line.function)
    }

    fn tree_of(&self, is_shown: &dyn Fn(FunctionId) -> bool) -> Paths {
        let mut tree = MergedNodes::default();
        // By run: where it ends in the tree.
        let mut ends: Vec<u32> = Vec::new();
        for run in self.paths.runs() {
            let mut at = ends.get(self.paths.parent(run) as usize).copied().unwrap_or(NONE);
            let functions = self.paths.codes(run).iter().filter_map(|&line| self.function(line));
            for function in functions.filter(|&function| is_shown(function)) {
                at = tree.below(at, function.as_u32());
            }
            ends.push(at);
        }
        for stack in 0..self.paths.stacks() {
            let end = ends.get(self.paths.end(stack) as usize);
            tree.end_at(end.copied().unwrap_or(NONE));
        }
        tree.done()
    }

    fn inverted_tree_of(&self, is_shown: &dyn Fn(FunctionId) -> bool) -> Paths {
        let mut tree = MergedNodes::default();
        for stack in 0..self.paths.stacks() {
            let mut at = NONE;
            let mut run = self.paths.end(stack);
            while run != NONE {
                let lines = self.paths.codes(run).iter().rev();
                let functions = lines.filter_map(|&line| self.function(line));
                for function in functions.filter(|&function| is_shown(function)) {
                    at = tree.below(at, function.as_u32());
                }
                run = self.paths.parent(run);
            }
            tree.end_at(at);
        }
        tree.done()
    }
}

impl Keys {
    fn new(of_line: Vec<u32>, count: usize) -> Self {
        Self { of_line, count, outermost: OnceLock::new() }
    }

    fn key(&self, line: u32) -> Option<u32> {
        self.of_line.get(line as usize).copied()
    }

    fn outermost(&self, paths: &Paths) -> &[bool] {
        self.outermost.get_or_init(|| paths.outermost(self.count, |line| self.key(line)))
    }
}

/// Samples counted together, for each sample where, and the distinct stacks in order of the first sample.
fn alike(profile: &Profile) -> (Vec<Alike>, Vec<u32>, Vec<Option<StackId>>) {
    let mut stacks = Vec::new();
    let mut stack_index: HashMap<Option<StackId>, u32> = HashMap::new();
    let mut index: HashMap<(u32, ThreadId, EventId, bool), u32> = HashMap::new();
    let mut alike: Vec<Alike> = Vec::new();
    let mut of_sample = Vec::with_capacity(profile.samples.len());
    for sample in &profile.samples {
        let stack = *stack_index.entry(sample.stack).or_insert_with(|| {
            stacks.push(sample.stack);
            stacks.len() as u32 - 1
        });
        let (thread, event, complete) = (sample.thread, sample.event, sample.end.is_complete());
        let at = *index.entry((stack, thread, event, complete)).or_insert_with(|| {
            alike.push(Alike { stack, thread, event, complete, samples: 0, period: 0 });
            alike.len() as u32 - 1
        });
        of_sample.push(at);
        if let Some(sums) = alike.get_mut(at as usize) {
            sums.samples += 1;
            sums.period = sums.period.saturating_add(sample.period().unwrap_or(1));
        }
    }
    alike.shrink_to_fit();
    (alike, of_sample, stacks)
}

/// The distinct lines of functions, and for each location its lines, innermost first.
fn lines(profile: &Profile, functions: &Functions) -> (Vec<FunctionLine>, Vec<Vec<u32>>) {
    let mut lines = Vec::new();
    let mut index: HashMap<FunctionLine, u32> = HashMap::new();
    let mut line = |at: &FunctionLine| {
        *index.entry(*at).or_insert_with(|| {
            lines.push(*at);
            lines.len() as u32 - 1
        })
    };
    let of_location = profile.locations.ids();
    let of_location = of_location.map(|id| functions.at(id).iter().map(&mut line).collect());
    let of_location = of_location.collect();
    (lines, of_location)
}

/// The distinct modules of functions, and by function which it is.
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

/// The paths of stacks, each node of the profile with all of its lines.
fn paths(profile: &Profile, stacks: &[Option<StackId>], of_location: &[Vec<u32>]) -> Paths {
    let mut paths = Nodes::default();
    // By node of the profile: the innermost of ours, once it has any.
    let mut known: Vec<Option<u32>> = vec![None; profile.stacks.len()];
    let mut climbed = Vec::new();
    for &stack in stacks {
        let mut at = NONE;
        let mut next = stack;
        while let Some(node) = next
            && let Some(row) = profile.stacks.get(node)
        {
            if let Some(&Some(found)) = known.get(node.index()) {
                at = found;
                break;
            }
            climbed.push((node, row.frame));
            next = row.parent.filter(|&parent| parent < node);
        }
        for (node, frame) in climbed.drain(..).rev() {
            let location = profile.frames.get(frame).map(|frame| frame.location.index());
            let lines = location.and_then(|location| of_location.get(location));
            for &line in lines.into_iter().flatten().rev() {
                at = paths.push(at, line);
            }
            if let Some(place) = known.get_mut(node.index()) {
                *place = Some(at);
            }
        }
        paths.end_at(at);
    }
    Paths::of(paths)
}
