//! Walked slices wait until enough later samples are known for their repair.
//! The evidence for a sample depends only on its position in the recording,
//! not on slices, batches or the number of threads.

use options::Join;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use budget::Exhausted;

use rayon::prelude::*;
use unwinder::CodeLocation;

use crate::join::{ChainRepair, CodeContext, Trials};
use crate::repair::extend::ChainExtender;
use crate::repair::in_order::InOrder;
use crate::repair::repaired::RepairedSlice;
use crate::repair::repairs::Repairs;
use crate::repair::thread_group::{SamplePosition, ThreadGroup, WindowSlices};
use crate::slice::walk::WalkedSlice;
use crate::tails::TailCalls;

/// Samples per window.
const WINDOW: usize = 32 << 10;
/// Maximum number of frames of a window, some 170 MB; windows with deep stacks have fewer samples.
const FRAMES: usize = 4 << 20;
/// Quarters of a window that are repaired; the rest is later evidence.
const REPAIRED: usize = 3;

/// Number of thread groups that are repaired in parallel, independent of the number of processors.
const GROUPS: usize = 4;

/// Slices that wait for their repair.
#[derive(Debug, Default)]
pub(crate) struct Window {
    join: Join,
    /// Maximum number of user frames per sample.
    max_frames: usize,
    groups: [ThreadGroup; GROUPS],
    slices: VecDeque<WalkedSlice>,
    /// Number of repaired samples of the first slice.
    done: usize,
    /// Number of waiting samples, and of their frames.
    waiting: usize,
    frames: usize,
    /// If each batch is repaired: number of waiting samples of batches before the last one.
    before_last: Option<usize>,
    /// Finders of the frames that tail calls removed, if requested.
    tail_calls: Option<TailCalls>,
}

impl Window {
    /// Creates a window with these options; chains have at most `max_frames` user frames.
    pub(crate) fn new(join: Join, max_frames: usize, tail_calls: bool) -> Self {
        let tail_calls = tail_calls.then(TailCalls::default);
        Self { join, max_frames, tail_calls, ..Self::default() }
    }

    /// Leaves all chains unchanged from now on.
    pub(crate) fn without_repair(&mut self) {
        (self.join, self.tail_calls) = (Join::Off, None);
    }

    /// Makes samples wait only for the end of the next batch.
    pub(crate) const fn by_batches(&mut self) {
        self.before_last = Some(0);
    }

    /// Forgets all evidence and decisions. No sample may be waiting. Returns the files with code that was not fully
    /// searched for tail calls.
    pub(crate) fn reset(&mut self) -> BTreeMap<PathBuf, Exhausted> {
        let before_last = self.before_last.map(|_| 0);
        let new = Self::new(self.join, self.max_frames, self.tail_calls.is_some());
        std::mem::replace(self, Self { before_last, ..new }).into_exhausted()
    }

    /// Adds a slice.
    pub(crate) fn push(&mut self, slice: WalkedSlice) {
        self.waiting += slice.samples.len();
        self.frames += slice.observed.n_all_frames();
        self.slices.push_back(slice);
    }

    /// Repairs all waiting samples at the end of the recording.
    /// Passes each slice on as soon as it and its predecessors are complete:
    /// it is merged while the others get their new stacks.
    /// Calls `passes_run` once no pass over the samples waits for a thread.
    pub(crate) fn finish(
        &mut self,
        code: CodeContext<'_>,
        passes_run: &(dyn Fn() + Sync),
        mut merge: impl FnMut(RepairedSlice) + Send,
    ) {
        let ready = self.repair_ready(code);
        self.done(ready, code).into_iter().for_each(&mut merge);
        let found = self.find(self.waiting, self.waiting, code, passes_run);
        let slices: Vec<_> = self.slices.drain(..).enumerate().collect();
        (self.waiting, self.frames, self.done) = (0, 0, 0);
        self.before_last = self.before_last.map(|_| 0);
        let max_frames = self.max_frames;
        let merging = InOrder::new(slices.len(), merge);
        // Taken in order, so that slices are merged as they are completed.
        slices.into_iter().par_bridge().for_each(|(number, mut slice)| {
            extend(number, &mut slice, &found, max_frames);
            merging.put(number, self.repaired(slice, code));
        });
    }

