//! Calls on the stacks of threads, remembered in one direction of time.
//! A call stays until a sample contradicts that it is still active.

use hashbrown::HashMap;

use crate::join::call::{Call, Link};
use crate::join::compare::{Comparison, Known, same_calls};
use crate::join::functions::{Code, Functions};
use crate::join::kept::{Kept, Key};
use crate::join::learned::Learned;
use crate::join::seen::{Seen, SeenEnd, Stack};
use crate::join::start::{KeptStart, Root, StartCalls, Starts};
use crate::join::trials::Trials;
use crate::join::variety::Variety;
use crate::join::view::View;

/// Remembered stacks for one direction of time.
#[derive(Debug)]
pub(crate) struct Memory {
    index: HashMap<Stack, u32>,
    stacks: Vec<Remembered>,
    /// Number of observed samples.
    samples: u64,
    starts: Starts,
    kept: Kept,
    /// Diversity of saved registers.
    variety: Variety,
    /// Reliability of evidence, if this memory learns it.
    learned: Option<Learned>,
}

/// The remembered state of a stack.
#[derive(Debug)]
struct Remembered {
    stack: Stack,
    /// Active calls, outermost first.
    calls: Vec<Call>,
    /// Its root, if chains reached it.
    root: Option<Root>,
    /// Number of calls outside of the last sample's frames.
    beside: usize,
    /// Number of samples of the stack.
    samples: u32,
    /// Number of samples of all stacks up to its last one.
    last: u64,
}

/// Number of stacks that remain from one window to the next.
const STACKS: usize = 1024;
/// Number of calls of each that remain, the innermost ones.
const CALLS: usize = 1024;

/// Initial capacity; most stacks have fewer calls.
const USUAL_CALLS: usize = 32;

/// A sample, with the code for its comparison.
pub(crate) struct Sight<'a> {
    pub(crate) seen: Seen<'a>,
    pub(crate) functions: &'a mut Functions,
    pub(crate) code: Code<'a>,
    /// Truncated chains of the thread end at this stack address or further out.
    pub(crate) ways_from: u64,
}

impl Memory {
    /// Creates a memory with a store for `calls` calls.
    pub(crate) fn with_room(calls: usize) -> Self {
        let (index, stacks, samples, starts, variety, learned) = Default::default();
        Self { index, stacks, samples, starts, variety, learned, kept: Kept::with_room(calls) }
    }

    /// Creates a memory that also learns the reliability of evidence.
    pub(crate) fn learning(calls: usize) -> Self {
        Self { learned: Some(Learned::default()), ..Self::with_room(calls) }
    }

    /// Forgets everything, and reserves memory for `n_samples`.
    pub(crate) fn begin_anew(&mut self, n_samples: usize) {
        let Self { index, stacks, samples, starts, kept, variety, learned } = self;
        index.clear();
        stacks.clear();
        variety.clear();
        *samples = 0;
        *starts = Starts::default();
        kept.begin_anew(n_samples);
        if let Some(Learned { trials, ended }) = learned {
            ended.clear();
            *trials = Trials::default();
        }
    }

