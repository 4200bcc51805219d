//! What is remembered of the stacks of threads while time goes on in one direction: for each stack the calls that were
//! under way, as far as nothing contradicts that they still are.

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

/// The memory of one direction.
#[derive(Debug)]
pub(crate) struct Memory {
    index: HashMap<Stack, u32>,
    stacks: Vec<Remembered>,
    /// How many samples were taken in.
    samples: u64,
    starts: Starts,
    kept: Kept,
    /// What it is worth that frames saved the same.
    variety: Variety,
    /// What evidence is worth, if this memory is to learn that.
    learned: Option<Learned>,
}

/// What is remembered of a stack.
#[derive(Debug)]
struct Remembered {
    stack: Stack,
    /// The calls under way, outermost first.
    calls: Vec<Call>,
    /// What is known of its root, if chains reached it.
    root: Option<Root>,
    /// So many were outside of the last sample's frames.
    beside: usize,
    /// How many samples of the stack there were.
    samples: u32,
    /// How many samples of all stacks there were at the last of them.
    last: u64,
}

/// So many stacks are remembered from one window to the next.
const STACKS: usize = 1024;
/// So many calls of each, the innermost ones.
const CALLS: usize = 1024;

/// Most stacks have no more.
const USUAL_CALLS: usize = 32;

/// What a sample is compared by.
pub(crate) struct Sight<'a> {
    pub(crate) seen: Seen<'a>,
    pub(crate) functions: &'a mut Functions,
    pub(crate) code: Code<'a>,
    /// Chains of the thread that are to be continued end no further inside than here.
    pub(crate) ways_from: u64,
}

impl Memory {
    /// A memory that keeps what so many calls take.
    pub(crate) fn with_room(calls: usize) -> Self {
        let (index, stacks, samples, starts, variety, learned) = Default::default();
        Self { index, stacks, samples, starts, variety, learned, kept: Kept::with_room(calls) }
    }

    /// The same, that also learns what evidence is worth.
    pub(crate) fn learning(calls: usize) -> Self {
        Self { learned: Some(Learned::default()), ..Self::with_room(calls) }
    }

    /// Forgets all, and has room for what so many samples show as a rule.
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

    /// What the stack of a sample starts with, as far as it was known then and is known now.
    #[cfg(test)]
    pub(crate) fn start(&self, known: &Known) -> Option<StartCalls<'_>> {
        self.starts.get(known.start)
    }

    /// Whether chains of a sample's stack reached roots in different places: its thread has several stacks.
    pub(crate) fn has_several(&self, known: &Known) -> bool {
        let remembered = self.stacks.get(known.stack as usize);
        remembered.and_then(|it| it.root).is_some_and(|root| root.several)
    }

    /// What was learned, if this memory learns.
    pub(crate) const fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// Compares a sample with what is remembered of its stack.
    pub(crate) fn compare(&mut self, sight: &mut Sight<'_>) -> Option<Comparison> {
        let seen = sight.seen;
        let (first, last) = seen.frames.first().zip(seen.frames.last())?;
        let index = self.stack(seen.stack());
        let remembered = self.stacks.get_mut(index as usize)?;
        let calls = &mut remembered.calls;
        // What is below the stack pointer has returned.
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

    /// Forgets what was kept, and has room for what so many samples show as a rule.
    pub(crate) fn begin_keeping(&mut self, n_samples: usize) {
        let calls = self.stacks.iter_mut().flat_map(|it| &mut it.calls);
        calls.for_each(|call| call.kept = None);
        self.kept.begin_anew(n_samples);
    }

    /// Keeps the calls outside of a sample's frames for later; `None` where there is no room.
    pub(crate) fn keep(&mut self, comparison: &Comparison) -> Option<Key> {
        let remembered = self.stacks.get_mut(comparison.known.stack as usize)?;
        let outside = remembered.calls.get_mut(..comparison.outside)?;
        self.kept.has_room(outside.len()).then(|| self.kept.keep(outside))
    }

    /// What was kept is read soon.
    pub(crate) fn fetch(&self, calls: Key) {
        self.kept.fetch(calls);
    }

    /// Keeps what the stack of a sample starts with, as it is known now.
    pub(crate) fn keep_start(&self, known: &Known) -> Option<KeptStart> {
        self.starts.keep(known.start)
    }

    /// What was known of a sample's stack: with the calls outside of it, what it starts with as far as that is known now,
    /// and how far weak evidence can be relied on.
    pub(crate) fn view<'a>(&'a self, known: &Known, calls: Key, trials: &'a Trials) -> View<'a> {
        self.view_from(self.starts.get(known.start), known, calls, trials)
    }

    /// The same, with what the stack started with as it was known at that time.
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

    /// Takes in a sample that was compared.
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
        // What the sample contradicts: what it shows to be elsewhere, a call that is over, what lies inside.
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

    /// Forgets the stacks that had no sample for the longest time, where there are many, the outer calls of deep ones, and
    /// what was kept.
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

/// How many calls are outside of a place of the stack, where it may be as many as `guess`.
fn first_inside(calls: &[Call], guess: usize, sp: u64) -> usize {
    let (outer, inner) = calls.split_at(guess.min(calls.len()));
    let is_outside = |call: &Call| call.cfa > sp;
    if outer.last().is_none_or(is_outside) && !inner.first().is_some_and(is_outside) {
        return outer.len();
    }
    calls.partition_point(is_outside)
}