    /// Repairs the samples that need no further ones.
    fn repair_ready(&mut self, code: CodeContext<'_>) -> Vec<WalkedSlice> {
        let mut ready = Vec::new();
        if self.join == Join::Off {
            (self.waiting, self.frames) = (0, 0);
            ready.extend(self.slices.drain(..));
        }
        while self.is_full() {
            let window = self.size();
            let repaired = (window.div_ceil(4) * REPAIRED).min(window);
            self.repair_first(window, repaired, code, &mut ready);
        }
        while self.slices.front().is_some_and(|slice| slice.samples.is_empty()) {
            ready.extend(self.slices.pop_front());
        }
        ready
    }

    /// Does the same after slices were added; `ends_batch` if they are the last ones of their batch.
    pub(crate) fn ready_after(
        &mut self,
        ends_batch: bool,
        code: CodeContext<'_>,
    ) -> Vec<RepairedSlice> {
        let mut ready = self.repair_ready(code);
        if let (Some(before), true) = (self.before_last, ends_batch) {
            let repaired = before.min(self.waiting);
            if repaired > 0 {
                self.repair_first(self.waiting, repaired, code, &mut ready);
            }
            self.before_last = Some(self.waiting);
        }
        self.done(ready, code)
    }

    /// Converts completed slices into the form that the merge takes.
    fn done(&self, slices: Vec<WalkedSlice>, code: CodeContext<'_>) -> Vec<RepairedSlice> {
        slices.into_par_iter().map(|slice| self.repaired(slice, code)).collect()
    }

    /// Converts a completed slice into the form that the merge takes.
    fn repaired(&self, slice: WalkedSlice, code: CodeContext<'_>) -> RepairedSlice {
        let Some(tail_calls) = &self.tail_calls else {
            return RepairedSlice::of(slice, None);
        };
        let mut finder = tail_calls.take();
        let repaired = RepairedSlice::of(slice, Some((&mut finder, code)));
        tail_calls.put(finder);
        repaired
    }

