//! A part of the threads, whose samples are repaired beside those of the others: nothing is joined across threads.

use std::collections::VecDeque;

use hashbrown::HashSet;

use crate::repair::{
    Call, Code, Comparison, CutChain, Functions, Key, Memory, Repaired, Seen, SeenEnd, Sight,
    StackOwner, Trials, View,
};
use crate::replay::places::Places;
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

/// What is kept of some threads from one window to the next.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    past: Memory,
    functions: Functions,
    places: Places,
}

/// What the samples of a window say of those before them.
pub(crate) struct Backwards {
    future: Memory,
    laters: Vec<Option<Later>>,
}

/// What the samples after one remember outside of it, and where that is kept.
type Later = (Comparison, Option<Key>);

impl Backwards {
    /// What was learned on the way.
    pub(crate) fn trials(&self) -> Option<&Trials> {
        self.future.learned().map(|learned| &learned.trials)
    }
}

impl<'w> WindowSlices<'w> {
    /// A sample with user frames: its slice, what was seen of it, and how many frames of the kernel it has.
    fn sample(&self, position: Position) -> Option<(&'w WalkedSlice, Seen<'w>, usize)> {
        let slice = self.slices.get(position.slice)?;
        let (seen, n_kernel) = slice.seen.get(position.index)?;
        Some((slice, seen, n_kernel))
    }

    /// The threads that have chains to be continued.
    fn wanted(&self, positions: &[Position]) -> HashSet<StackOwner> {
        let repaired = positions.iter().take_while(|position| position.at < self.repaired);
        let seen = repaired.filter_map(|position| self.sample(*position)).map(|(_, seen, _)| seen);
        seen.filter(|seen| matches!(seen.end, SeenEnd::Cut(_))).map(|seen| seen.owner).collect()
    }
}

impl Lane {
    /// Goes through samples from the last to the first: what they show, and what it says of those that were cut off and
    /// are to be repaired.
    pub(crate) fn backwards(
        &mut self,
        window: WindowSlices<'_>,
        positions: &[Position],
    ) -> Backwards {
        let Self { places, functions, .. } = self;
        let wanted = window.wanted(positions);
        let mut future = Memory::learning();
        let mut laters = vec![None; positions.len()];
        for (&position, slot) in positions.iter().zip(&mut laters).rev() {
            let Some((slice, seen, n_kernel)) = window.sample(position) else { continue };
            if !wanted.contains(&seen.owner) {
                continue;
            }
            places.begin(slice, position.index, n_kernel);
            let place = |frame| places.get(slice, seen.frames, frame);
            let mut sight = Sight { seen, place, functions, code: window.code };
            let Some(comparison) = future.compare(&mut sight) else { continue };
            if matches!(seen.end, SeenEnd::Cut(_)) && position.at < window.repaired {
                *slot = Some((comparison, future.keep(&comparison)));
            }
            future.take_in(&comparison, &mut sight);
        }
        Backwards { future, laters }
    }

    /// Goes through the samples that are to be repaired from the first to the last, and continues the chains that were
    /// cut off as far as what both directions remember decides. Behind a gap only if `gaps` says so.
    pub(crate) fn forwards(
        &mut self,
        window: WindowSlices<'_>,
        positions: &[Position],
        (later, trials): (&Backwards, &Trials),
        gaps: bool,
    ) -> Vec<(Position, Repaired)> {
        let Self { past, functions, places } = self;
        let mut all = Vec::new();
        for (&position, slot) in positions.iter().zip(&later.laters) {
            if position.at >= window.repaired {
                break;
            }
            let Some((slice, seen, n_kernel)) = window.sample(position) else { continue };
            places.begin(slice, position.index, n_kernel);
            let place = |frame| places.get(slice, seen.frames, frame);
            let mut sight = Sight { seen, place, functions, code: window.code };
            let Some(comparison) = past.compare(&mut sight) else { continue };
            if let (Some((after, key)), Some(learned)) = (slot, later.future.learned()) {
                let known = [(&*past, &comparison), (&later.future, after)];
                let several =
                    |(memory, _): &(&Memory, _)| memory.starts().has_several(seen.stack());
                let before: Vec<&Call> = past.outside(&comparison).iter().rev().collect();
                let kept: Vec<&Call> = later.future.kept(*key).collect();
                let [one, other] = known;
                let views = [view(one, &before, trials), view(other, &kept, trials)];
                let gaps = gaps && !known.iter().any(several);
                let repaired =
                    CutChain::new(&mut sight, gaps, (after.stack, learned)).repair(views);
                all.extend(repaired.map(|repaired| (position, repaired)));
            }
            past.take_in(&comparison, &mut sight);
        }
        past.forget_old();
        all
    }
}

/// What one direction says of a sample.
fn view<'a>(
    (memory, comparison): (&'a Memory, &Comparison),
    calls: &'a [&'a Call],
    trials: &'a Trials,
) -> View<'a> {
    View {
        calls,
        link: comparison.link,
        trials,
        start: memory.starts().get(comparison.start),
        now: comparison.now,
        sure: true,
    }
}
