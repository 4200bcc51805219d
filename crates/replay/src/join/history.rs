//! Calls on the stacks of threads, remembered in one direction of time.
//! A call stays until a sample contradicts that it is still active.

use hashbrown::HashMap;

use crate::join::call::{ActiveCall, Link};
use crate::join::compare::{Comparison, StackEvidence, same_calls};
use crate::join::functions::{CodeContext, FunctionCache};
use crate::join::learned::Learned;
use crate::join::observed::{ObservedStack, Stack, StackEnd};
use crate::join::snapshots::{CallSnapshots, SnapshotKey};
use crate::join::start::{StackRoot, StartCalls, StartSnapshot, Starts};
use crate::join::trials::Trials;
use crate::join::variety::Variety;
use crate::join::view::CallerView;

/// Remembered stacks for one direction of time.
#[derive(Debug)]
pub(crate) struct CallHistory {
    index: HashMap<Stack, u32>,
    stacks: Vec<StackHistory>,
    /// Number of observed samples.
    samples: u64,
    starts: Starts,
    snapshots: CallSnapshots,
    /// Diversity of saved registers.
    variety: Variety,
    /// Reliability of evidence, if this memory learns it.
    learned: Option<Learned>,
}

/// The remembered state of a stack.
#[derive(Debug)]
struct StackHistory {
    stack: Stack,
    /// Active calls, outermost first.
    calls: Vec<ActiveCall>,
    /// Its root, if chains reached it.
    root: Option<StackRoot>,
    /// Number of calls outside of the last sample's frames.
    overlapping: usize,
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
pub(crate) struct SampleContext<'a> {
    pub(crate) observed: ObservedStack<'a>,
    pub(crate) functions: &'a mut FunctionCache,
    pub(crate) code: CodeContext<'a>,
    /// Truncated chains of the thread end at this stack address or further out.
    pub(crate) truncated_from: u64,
}

impl CallHistory {
    /// Creates a memory with a store for `calls` calls.
    pub(crate) fn with_capacity(calls: usize) -> Self {
        let (index, stacks, samples, starts, variety, learned) = Default::default();
        Self {
            index,
            stacks,
            samples,
            starts,
            variety,
            learned,
            snapshots: CallSnapshots::with_capacity(calls),
        }
    }

    /// Creates a memory that also learns the reliability of evidence.
    pub(crate) fn learning(calls: usize) -> Self {
        Self { learned: Some(Learned::default()), ..Self::with_capacity(calls) }
    }

    /// Forgets everything, and reserves memory for `n_samples`.
    pub(crate) fn reset(&mut self, n_samples: usize) {
        let Self { index, stacks, samples, starts, snapshots, variety, learned } = self;
        index.clear();
        stacks.clear();
        variety.clear();
        *samples = 0;
        *starts = Starts::default();
        snapshots.reset(n_samples);
        if let Some(Learned { trials, contradicted }) = learned {
            contradicted.clear();
            *trials = Trials::default();
        }
    }

