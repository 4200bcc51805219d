//! Samples and functions that match a filter.

use address::ById as _;
use std::ops::{Range, RangeInclusive};

use hashbrown::HashMap;
use options::Weight;

use super::filter::{EventChoice, Filter, SelectionError};
use super::index::Index;
use super::paths::NONE;
use super::rules::{FunctionRules, PathBits, matches};
use super::sample_sets::{Ending, SampleSet};
use super::view::PathView;
use crate::id::{RowId as _, SampleId, StackId};
use crate::profile::Profile;
use crate::query::cost::Cost;
use crate::query::functions::{Function, FunctionId};
use crate::query::marks::FunctionMarks;
use crate::query::weights::Weights;
use crate::tables::SampleRow;

/// The matching samples of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetCost<'i> {
    pub(super) set: &'i SampleSet,
    pub(super) cost: Cost,
}

/// The samples and functions that match a filter.
#[derive(Debug)]
pub struct Selection<'i> {
    pub(super) profile: &'i Profile,
    pub(super) index: &'i Index,
    pub(super) view: PathView<'i>,
    /// In the order of their first samples.
    pub(super) counted: Vec<SetCost<'i>>,
    matching: MatchingSets,
    weights: Weights,
    total: Cost,
    complete: u64,
}

impl<'i> Selection<'i> {
    /// Selects the samples and functions that match `filter`.
    ///
    /// # Errors
    /// Returns an error if the profile has no such event, or an event is named together with off-CPU time.
    pub fn new(
        profile: &'i Profile,
        index: &'i Index,
        weight: Weight,
        event: &EventChoice,
        filter: &Filter,
    ) -> Result<Self, SelectionError> {
        let weights = Weights::chosen(profile, &index.events, weight, event)?;
        Ok(Self::of(profile, index, weights, filter))
    }

    /// Selects all samples of all events, with weight 1, and all functions.
    #[must_use]
    pub fn everything(profile: &'i Profile, index: &'i Index) -> Self {
        Self::of(profile, index, Weights::every(&index.events), &Filter::default())
    }

    fn of(profile: &'i Profile, index: &'i Index, weights: Weights, filter: &Filter) -> Self {
        let rules = FunctionRules::new(profile, &index.functions, &filter.functions);
        let matching = MatchingSets::new(profile, index, &weights, filter, &rules);
        let counted = matching.counted(profile, index, &weights);
        let complete = counted.iter().filter(|it| it.set.ending == Ending::Complete);
        Self {
            profile,
            index,
            view: PathView::new(index, &rules, filter.functions.collapse_recursion),
            complete: complete.map(|it| it.cost.samples).sum(),
            total: counted.iter().map(|it| it.cost).sum(),
            counted,
            matching,
            weights,
        }
    }

    /// Cost of all matching samples.
    #[must_use]
    pub const fn total(&self) -> Cost {
        self.total
    }

    /// Number of matching samples with a complete chain.
    #[must_use]
    pub const fn complete(&self) -> u64 {
        self.complete
    }

    /// Weights of the samples: their unit and the counted event.
    #[must_use]
    pub const fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns the function of an id; an unknown function if the id is invalid.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Function {
        self.index.functions.get(id).copied().unwrap_or(Function::unknown(None))
    }

    /// Marks that distinguish functions of the same name and module.
    #[must_use]
    pub fn marks(&self) -> &FunctionMarks {
        self.index.marks(self.profile)
    }

    /// Returns the distinct stacks of the matching samples with their costs, in order of appearance.
    #[must_use]
    pub fn stacks(&self) -> Vec<(StackId, Cost)> {
        let mut positions: HashMap<StackId, usize> = HashMap::new();
        let mut stacks: Vec<(StackId, Cost)> = Vec::new();
        for (_, sample, cost) in self.samples() {
            let Some(stack) = sample.stack else { continue };
            let position = *positions.entry(stack).or_insert_with(|| {
                stacks.push((stack, Cost::default()));
                stacks.len() - 1
            });
            if let Some((_, sum)) = stacks.get_mut(position) {
                sum.add(cost);
            }
        }
        stacks
    }

    /// Iterates over the matching samples with their costs, in order.
    pub(super) fn samples(&self) -> impl Iterator<Item = (SampleId, &'i SampleRow, Cost)> {
        let samples = self.matching.samples(self.profile, self.index);
        samples.map(|(id, sample, _)| (id, sample, cost_of(sample, &self.weights)))
    }
}

fn cost_of(sample: &SampleRow, weights: &Weights) -> Cost {
    Cost { samples: 1, weight: weights.sum(1, sample.period().unwrap_or(1)) }
}

/// Sets, threads and times of the matching samples.
#[derive(Debug)]
struct MatchingSets {
    /// By set: whether its samples match, if their thread and time do.
    sets: Vec<bool>,
    /// By thread: whether its samples match; `None` if those of all threads do.
    threads: Option<Vec<bool>>,
    /// Time range, in nanoseconds.
    time: Option<RangeInclusive<u64>>,
    /// Range of samples that contains all samples of the time range.
    rows: Range<usize>,
}

