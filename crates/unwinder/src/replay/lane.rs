//! A part of the threads, whose samples are repaired beside those of the others: nothing is joined across threads.

use std::collections::VecDeque;

use hashbrown::HashMap;
use perf_data::read_soon;

use crate::frame::Place;
use crate::repair::{
    Code, CutChain, Functions, Key, Known, Memory, Repaired, Seen, SeenEnd, Sight, StackOwner,
    Trials,
};
use crate::replay::slice::WalkedSlice;

/// A sample: its place in the window, the number of its slice among those that wait, and its index in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) at: usize,
    pub(crate) slice: usize,
    pub(crate) index: usize,
}

/// The slices of a window, and how many of its samples are to be repaired.
#[derive(Clone, Copy)]
pub(crate) struct WindowSlices<'w> {
    pub(crate) slices: &'w VecDeque<WalkedSlice>,
    pub(crate) repaired: usize,
    pub(crate) code: Code<'w>,
}

/// What is known of some threads. What is remembered of the past is kept from one window to the next.
#[derive(Debug)]
pub(crate) struct Lane {
    past: Memory,
    /// What the samples of the window show, from the last one to the first.
    future: Memory,
    /// For each sample what those after it say, if it is to be repaired.
    laters: Vec<Option<Later>>,
    functions: Functions,
}

impl Default for Lane {
    fn default() -> Self {
        let (past, laters, functions) = Default::default();
        Self { past, future: Memory::learning(), laters, functions }
    }
}

/// What chains of a lane are continued with.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// The chains in the order of their samples, each with where its callers begin.
    chains: Vec<(Position, Repaired, usize)>,
    /// The callers that were found for them, one chain's after the other's.
    places: Vec<Place>,
}

impl Repairs {
    /// The chains of a slice in the order of their samples, each with its callers, innermost first.
    pub(crate) fn of_slice(
        &self,
        slice: usize,
    ) -> impl Iterator<Item = (Position, Repaired, &[Place])> {
        let first = self.chains.partition_point(|(position, ..)| position.slice < slice);
        let chains = self.chains.get(first..).unwrap_or_default().iter();
        let of_slice = chains.take_while(move |(position, ..)| position.slice == slice);
        of_slice.filter_map(|&(position, repaired, start)| {
            let callers = self.places.get(start..)?.get(..repaired.len)?;
            Some((position, repaired, callers))
        })
    }
}

/// What the samples after one say of it: how it compares, and what they remember outside of it.
#[derive(Clone, Copy, Debug)]
struct Later {
    known: Known,
    outside: Key,
}

impl<'w> WindowSlices<'w> {
    /// What was seen of a sample with user frames.
    fn sample(&self, position: Position) -> Option<Seen<'w>> {
        self.slices.get(position.slice)?.seen.get(position.index)
    }

    /// What is looked at of a sample is read soon.
    fn fetch(&self, position: Option<&Position>) {
        /// Most samples have no more.
        const FRAMES: usize = 24;
        if let Some(seen) = position.and_then(|position| self.sample(*position)) {
            let from_outermost = (0..seen.frames.len()).rev().take(FRAMES);
            from_outermost.for_each(|at| read_soon(seen.frames, at));
        }
    }

    /// The threads that have chains to be continued, and where the innermost end of those is.
    fn wanted(&self, positions: &[Position]) -> HashMap<StackOwner, u64> {
        let mut wanted = HashMap::new();
        let repaired = positions.iter().take_while(|position| position.at < self.repaired);
        for seen in repaired.filter_map(|position| self.sample(*position)) {
            if let SeenEnd::Cut(cfa) = seen.end {
                let cfa = cfa.unwrap_or(u64::MAX);
                wanted
                    .entry(seen.owner)
                    .and_modify(|it: &mut u64| *it = cfa.min(*it))
                    .or_insert(cfa);
            }
        }
        wanted
    }
}

impl Lane {
    /// Goes through samples from the last to the first: what they show, and what it says of those that were cut off and
    /// are to be repaired.
    pub(crate) fn backwards(&mut self, window: WindowSlices<'_>, positions: &[Position]) {
        let Self { future, laters, functions, .. } = self;
        let wanted = window.wanted(positions);
        future.begin_anew(positions.len());
        laters.clear();
        laters.resize(positions.len(), None);
        for (at, (&position, slot)) in positions.iter().zip(laters).enumerate().rev() {
            window.fetch(positions.get(at.wrapping_sub(1)));
            let Some(seen) = window.sample(position) else { continue };
            let Some(&ways_from) = wanted.get(&seen.owner) else { continue };
            let mut sight = Sight { seen, functions, code: window.code, ways_from };
            let Some(comparison) = future.compare(&mut sight) else { continue };
            if matches!(seen.end, SeenEnd::Cut(_)) && position.at < window.repaired {
                *slot = Some(Later { known: comparison.known, outside: future.keep(&comparison) });
            }
            future.take_in(&comparison, &mut sight);
        }
    }

    /// What was learned backwards.
    pub(crate) fn trials(&self) -> Option<&Trials> {
        self.future.learned().map(|learned| &learned.trials)
    }

    /// Goes through the samples that are to be repaired from the first to the last, and continues the chains that were
    /// cut off as far as what both directions remember decides. Behind a gap only if `gaps` says so.
    pub(crate) fn forwards(
        &mut self,
        window: WindowSlices<'_>,
        positions: &[Position],
        trials: &Trials,
        gaps: bool,
    ) -> Repairs {
        let Self { past, future, laters, functions } = self;
        let mut all = Repairs::default();
        all.places.reserve(8 * positions.len());
        all.chains.reserve(positions.len());
        for (at, (&position, slot)) in positions.iter().zip(laters).enumerate() {
            window.fetch(positions.get(at + 1));
            if position.at >= window.repaired {
                break;
            }
            let Some(seen) = window.sample(position) else { continue };
            let (code, ways_from) = (window.code, u64::MAX);
            let mut sight = Sight { seen, functions, code, ways_from };
            let Some(comparison) = past.compare(&mut sight) else { continue };
            if let (Some(later), Some(learned)) = (slot, future.learned()) {
                let several = |memory: &Memory| memory.starts().has_several(seen.stack());
                let (before, after) = (past.outside(&comparison), future.kept(later.outside));
                let views = [
                    past.view(&comparison.known, before, trials),
                    future.view(&later.known, after, trials),
                ];
                let gaps = gaps && !several(past) && !several(future);
                let chain = CutChain::new(&mut sight, gaps, (later.known.stack, learned));
                let start = all.places.len();
                let repaired = chain.repair(views, &mut all.places);
                all.chains.extend(repaired.map(|repaired| (position, repaired, start)));
            }
            past.take_in(&comparison, &mut sight);
        }
        past.forget_old();
        all
    }
}
