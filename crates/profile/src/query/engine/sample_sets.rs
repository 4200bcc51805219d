//! Samples that are equal for queries, as sets.

use std::hash::BuildHasher as _;

use address::ById as _;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::paths::NONE;
use crate::id::{EventId, StackId};
use crate::profile::Profile;
use crate::reason::{EndReason, WaitKind};
use crate::tables::SampleRow;

/// Completeness of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Ending {
    /// It reached its root and has all frames.
    Complete,
    /// It reached its root, but frames may be missing.
    Rooted,
    /// It ended before its root.
    Truncated,
}

impl From<EndReason> for Ending {
    fn from(end: EndReason) -> Self {
        match (end.is_complete(), end.is_rooted()) {
            (true, _) => Self::Complete,
            (false, true) => Self::Rooted,
            (false, false) => Self::Truncated,
        }
    }
}

/// Samples with the same stack, event, ending and kind of wait. Threads do not matter: recordings of many threads would
/// have as many sets as samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleSet {
    /// Index of their stack among the distinct ones.
    pub(super) stack: u32,
    pub(super) event: EventId,
    pub(super) ending: Ending,
    pub(super) wait: Option<WaitKind>,
    pub(super) samples: u32,
    /// Sum of their periods; a sample without a period counts as 1.
    pub(super) period: u64,
}

/// The sets of all samples.
#[derive(Debug)]
pub(super) struct SampleSets {
    /// In the order of their first samples.
    pub(super) sets: Vec<SampleSet>,
    /// By sample: its set.
    pub(super) set_of: Vec<u32>,
    /// The distinct stacks, in the order of their first samples.
    pub(super) stacks: Vec<Option<StackId>>,
}

impl SampleSets {
    /// Returns the sets of the samples of a profile.
    pub(super) fn of(profile: &Profile) -> Self {
        let mut stacks = Vec::new();
        let mut numbers = StackNumbers::new(profile.stacks.len());
        let mut finder = SetFinder::default();
        let set_of = profile.samples.iter().map(|sample| {
            let stack = numbers.of(sample.stack, &mut stacks);
            let at = finder.find(SampleSet::of(sample, stack));
            if let Some(set) = finder.sets.get_mut(at as usize) {
                set.samples += 1;
                set.period = set.period.saturating_add(sample.period().unwrap_or(1));
            }
            at
        });
        let set_of = set_of.collect();
        let SetFinder { mut sets, .. } = finder;
        sets.shrink_to_fit();
        Self { sets, set_of, stacks }
    }
}

/// Sets, and a way to find them. Most stacks have one set, which needs no entry in the hash table.
#[derive(Debug, Default)]
struct SetFinder {
    sets: Vec<SampleSet>,
    /// By stack.
    of_stack: Vec<StackSets>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// The sets of a stack.
#[derive(Clone, Copy, Debug)]
struct StackSets {
    /// The one that was found last.
    latest: u32,
    /// Whether they are in the hash table.
    are_in_table: bool,
}

impl SetFinder {
    /// Returns the set with the properties of `wanted`, which is added if there is none. Stacks are numbered in the
    /// order of their first call.
    fn find(&mut self, wanted: SampleSet) -> u32 {
        let Self { sets, of_stack, table, hasher } = self;
        let hash = |set: &SampleSet| hasher.hash_one(set.key());
        let hash_at = |sets: &[SampleSet], at: u32| sets.get(at as usize).map_or(0, hash);
        let is_wanted = |sets: &[SampleSet], at: u32| {
            sets.get(at as usize).is_some_and(|set| set.key() == wanted.key())
        };
        let Some(StackSets { latest, are_in_table }) = of_stack.get_mut(wanted.stack as usize)
        else {
            let latest = push(sets, wanted);
            of_stack.push(StackSets { latest, are_in_table: false });
            return latest;
        };
        if is_wanted(sets, *latest) {
            return *latest;
        }
        if !*are_in_table {
            table.insert_unique(hash_at(sets, *latest), *latest, |&at| hash_at(sets, at));
            *are_in_table = true;
        }
        let hash = hash(&wanted);
        *latest = match table.find(hash, |&at| is_wanted(sets, at)) {
            Some(&known) => known,
            None => {
                let added = push(sets, wanted);
                *table.insert_unique(hash, added, |&at| hash_at(sets, at)).get()
            }
        };
        *latest
    }
}

impl SampleSet {
    /// Returns the set of a sample, which has no samples yet.
    fn of(sample: &SampleRow, stack: u32) -> Self {
        Self {
            stack,
            event: sample.event,
            ending: Ending::from(sample.end),
            wait: sample.wait(),
            samples: 0,
            period: 0,
        }
    }

    /// Returns the properties that all its samples have.
    const fn key(&self) -> (u32, EventId, Ending, Option<WaitKind>) {
        (self.stack, self.event, self.ending, self.wait)
    }
}

fn push(sets: &mut Vec<SampleSet>, set: SampleSet) -> u32 {
    sets.push(set);
    sets.len() as u32 - 1
}

/// Numbers of the distinct stacks.
#[derive(Debug)]
struct StackNumbers {
    /// By stack of the profile; [`NONE`] if it was not met.
    of_stack: Vec<u32>,
    of_none: u32,
}

impl StackNumbers {
    fn new(stacks: usize) -> Self {
        Self { of_stack: vec![NONE; stacks], of_none: NONE }
    }

    /// Returns the number of a stack, and adds it to `stacks` if it is new.
    fn of(&mut self, stack: Option<StackId>, stacks: &mut Vec<Option<StackId>>) -> u32 {
        let number = match stack.and_then(|stack| self.of_stack.by_id_mut(stack)) {
            Some(number) => number,
            None => &mut self.of_none,
        };
        if *number == NONE {
            *number = stacks.len() as u32;
            stacks.push(stack);
        }
        *number
    }
}
