//! A part of the threads, whose samples are repaired beside those of the others: nothing is joined across threads.

use std::collections::VecDeque;

use hashbrown::HashMap;
use perf_data::read_soon;
use rayon::prelude::*;

use crate::join::{
    Code, Functions, KeptStart, Key, Known, Memory, Seen, SeenEnd, Sight, StackOwner, Trials,
};
use crate::repair::repairs::{Deciding, Repairs};
use crate::slice::walk::WalkedSlice;

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

/// What is known of some threads.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    past: Past,
    future: Future,
}

/// What samples show from the first to the last. It is remembered from one window to the next.
#[derive(Debug)]
struct Past {
    memory: Memory,
    functions: Functions,
    /// So many samples of the window were gone through.
    done: usize,
    /// What those that were gone through last say of the ones after them, for chains that were cut off.
    said: Vec<Option<Before>>,
}

/// What the samples of a window show, from the last to the first.
#[derive(Debug)]
struct Future {
    memory: Memory,
    functions: Functions,
    /// What they say of those before them, for chains that were cut off and are to be repaired.
    said: Vec<Option<Later>>,
}

/// So many calls are kept of the samples of a window: some 42 MB. Programs need one to twelve for each sample. What is
/// more is not known to samples before.
const KEPT_OF_FUTURE: usize = 1 << 19;
/// Of the past fewer: where there is no room, all that was kept is put to use first.
const KEPT_OF_PAST: usize = 1 << 16;

impl Default for Past {
    fn default() -> Self {
        let (functions, done, said) = Default::default();
        Self { memory: Memory::with_room(KEPT_OF_PAST), functions, done, said }
    }
}

impl Default for Future {
    fn default() -> Self {
        let (functions, said) = Default::default();
        Self { memory: Memory::learning(KEPT_OF_FUTURE), functions, said }
    }
}

/// What the samples before one say of it: how it compares, what they remember outside of it, what its stack starts with,
/// and whether its thread has several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub(crate) known: Known,
    pub(crate) outside: Key,
    pub(crate) start: Option<KeptStart>,
    pub(crate) several: bool,
}

/// What the samples after one say of it: how it compares, and what they remember outside of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Later {
    pub(crate) known: Known,
    pub(crate) outside: Key,
}

impl<'w> WindowSlices<'w> {
    /// What was seen of a sample with user frames.
    pub(crate) fn sample(&self, position: Position) -> Option<Seen<'w>> {
        self.slices.get(position.slice)?.seen.get(position.index)
    }

    /// Those of the window's samples that are to be repaired.
    fn to_repair(self, positions: &[Position]) -> &[Position] {
        let n = positions.partition_point(|position| position.at < self.repaired);
        positions.get(..n).unwrap_or_default()
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

    /// The first frame of a sample and the last one are read soon.
    pub(crate) fn fetch_ends(&self, position: Position) {
        if let Some(seen) = self.sample(position) {
            [0, seen.frames.len() - 1].into_iter().for_each(|at| read_soon(seen.frames, at));
        }
    }

    /// The threads that have chains to be continued, and where the innermost end of those is.
    fn wanted(&self, positions: &[Position]) -> HashMap<StackOwner, u64> {
        let mut wanted = HashMap::new();
        let to_repair = self.to_repair(positions).iter();
        for seen in to_repair.filter_map(|position| self.sample(*position)) {
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
    /// Goes through the samples of a window in both directions beside each other.
    pub(crate) fn look(&mut self, window: WindowSlices<'_>, positions: &[Position]) {
        let Self { past, future, .. } = self;
        past.done = 0;
        let to_repair = window.to_repair(positions);
        rayon::join(|| future.backwards(window, positions), || past.forwards(window, to_repair));
    }

    /// What was learned backwards.
    pub(crate) fn trials(&self) -> Option<&Trials> {
        self.future.memory.learned().map(|learned| &learned.trials)
    }

    /// Continues the chains that were cut off, of the samples that are to be repaired, as far as what both directions
    /// remember decides. Behind a gap only if `gaps` says so.
    pub(crate) fn decide(
        &mut self,
        window: WindowSlices<'_>,
        positions: &[Position],
        trials: &Trials,
        gaps: bool,
    ) -> Vec<Repairs> {
        let positions = window.to_repair(positions);
        let mut all = Vec::new();
        let mut first = 0;
        loop {
            let Self { past, future } = &*self;
            let (from, to) = (first, past.done);
            let (past, future) = (&past.memory, &future.memory);
            let deciding = Deciding { window, past, future, trials, gaps };
            let these = positions.get(from..to).unwrap_or_default();
            let later = self.future.said.get(from..to).unwrap_or_default();
            all.par_extend(deciding.all(these, &self.past.said, later));
            // Each turn gets further, since one list alone always has room.
            if to >= positions.len() || to == from {
                break;
            }
            first = to;
            self.past.forwards(window, positions);
        }
        self.past.memory.forget_old();
        all
    }
}

impl Future {
    /// Goes through samples from the last to the first: what they show, and what it says of those that were cut off and
    /// are to be repaired.
    fn backwards(&mut self, window: WindowSlices<'_>, positions: &[Position]) {
        let Self { memory, functions, said } = self;
        let wanted = window.wanted(positions);
        memory.begin_anew(positions.len());
        said.clear();
        said.resize(window.to_repair(positions).len(), None);
        for (at, &position) in positions.iter().enumerate().rev() {
            window.fetch(positions.get(at.wrapping_sub(1)));
            let Some(seen) = window.sample(position) else { continue };
            let Some(&ways_from) = wanted.get(&seen.owner) else { continue };
            let mut sight = Sight { seen, functions, code: window.code, ways_from };
            let Some(comparison) = memory.compare(&mut sight) else { continue };
            if matches!(seen.end, SeenEnd::Cut(_))
                && let Some(slot) = said.get_mut(at)
            {
                let outside = memory.keep(&comparison).unwrap_or_default();
                *slot = Some(Later { known: comparison.known, outside });
            }
            memory.take_in(&comparison, &sight);
        }
    }
}

impl Past {
    /// Goes on through samples from the first to the last, to the end or as long as there is room for what they say of
    /// those that were cut off. What was said of the ones before is forgotten.
    fn forwards(&mut self, window: WindowSlices<'_>, positions: &[Position]) {
        let Self { memory, functions, done, said } = self;
        let n_left = positions.len() - *done;
        said.clear();
        said.reserve(n_left);
        memory.begin_keeping(n_left);
        while let Some(&position) = positions.get(*done) {
            window.fetch(positions.get(*done + 1));
            let mut before = None;
            if let Some(seen) = window.sample(position) {
                let mut sight = Sight { seen, functions, code: window.code, ways_from: u64::MAX };
                if let Some(comparison) = memory.compare(&mut sight) {
                    let known = comparison.known;
                    if matches!(seen.end, SeenEnd::Cut(_)) {
                        // It is compared once more, then.
                        let Some(outside) = memory.keep(&comparison) else { return };
                        let start = memory.keep_start(&known);
                        let several = memory.has_several(&known);
                        before = Some(Before { known, outside, start, several });
                    }
                    memory.take_in(&comparison, &sight);
                }
            }
            said.push(before);
            *done += 1;
        }
    }
}
