//! Number of frames by evidence, and number of chains completed with frames of other samples.

use crate::id::{FrameId, StackId};
use crate::profile::Profile;
use crate::reason::{EndReason, FoundBy};
use crate::tables::{StackRow, Table};

/// Counts of frames and chains by evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundCounts {
    /// Number of frames by evidence, in the order of [`FoundBy::ALL`]; inlined frames are not counted.
    pub frames: [u64; FoundBy::ALL.len()],
    /// Number of samples with frames from other samples.
    pub joined: u64,
    /// Number of samples with a gap, which represents frames that no sample shows.
    pub with_gap: u64,
    /// Number of samples with frames that tail calls removed.
    pub with_tail_calls: u64,
    /// Number of samples that lack unknown frames removed by tail calls.
    pub with_unknown_tail_calls: u64,
}

/// Counts the frames and chains of all samples in one pass over the samples and one over the stacks.
#[must_use]
pub fn found_counts(profile: &Profile) -> FoundCounts {
    let mut counts = FoundCounts {
        frames: [0; FoundBy::ALL.len()],
        joined: 0,
        with_gap: 0,
        with_tail_calls: 0,
        with_unknown_tail_calls: 0,
    };
    for (frame, weight) in profile.frames.iter().zip(&frame_weights(profile)) {
        counts.frames[frame.found_by as usize] += weight;
    }
    if !FoundBy::ALL.iter().any(|&word| kind(word) != 0 && counts.frames[word as usize] > 0) {
        return counts;
    }
    // By stack: bits of the evidence of its frames. Parents precede their children.
    let mut has = Table::<StackId, u8>::new();
    has.reserve(profile.stacks.len());
    for row in &profile.stacks {
        let outside = row.parent.and_then(|parent| has.get(parent)).copied();
        let own = profile.frames.get(row.frame).map_or(0, |frame| kind(frame.found_by));
        has.push(outside.unwrap_or_default() | own);
    }
    for sample in &profile.samples {
        let kinds = sample.stack.and_then(|stack| has.get(stack)).copied().unwrap_or_default();
        let count = |word: FoundBy| u64::from(kinds & kind(word) != 0);
        counts.joined += count(FoundBy::Joined);
        // A frame that represents a whole stack is not a gap.
        counts.with_gap += count(FoundBy::Gap) * u64::from(sample.end != EndReason::NoSwitch);
        counts.with_tail_calls += count(FoundBy::TailCall);
        counts.with_unknown_tail_calls += count(FoundBy::TailCalls);
    }
    counts
}

/// Returns the bit for counting chains with this evidence; 0 if they are not counted.
const fn kind(word: FoundBy) -> u8 {
    match word {
        FoundBy::Joined => 1,
        FoundBy::Gap => 2,
        FoundBy::TailCall => 4,
        FoundBy::TailCalls => 8,
        _ => 0,
    }
}

/// Returns, by stack, the number of samples that have it as their stack or as its outer part.
#[must_use]
pub fn stack_weights(profile: &Profile) -> Table<StackId, u64> {
    let mut weights: Table<StackId, u64> = Table::from_vec(vec![0; profile.stacks.len()]);
    for sample in profile.counted_samples() {
        if let Some(weight) = sample.stack.and_then(|stack| weights.get_mut(stack)) {
            *weight += 1;
        }
    }
    for (id, &StackRow { parent, .. }) in profile.stacks.entries().rev() {
        let weight = weights.get(id).copied().unwrap_or(0);
        let parent = parent.filter(|&parent| parent < id);
        if let Some(sum) = parent.and_then(|parent| weights.get_mut(parent)) {
            *sum += weight;
        }
    }
    weights
}

/// Returns, by frame, its number of occurrences in samples.
#[must_use]
pub fn frame_weights(profile: &Profile) -> Table<FrameId, u64> {
    let mut weights: Table<FrameId, u64> = Table::from_vec(vec![0; profile.frames.len()]);
    for (stack, weight) in profile.stacks.iter().zip(&stack_weights(profile)) {
        if let Some(sum) = weights.get_mut(stack.frame) {
            *sum += weight;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{EventId, LayoutId, LocationId, ThreadId};
    use crate::tables::{FrameRow, SampleRow};

    /// Returns a profile of stacks with this evidence, outermost frame first, each with its number of samples.
    fn profile(stacks: &[(&[FoundBy], usize)]) -> Profile {
        let mut profile = Profile::default();
        for &(frames, n) in stacks {
            let mut parent = None;
            for &found_by in frames {
                let location = LocationId::new(0);
                let row = FrameRow { location, found_by, kernel: false, instance: 0 };
                let frame = profile.frames.push(row);
                parent = Some(profile.stacks.push(StackRow { parent, frame }));
            }
            let sample = SampleRow::new(
                ThreadId::new(0),
                EventId::new(0),
                EndReason::Root,
                parent,
                LayoutId::new(0),
            );
            profile.samples.extend(std::iter::repeat_n(sample, n));
        }
        profile
    }

    #[test]
    fn frames_and_chains_are_counted() {
        let profile = profile(&[
            (&[FoundBy::Cfi, FoundBy::Sampled], 3),
            (&[FoundBy::Joined, FoundBy::Joined, FoundBy::Sampled], 5),
            (&[FoundBy::Joined, FoundBy::Gap, FoundBy::Cfi, FoundBy::Sampled], 2),
            (&[], 1),
            (&[FoundBy::Cfi, FoundBy::TailCall, FoundBy::TailCalls, FoundBy::Sampled], 4),
            (&[FoundBy::Cfi, FoundBy::TailCall, FoundBy::Sampled], 1),
        ]);
        let counts = found_counts(&profile);
        let of = |word: FoundBy| counts.frames[word as usize];
        assert_eq!((of(FoundBy::Sampled), of(FoundBy::Cfi)), (15, 10));
        assert_eq!((of(FoundBy::Joined), of(FoundBy::Gap), of(FoundBy::FramePointer)), (12, 2, 0));
        assert_eq!((counts.joined, counts.with_gap), (7, 2));
        assert_eq!((counts.with_tail_calls, counts.with_unknown_tail_calls), (5, 4));
        let frames: u64 = counts.frames.iter().sum();
        assert_eq!(frames, 3 * 2 + 5 * 3 + 2 * 4 + 4 * 4 + 3);
    }

    /// The frame that represents the stack of a sleeping thread is not a gap of a chain.
    #[test]
    fn a_stack_that_nothing_shows_has_no_gap() {
        let mut profile = profile(&[(&[FoundBy::Gap], 2)]);
        assert_eq!(found_counts(&profile).with_gap, 2);
        profile.samples.as_mut_slice()[0].end = EndReason::NoSwitch;
        let counts = found_counts(&profile);
        assert_eq!((counts.with_gap, counts.frames[FoundBy::Gap as usize]), (1, 2));
    }
}