    /// Returns the start of a sample's stack that was known then, as it is known now.
    #[cfg(test)]
    pub(crate) fn start(&self, known: &Known) -> Option<StartCalls<'_>> {
        self.starts.get(known.start)
    }

    /// Returns true if chains of a sample's stack reached roots at different addresses: its thread has several stacks.
    pub(crate) fn has_several(&self, known: &Known) -> bool {
        let remembered = self.stacks.get(known.stack as usize);
        remembered.and_then(|it| it.root).is_some_and(|root| root.several)
    }

    /// Returns the learned reliability, if this memory learns.
    pub(crate) const fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// Compares a sample with the remembered calls of its stack.
    pub(crate) fn compare(&mut self, sight: &mut Sight<'_>) -> Option<Comparison> {
        let seen = sight.seen;
        let (first, last) = seen.frames.first().zip(seen.frames.last())?;
        let index = self.stack(seen.stack());
        let remembered = self.stacks.get_mut(index as usize)?;
        let calls = &mut remembered.calls;
        // Calls below the stack pointer have returned.
        while calls.last().is_some_and(|call| call.cfa <= first.sp) {
            calls.pop();
        }
        let told =
            if seen.end == SeenEnd::Root { u64::MAX } else { seen.told().unwrap_or(last.sp) };
        let beside = first_inside(calls, remembered.beside, last.sp);
        let outer = calls.get(..beside).unwrap_or_default().iter().rev();
        let outside = beside - outer.take_while(|call| call.cfa <= told).count();
        remembered.beside = beside;
        let (same, proofs) = same_calls(&seen, calls, beside, &self.variety);
        let mut comparison = Comparison {
            outside,
            beside,
            same,
            known: Known {
                stack: index,
                link: Link::Gap,
                proofs,
                now: remembered.samples,
                start: remembered.root.map(|root| root.start),
            },
        };
        comparison.known.link = comparison.link(calls, sight);
        Some(comparison)
    }

    /// Empties the store of calls, and reserves memory for `n_samples`.
    pub(crate) fn begin_keeping(&mut self, n_samples: usize) {
        let calls = self.stacks.iter_mut().flat_map(|it| &mut it.calls);
        calls.for_each(|call| call.kept = None);
        self.kept.begin_anew(n_samples);
    }

    /// Stores the calls outside of a sample's frames; `None` if the store is full.
    pub(crate) fn keep(&mut self, comparison: &Comparison) -> Option<Key> {
        let remembered = self.stacks.get_mut(comparison.known.stack as usize)?;
        let outside = remembered.calls.get_mut(..comparison.outside)?;
        self.kept.has_room(outside.len()).then(|| self.kept.keep(outside))
    }

    /// Prefetches stored calls.
    pub(crate) fn fetch(&self, calls: Key) {
        self.kept.fetch(calls);
    }

    /// Stores the start of a sample's stack as it is known now.
    pub(crate) fn keep_start(&self, known: &Known) -> Option<KeptStart> {
        self.starts.keep(known.start)
    }

    /// Returns the view of a sample with its stored calls,
    /// the start of its stack as known now, and the reliability of evidence.
    pub(crate) fn view<'a>(&'a self, known: &Known, calls: Key, trials: &'a Trials) -> View<'a> {
        self.view_from(self.starts.get(known.start), known, calls, trials)
    }

    /// Returns the view of a sample with the start of its stack as known at that time.
    pub(crate) fn view_of_then<'a>(
        &'a self,
        known: &Known,
        start: Option<KeptStart>,
        calls: Key,
        trials: &'a Trials,
    ) -> View<'a> {
        self.view_from(self.starts.kept(start), known, calls, trials)
    }

    fn view_from<'a>(
        &'a self,
        start: Option<StartCalls<'a>>,
        known: &Known,
        calls: Key,
        trials: &'a Trials,
    ) -> View<'a> {
        let Known { link, proofs, now, .. } = *known;
        let (calls, variety) = (self.kept.calls(calls), &self.variety);
        View { calls, link, proofs, trials, variety, start, now, sure: true }
    }

    /// Updates the memory with a compared sample.
    pub(crate) fn take_in(&mut self, comparison: &Comparison, sight: &Sight<'_>) {
        let Self { stacks, starts, learned, samples, variety, .. } = self;
        let Some(remembered) = stacks.get_mut(comparison.known.stack as usize) else { return };
        let calls = &mut remembered.calls;
        let beside = calls.get(comparison.beside..).unwrap_or_default();
        comparison.note(beside, &sight.seen, variety);
        if let Some(learned) = learned {
            learned.try_out(beside, comparison.same, &sight.seen);
            let over = beside.get(comparison.same..).unwrap_or_default();
            learned.ended.note(comparison.known.stack, sight.ways_from, over);
        }
        // The sample contradicts calls across its frames, a call that is over, and calls inside of it.
        let is_over = comparison.known.link == Link::OtherFunction;
        let outside = comparison.outside - usize::from(is_over && comparison.outside > 0);
        calls.truncate(comparison.beside + comparison.same);
        calls.drain(outside..comparison.beside);
        comparison.renew(calls.get_mut(outside..).unwrap_or_default(), &sight.seen);
        let n_known = calls.len();
        comparison.add(calls, &sight.seen);
        if let Some(Learned { trials, ended, .. }) = learned {
            let (stack, from) = (comparison.known.stack, sight.ways_from);
            let new = calls.get(n_known..).unwrap_or_default();
            new.iter().for_each(|call| ended.try_out(stack, from, call, trials));
        }
        if sight.seen.end == SeenEnd::Root {
            remembered.root = starts.note(remembered.root, calls, sight.code);
        }
        *samples += 1;
        remembered.samples += 1;
        remembered.last = *samples;
    }

    /// Forgets the stacks without recent samples if there are many,
    /// the outer calls of deep stacks, and the stored calls.
    pub(crate) fn forget_old(&mut self) {
        self.begin_keeping(0);
        for Remembered { calls, .. } in &mut self.stacks {
            calls.drain(..calls.len().saturating_sub(CALLS));
        }
        if self.stacks.len() > STACKS {
            self.stacks.sort_unstable_by_key(|it| std::cmp::Reverse(it.last));
            self.stacks.truncate(STACKS);
            self.variety.forget_slots();
            self.index = (0..).zip(&self.stacks).map(|(at, it)| (it.stack, at)).collect();
        }
        self.starts.retain(self.stacks.iter_mut().filter_map(|it| it.root.as_mut()));
    }

    fn stack(&mut self, stack: Stack) -> u32 {
        let stacks = &mut self.stacks;
        *self.index.entry(stack).or_insert_with(|| {
            let calls = Vec::with_capacity(USUAL_CALLS);
            let (root, beside, samples, last) = Default::default();
            stacks.push(Remembered { stack, calls, root, beside, samples, last });
            stacks.len() as u32 - 1
        })
    }
}

/// Returns the number of calls outside of a stack address; `guess` is tried first.
fn first_inside(calls: &[Call], guess: usize, sp: u64) -> usize {
    let (outer, inner) = calls.split_at(guess.min(calls.len()));
    let is_outside = |call: &Call| call.cfa > sp;
    if outer.last().is_none_or(is_outside) && !inner.first().is_some_and(is_outside) {
        return outer.len();
    }
    calls.partition_point(is_outside)
}
