//! A group of threads. Groups are repaired in parallel, because nothing is joined across threads.

use std::collections::VecDeque;

use hashbrown::HashMap;
use perf_data::prefetch_line;
use rayon::prelude::*;

use crate::join::{
    CallHistory, CodeContext, FunctionCache, ObservedStack, SampleContext, SnapshotKey, StackEnd,
    StackEvidence, StackOwner, StartSnapshot, Trials,
};
use crate::repair::repairs::{RepairContext, Repairs};
use crate::slice::walk::WalkedSlice;

/// A sample: its position in the window, the index of its slice among the waiting ones, and its index in the slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplePosition {
    pub(crate) at: usize,
    pub(crate) slice: usize,
    pub(crate) index: usize,
}

/// The slices of a window, and the number of its samples to repair.
#[derive(Clone, Copy)]
pub(crate) struct WindowSlices<'w> {
    pub(crate) slices: &'w VecDeque<WalkedSlice>,
    pub(crate) repaired: usize,
    /// Maximum number of user frames of a chain.
    pub(crate) max_frames: usize,
    pub(crate) code: CodeContext<'w>,
}

/// State of the repair for a group of threads.
#[derive(Debug, Default)]
pub(crate) struct ThreadGroup {
    past: Past,
    future: Future,
}

/// Evidence from the first sample to the last. It remains from one window to the next.
#[derive(Debug)]
struct Past {
    memory: CallHistory,
    functions: FunctionCache,
    /// Number of processed samples of the window.
    done: usize,
    /// Evidence from earlier samples for the last processed ones, if their chains are truncated.
    collected: Vec<Option<EarlierEvidence>>,
}

/// Evidence from the last sample of a window to the first.
#[derive(Debug)]
struct Future {
    memory: CallHistory,
    functions: FunctionCache,
    /// Evidence from later samples for the ones to repair, if their chains are truncated.
    collected: Vec<Option<LaterEvidence>>,
}

/// Maximum number of stored calls per window: some 42 MB. Programs need one to twelve per sample.
/// Samples beyond it have no evidence from later ones.
const SNAPSHOTS_OF_FUTURE: usize = 1 << 19;
/// Fewer for the past: when its store is full, the stored evidence is used up first.
const SNAPSHOTS_OF_PAST: usize = 1 << 16;

impl Default for Past {
    fn default() -> Self {
        let (functions, done, collected) = Default::default();
        Self { memory: CallHistory::with_capacity(SNAPSHOTS_OF_PAST), functions, done, collected }
    }
}

impl Default for Future {
    fn default() -> Self {
        let (functions, collected) = Default::default();
        Self { memory: CallHistory::learning(SNAPSHOTS_OF_FUTURE), functions, collected }
    }
}

/// Evidence from the samples before one: its comparison, the calls outside of it, and the start of its stack.
/// Also whether its thread has several stacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlierEvidence {
    pub(crate) evidence: StackEvidence,
    pub(crate) outside: SnapshotKey,
    pub(crate) start: Option<StartSnapshot>,
    pub(crate) several: bool,
}

/// Evidence from the samples after one: its comparison, and the calls outside of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaterEvidence {
    pub(crate) evidence: StackEvidence,
    pub(crate) outside: SnapshotKey,
}

impl<'w> WindowSlices<'w> {
    /// Returns the observed stack of a sample with user frames.
    pub(crate) fn sample(&self, position: SamplePosition) -> Option<ObservedStack<'w>> {
        self.slices.get(position.slice)?.observed.get(position.index)
    }

    /// Returns the samples of the window to repair.
    fn to_repair(self, positions: &[SamplePosition]) -> &[SamplePosition] {
        let n = positions.partition_point(|position| position.at < self.repaired);
        positions.get(..n).unwrap_or_default()
    }

    /// Prefetches the frames of a sample.
    fn fetch(&self, position: Option<&SamplePosition>) {
        /// Most samples have at most this many.
        const FRAMES: usize = 24;
        if let Some(observed) = position.and_then(|position| self.sample(*position)) {
            let from_outermost = (0..observed.frames.len()).rev().take(FRAMES);
            from_outermost.for_each(|at| prefetch_line(observed.frames, at));
        }
    }

    /// Prefetches the first and the last frame of a sample.
    pub(crate) fn fetch_ends(&self, position: SamplePosition) {
        if let Some(observed) = self.sample(position) {
            [0, observed.frames.len() - 1]
                .into_iter()
                .for_each(|at| prefetch_line(observed.frames, at));
        }
    }

    /// Returns the threads with truncated chains to repair, each with the innermost stack address at which one ends.
    fn wanted(&self, positions: &[SamplePosition]) -> HashMap<StackOwner, u64> {
        let mut wanted = HashMap::new();
        let to_repair = self.to_repair(positions).iter();
        for observed in to_repair.filter_map(|position| self.sample(*position)) {
            if let StackEnd::Truncated(cfa) = observed.end {
                let cfa = cfa.unwrap_or(u64::MAX);
                wanted
                    .entry(observed.owner)
                    .and_modify(|it: &mut u64| *it = cfa.min(*it))
                    .or_insert(cfa);
            }
        }
        wanted
    }
}