impl MatchingSets {
    fn new(
        profile: &Profile,
        index: &Index,
        weights: &Weights,
        filter: &Filter,
        rules: &FunctionRules,
    ) -> Self {
        let comm = &filter.comm;
        let one_of = |list: &[i32], id: i32| list.is_empty() || list.contains(&id);
        let threads = profile.threads.iter().map(|thread| {
            one_of(&filter.threads, thread.tid.0)
                && one_of(&filter.processes, thread.pid.0)
                && (comm.is_empty() || matches(profile, Some(thread.comm), comm))
        });
        let threads =
            Some(threads.collect()).filter(|threads: &Vec<bool>| threads.contains(&false));
        let stacks = SelectedStacks::new(index, rules);
        let passes = |set: &SampleSet| {
            weights.counts(set.event) && stacks.contains(index.paths.end(set.stack))
        };
        let time = filter.time.zip(index.times.first).map(|((from, to), first)| {
            let at = |seconds: f64| first.saturating_add((seconds.max(0.0) * 1e9) as u64);
            at(from)..=at(to)
        });
        let rows = match &time {
            Some(time) => index.samples_within(profile, time),
            None => 0..profile.samples.len(),
        };
        Self { sets: index.sets.iter().map(passes).collect(), threads, time, rows }
    }

    /// Iterates over the matching samples, each with its set.
    fn samples<'i>(
        &self,
        profile: &'i Profile,
        index: &'i Index,
    ) -> impl Iterator<Item = (SampleId, &'i SampleRow, u32)> {
        let rows = profile.samples.as_slice().get(self.rows.clone()).unwrap_or_default();
        let sets = index.set_of.get(self.rows.clone()).unwrap_or_default();
        let rows = rows.iter().zip(sets.iter().copied()).zip(self.rows.start..);
        let rows = rows.map(|((sample, set), at)| (SampleId::from_index(at), sample, set));
        rows.filter(move |(_, sample, set)| {
            self.sets.get(*set as usize) == Some(&true) && self.has_thread_and_time_of(sample)
        })
    }

    fn has_thread_and_time_of(&self, sample: &SampleRow) -> bool {
        let (threads, range) = (self.threads.as_ref(), self.time.as_ref());
        threads.is_none_or(|threads| threads.by_id(sample.thread) == Some(&true))
            && range.is_none_or(|range| sample.time().is_some_and(|time| range.contains(&time.0)))
    }

    /// Returns the sets of the matching samples, in the order of their first samples.
    fn counted<'i>(
        &self,
        profile: &'i Profile,
        index: &'i Index,
        weights: &Weights,
    ) -> Vec<SetCost<'i>> {
        if self.time.is_none() && self.threads.is_none() {
            let matching = index.sets.iter().zip(&self.sets).filter(|(_, passes)| **passes);
            let counted = matching.map(|(set, _)| {
                let samples = u64::from(set.samples);
                SetCost { set, cost: Cost { samples, weight: weights.sum(samples, set.period) } }
            });
            return counted.collect();
        }
        // By set: its place in `counted`.
        let mut places = vec![NONE; index.sets.len()];
        let mut counted: Vec<SetCost<'_>> = Vec::new();
        for (_, sample, number) in self.samples(profile, index) {
            let number = number as usize;
            let Some((place, set)) = places.get_mut(number).zip(index.sets.get(number)) else {
                continue;
            };
            if *place == NONE {
                *place = counted.len() as u32;
                counted.push(SetCost { set, cost: Cost::default() });
            }
            if let Some(counted) = counted.get_mut(*place as usize) {
                counted.cost.add(cost_of(sample, weights));
            }
        }
        counted
    }
}

/// Stacks that function rules keep.
struct SelectedStacks<'r> {
    rules: &'r FunctionRules,
    /// By run of the paths: bits of the functions on the path to its end; empty if all stacks are kept.
    bits: Vec<PathBits>,
}

impl<'r> SelectedStacks<'r> {
    fn new(index: &Index, rules: &'r FunctionRules) -> Self {
        let mut bits: Vec<PathBits> = Vec::new();
        if rules.keeps_all() {
            return Self { rules, bits };
        }
        let of_line: Vec<u32> = index.lines.iter().map(|line| rules.bits(line.function)).collect();
        for run in index.paths.runs() {
            let mut path = bits.get(index.paths.parent(run) as usize).copied().unwrap_or_default();
            for &line in index.paths.codes(run) {
                path.enter(of_line.get(line as usize).copied().unwrap_or(0));
            }
            bits.push(path);
        }
        Self { rules, bits }
    }

    /// Returns true if stacks that end at `run` are kept.
    fn contains(&self, run: u32) -> bool {
        self.rules.keeps(self.bits.get(run as usize).copied().unwrap_or_default())
    }
}