    /// Returns copies of the waiting slices, except those of former calls.
    pub(crate) fn show(&mut self) -> impl Iterator<Item = RepairedSlice> + use<'_> {
        let new = self.slices.iter_mut().filter(|slice| !slice.is_shown);
        new.map(|slice| {
            slice.is_shown = true;
            RepairedSlice::copy_of(slice)
        })
    }

    /// Returns the files with code that was not fully searched for tail calls.
    pub(crate) fn into_exhausted(self) -> BTreeMap<PathBuf, Exhausted> {
        self.tail_calls.map(TailCalls::into_exhausted).unwrap_or_default()
    }

    /// Repairs the first samples of a window, and returns the completed slices in `ready`.
    fn repair_first(
        &mut self,
        window: usize,
        repaired: usize,
        code: CodeContext<'_>,
        ready: &mut Vec<WalkedSlice>,
    ) {
        self.repair(window, repaired, code);
        self.waiting -= repaired;
        self.frames -= self.counted(repaired);
        self.done += repaired;
        if let Some(before) = &mut self.before_last {
            *before = before.saturating_sub(repaired);
        }
        while let Some(first) = self.slices.front()
            && first.samples.len() <= self.done
        {
            self.done -= first.samples.len();
            ready.extend(self.slices.pop_front());
        }
    }

    /// Returns true if the first waiting samples can be repaired.
    const fn is_full(&self) -> bool {
        self.waiting >= WINDOW || self.frames >= FRAMES
    }

    /// Returns the number of frames of each waiting sample, in order.
    fn waiting_frames(&self) -> impl Iterator<Item = usize> {
        let all = self
            .slices
            .iter()
            .flat_map(|slice| (0..slice.samples.len()).map(|index| slice.observed.n_frames(index)));
        all.skip(self.done)
    }

    /// Returns the number of frames of the first samples.
    fn counted(&self, samples: usize) -> usize {
        self.waiting_frames().take(samples).sum()
    }

    /// Returns the size of the next window, in samples, within both limits.
    fn size(&self) -> usize {
        let mut frames = 0;
        let is_within = |n: &usize| {
            frames += n;
            frames <= FRAMES
        };
        self.waiting_frames().take(WINDOW).take_while(is_within).count().max(1)
    }

    /// Repairs the first samples of a window: finds callers by thread group,
    /// then gives the samples their new stacks slice by slice.
    fn repair(&mut self, window: usize, repaired: usize, code: CodeContext<'_>) {
        let found = self.find(window, repaired, code, &|| ());
        let max_frames = self.max_frames;
        let slices: Vec<_> = self.slices.iter_mut().enumerate().collect();
        let each = slices.into_par_iter();
        each.for_each(|(number, slice)| extend(number, slice, &found, max_frames));
    }

    /// Finds the callers for the first samples of a window, by thread group and part.
    #[inline(never)] // A stage of its own in profiles, as the next one.
    fn find(
        &mut self,
        window: usize,
        repaired: usize,
        code: CodeContext<'_>,
        passes_run: &(dyn Fn() + Sync),
    ) -> Vec<Repairs> {
        let groups = self.positions(window);
        let Self { slices, max_frames, .. } = self;
        let window = WindowSlices { slices, repaired, max_frames: *max_frames, code };
        let pairs = self.groups.par_iter_mut().zip(&groups);
        let n_passes = AtomicUsize::new(0);
        let pass_begins = || {
            if n_passes.fetch_add(1, Ordering::Relaxed) + 1 == 2 * GROUPS {
                passes_run();
            }
        };
        pairs.for_each(|(group, positions)| group.observe(window, positions, pass_begins));
        let mut trials = Trials::default();
        self.groups.iter().filter_map(ThreadGroup::trials).for_each(|it| trials.add(it));
        let gaps = self.join == Join::Gaps;
        let pairs = self.groups.par_iter_mut().zip(&groups);
        pairs
            .flat_map(|(group, positions)| group.decide(window, positions, &trials, gaps))
            .collect()
    }

    /// Returns the samples of the window in order, by thread group.
    fn positions(&self, window: usize) -> [Vec<SamplePosition>; GROUPS] {
        let mut groups = [const { Vec::new() }; GROUPS];
        let mut at = 0;
        for (number, slice) in self.slices.iter().enumerate() {
            let first = if number == 0 { self.done } else { 0 };
            for index in first..slice.samples.len() {
                if at == window {
                    return groups;
                }
                if let Some(owner) = slice.observed.owner(index)
                    && let Some(group) = groups.get_mut(owner.0 as usize % GROUPS)
                {
                    group.push(SamplePosition { at, slice: number, index });
                }
                at += 1;
            }
        }
        groups
    }
}

/// Gives the chains of a slice their new stacks.
#[inline(never)]
fn extend(number: usize, slice: &mut WalkedSlice, found: &[Repairs], max_frames: usize) {
    let mut extender = ChainExtender::new(max_frames);
    for (position, repaired, callers) in in_order(found, number) {
        extender.extend(slice, position.index, repaired, callers);
    }
}

/// Returns the completions for samples of a slice, in sample order.
fn in_order(
    found: &[Repairs],
    slice: usize,
) -> impl Iterator<Item = (SamplePosition, ChainRepair, &[CodeLocation])> {
    let mut parts: Vec<_> = found.iter().map(|part| part.of_slice(slice).peekable()).collect();
    parts.retain_mut(|part| part.peek().is_some());
    std::iter::from_fn(move || {
        let next = parts.iter_mut().filter_map(|part| Some((part.peek()?.0.at, part)));
        next.min_by_key(|(at, _)| *at)?.1.next()
    })
}