    /// Returns the start of a sample's stack that was known then, as it is known now.
    #[cfg(test)]
    pub(crate) fn start(&self, evidence: &StackEvidence) -> Option<StartCalls<'_>> {
        self.starts.get(evidence.start)
    }

    /// Returns true if chains of a sample's stack reached roots at different addresses: its thread has several stacks.
    pub(crate) fn has_several(&self, evidence: &StackEvidence) -> bool {
        let remembered = self.stacks.get(evidence.stack as usize);
        remembered.and_then(|it| it.root).is_some_and(|root| root.several)
    }

    /// Returns the learned reliability, if this memory learns.
    pub(crate) const fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// Compares a sample with the remembered calls of its stack.
    pub(crate) fn compare(&mut self, sample: &mut SampleContext<'_>) -> Option<Comparison> {
        let observed = sample.observed;
        let (first, last) = observed.frames.first().zip(observed.frames.last())?;
        let index = self.stack(observed.stack());
        let remembered = self.stacks.get_mut(index as usize)?;
        let calls = &mut remembered.calls;
        // Calls below the stack pointer have returned.
        while calls.last().is_some_and(|call| call.cfa <= first.sp) {
            calls.pop();
        }
        let shown_to = if observed.end == StackEnd::Root {
            u64::MAX
        } else {
            observed.shown_to().unwrap_or(last.sp)
        };
        let overlapping = first_inside(calls, remembered.overlapping, last.sp);
        let outer = calls.get(..overlapping).unwrap_or_default().iter().rev();
        let outside = overlapping - outer.take_while(|call| call.cfa <= shown_to).count();
        remembered.overlapping = overlapping;
        let (same, proofs) = same_calls(&observed, calls, overlapping, &self.variety);
        let mut comparison = Comparison {
            outside,
            overlapping,
            same,
            evidence: StackEvidence {
                stack: index,
                link: Link::Gap,
                proofs,
                now: remembered.samples,
                start: remembered.root.map(|root| root.start),
            },
        };
        comparison.evidence.link = comparison.link(calls, sample);
        Some(comparison)
    }

    /// Empties the store of calls, and reserves memory for `n_samples`.
    pub(crate) fn reset_snapshots(&mut self, n_samples: usize) {
        let calls = self.stacks.iter_mut().flat_map(|it| &mut it.calls);
        calls.for_each(|call| call.snapshot = None);
        self.snapshots.reset(n_samples);
    }

    /// Stores the calls outside of a sample's frames; `None` if the store is full.
    pub(crate) fn snapshot(&mut self, comparison: &Comparison) -> Option<SnapshotKey> {
        let remembered = self.stacks.get_mut(comparison.evidence.stack as usize)?;
        let outside = remembered.calls.get_mut(..comparison.outside)?;
        self.snapshots.has_capacity(outside.len()).then(|| self.snapshots.store(outside))
    }

    /// Prefetches stored calls.
    pub(crate) fn fetch(&self, calls: SnapshotKey) {
        self.snapshots.fetch(calls);
    }

    /// Stores the start of a sample's stack as it is known now.
    pub(crate) fn start_snapshot(&self, evidence: &StackEvidence) -> Option<StartSnapshot> {
        self.starts.snapshot(evidence.start)
    }

    /// Returns the view of a sample with its stored calls,
    /// the start of its stack as known now, and the reliability of evidence.
    pub(crate) fn view<'a>(
        &'a self,
        evidence: &StackEvidence,
        calls: SnapshotKey,
        trials: &'a Trials,
    ) -> CallerView<'a> {
        self.view_from(self.starts.get(evidence.start), evidence, calls, trials)
    }

    /// Returns the view of a sample with the start of its stack as known at that time.
    pub(crate) fn view_at_snapshot<'a>(
        &'a self,
        evidence: &StackEvidence,
        start: Option<StartSnapshot>,
        calls: SnapshotKey,
        trials: &'a Trials,
    ) -> CallerView<'a> {
        self.view_from(self.starts.restored(start), evidence, calls, trials)
    }

    fn view_from<'a>(
        &'a self,
        start: Option<StartCalls<'a>>,
        evidence: &StackEvidence,
        calls: SnapshotKey,
        trials: &'a Trials,
    ) -> CallerView<'a> {
        let StackEvidence { link, proofs, now, .. } = *evidence;
        let (calls, variety) = (self.snapshots.calls(calls), &self.variety);
        CallerView { calls, link, proofs, trials, variety, start, now, sure: true }
    }

    /// Updates the memory with a compared sample.
    pub(crate) fn update(&mut self, comparison: &Comparison, sample: &SampleContext<'_>) {
        let Self { stacks, starts, learned, samples, variety, .. } = self;
        let Some(remembered) = stacks.get_mut(comparison.evidence.stack as usize) else { return };
        let calls = &mut remembered.calls;
        let overlapping = calls.get(comparison.overlapping..).unwrap_or_default();
        comparison.note(overlapping, &sample.observed, variety);
        if let Some(learned) = learned {
            learned.try_out(overlapping, comparison.same, &sample.observed);
            let over = overlapping.get(comparison.same..).unwrap_or_default();
            learned.contradicted.note(comparison.evidence.stack, sample.truncated_from, over);
        }
        // The sample contradicts calls across its frames, a call that is over, and calls inside of it.
        let is_over = comparison.evidence.link == Link::OtherFunction;
        let outside = comparison.outside - usize::from(is_over && comparison.outside > 0);
        calls.truncate(comparison.overlapping + comparison.same);
        calls.drain(outside..comparison.overlapping);
        comparison.renew(calls.get_mut(outside..).unwrap_or_default(), &sample.observed);
        let n_known = calls.len();
        comparison.add(calls, &sample.observed);
        if let Some(Learned { trials, contradicted, .. }) = learned {
            let (stack, from) = (comparison.evidence.stack, sample.truncated_from);
            let new = calls.get(n_known..).unwrap_or_default();
            new.iter().for_each(|call| contradicted.try_out(stack, from, call, trials));
        }
        if sample.observed.end == StackEnd::Root {
            remembered.root = starts.note(remembered.root, calls, sample.code);
        }
        *samples += 1;
        remembered.samples += 1;
        remembered.last = *samples;
    }

    /// Forgets the stacks without recent samples if there are many,
    /// the outer calls of deep stacks, and the stored calls.
    pub(crate) fn forget_old(&mut self) {
        self.reset_snapshots(0);
        for StackHistory { calls, .. } in &mut self.stacks {
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
            let (root, overlapping, samples, last) = Default::default();
            stacks.push(StackHistory { stack, calls, root, overlapping, samples, last });
            stacks.len() as u32 - 1
        })
    }
}

/// Returns the number of calls outside of a stack address; `guess` is tried first.
fn first_inside(calls: &[ActiveCall], guess: usize, sp: u64) -> usize {
    let (outer, inner) = calls.split_at(guess.min(calls.len()));
    let is_outside = |call: &ActiveCall| call.cfa > sp;
    if outer.last().is_none_or(is_outside) && !inner.first().is_some_and(is_outside) {
        return outer.len();
    }
    calls.partition_point(is_outside)
}