impl ThreadGroup {
    /// Processes the samples of a window in both directions, concurrently.
    /// Calls `pass_begins` at the beginning of each of the two passes.
    pub(crate) fn observe(
        &mut self,
        window: WindowSlices<'_>,
        positions: &[SamplePosition],
        pass_begins: impl Fn() + Sync,
    ) {
        let Self { past, future, .. } = self;
        past.done = 0;
        let to_repair = window.to_repair(positions);
        let backwards = || {
            pass_begins();
            future.backwards(window, positions);
        };
        let forwards = || {
            pass_begins();
            past.forwards(window, to_repair);
        };
        rayon::join(backwards, forwards);
    }

    /// Reliability of evidence, as learned backwards.
    pub(crate) fn trials(&self) -> Option<&Trials> {
        self.future.memory.learned().map(|learned| &learned.trials)
    }

    /// Completes the truncated chains of the samples to repair,
    /// with the callers that the evidence of both directions decides.
    /// Callers after a gap are added only if `gaps` is set.
    pub(crate) fn decide(
        &mut self,
        window: WindowSlices<'_>,
        positions: &[SamplePosition],
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
            let deciding = RepairContext { window, past, future, trials, gaps };
            let these = positions.get(from..to).unwrap_or_default();
            let later = self.future.collected.get(from..to).unwrap_or_default();
            all.par_extend(deciding.all(these, &self.past.collected, later));
            // Each iteration advances, because a single list of calls always fits.
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
    /// Processes samples from the last to the first, and collects the evidence for truncated ones to repair.
    fn backwards(&mut self, window: WindowSlices<'_>, positions: &[SamplePosition]) {
        let Self { memory, functions, collected } = self;
        let wanted = window.wanted(positions);
        memory.reset(positions.len());
        collected.clear();
        collected.resize(window.to_repair(positions).len(), None);
        for (at, &position) in positions.iter().enumerate().rev() {
            window.fetch(positions.get(at.wrapping_sub(1)));
            let Some(observed) = window.sample(position) else { continue };
            let Some(&truncated_from) = wanted.get(&observed.owner) else { continue };
            let mut sample =
                SampleContext { observed, functions, code: window.code, truncated_from };
            let Some(comparison) = memory.compare(&mut sample) else { continue };
            if matches!(observed.end, StackEnd::Truncated(_))
                && let Some(slot) = collected.get_mut(at)
            {
                let outside = memory.snapshot(&comparison).unwrap_or_default();
                *slot = Some(LaterEvidence { evidence: comparison.evidence, outside });
            }
            memory.update(&comparison, &sample);
        }
    }
}

impl Past {
    /// Processes further samples from first to last, until the store of evidence for truncated ones is full.
    /// Evidence from earlier calls is discarded.
    fn forwards(&mut self, window: WindowSlices<'_>, positions: &[SamplePosition]) {
        let Self { memory, functions, done, collected } = self;
        let n_left = positions.len() - *done;
        collected.clear();
        collected.reserve(n_left);
        memory.reset_snapshots(n_left);
        while let Some(&position) = positions.get(*done) {
            window.fetch(positions.get(*done + 1));
            let mut before = None;
            if let Some(observed) = window.sample(position) {
                let mut sample = SampleContext {
                    observed,
                    functions,
                    code: window.code,
                    truncated_from: u64::MAX,
                };
                if let Some(comparison) = memory.compare(&mut sample) {
                    let evidence = comparison.evidence;
                    if matches!(observed.end, StackEnd::Truncated(_)) {
                        // The comparison is repeated in the next call.
                        let Some(outside) = memory.snapshot(&comparison) else { return };
                        let start = memory.start_snapshot(&evidence);
                        let several = memory.has_several(&evidence);
                        before = Some(EarlierEvidence { evidence, outside, start, several });
                    }
                    memory.update(&comparison, &sample);
                }
            }
            collected.push(before);
            *done += 1;
        }
    }
}
