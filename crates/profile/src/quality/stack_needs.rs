//! Stack bytes that the chains of a recording need to reach their root, which is the required size of the stack copies.

use serde::{Deserialize, Serialize};

use crate::encoding::encoding;

/// Sizes of stack copies for the counts of needs, in bytes, ascending. The last is perf's maximum: the record's size
/// field has 16 bits, and sizes are multiples of 8.
pub const DUMP_SIZES: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 65528];

/// Samples by the first of [`DUMP_SIZES`] that is sufficient for them; the last count is for larger needs.
pub type NeedCounts = [u64; DUMP_SIZES.len() + 1];

/// Stack bytes needed by the chains of samples with a stack copy, from the sampled stack pointer to the frame of the
/// outermost function. Chains that ended for reasons other than the size of the copy are not counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackNeeds {
    /// Chains that reached their root with their own bytes, by needed size.
    pub whole: NeedCounts,
    /// Chains truncated by the end of the copy.
    pub truncated: u64,
    /// Truncated chains that reached their root with frames of other samples, without a gap, by needed size.
    pub joined: NeedCounts,
    /// Truncated chains that reached their root across a gap, by needed size.
    pub across_gap: NeedCounts,
}

encoding! { StackNeeds {
    whole: NeedCounts,
    truncated: u64,
    joined: NeedCounts,
    across_gap: NeedCounts,
} }

impl StackNeeds {
    /// Returns the index in [`NeedCounts`] for a need of `bytes`.
    #[must_use]
    pub fn slot(bytes: u64) -> usize {
        DUMP_SIZES.partition_point(|&size| size < bytes)
    }

    /// Returns the smallest of [`DUMP_SIZES`] that keeps `percent` of the decided chains complete without frames of
    /// other samples; `None` if there is none.
    #[must_use]
    pub fn keeping(&self, percent: u64) -> Option<u64> {
        let decided = self.decided();
        let mut whole = 0;
        DUMP_SIZES.into_iter().zip(self.whole).find_map(|(bytes, count)| {
            whole += count;
            (decided > 0 && whole * 100 >= decided * percent).then_some(bytes)
        })
    }

    /// Adds the counts of other samples.
    pub fn add(&mut self, other: &Self) {
        let columns = [
            (&mut self.whole, &other.whole),
            (&mut self.joined, &other.joined),
            (&mut self.across_gap, &other.across_gap),
        ];
        for (counts, more) in columns {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
        self.truncated += other.truncated;
    }

    /// Number of chains that the size of the copy decides about: those that reached their root, and the truncated ones.
    #[must_use]
    pub fn decided(&self) -> u64 {
        total(&self.whole) + self.truncated
    }

    /// Number of decided chains that reached their root without a gap.
    #[must_use]
    pub fn rooted(&self) -> u64 {
        total(&self.whole) + total(&self.joined)
    }
}

/// Returns the number of samples of all sizes.
pub(super) fn total(counts: &NeedCounts) -> u64 {
    counts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_counted_by_the_first_size_that_is_enough() {
        let slots = [0, 4096, 4097, 8192, 16384, 32768, 32769, 65528, 65529, u64::MAX];
        assert_eq!(slots.map(StackNeeds::slot), [0, 0, 1, 1, 2, 3, 4, 4, 5, 5]);
    }

    #[test]
    fn the_smallest_size_keeps_its_share() {
        let whole = [900, 85, 5, 10, 0, 0];
        let needs = StackNeeds { whole, ..StackNeeds::default() };
        let kept = [90, 91, 98, 99, 100].map(|percent| needs.keeping(percent));
        assert_eq!(kept, [4096, 8192, 8192, 16384, 32768].map(Some));
        let needs = StackNeeds { truncated: 11, ..needs };
        assert_eq!((needs.keeping(98), needs.keeping(99)), (Some(32768), None));
        assert_eq!(StackNeeds::default().keeping(99), None);
    }

    #[test]
    fn needs_add_up() {
        let one = StackNeeds {
            whole: [1, 2, 0, 0, 0, 0],
            truncated: 9,
            joined: [0, 0, 3, 0, 0, 0],
            across_gap: [0, 0, 0, 0, 0, 4],
        };
        let mut sum = one;
        sum.add(&one);
        let expected = StackNeeds {
            whole: [2, 4, 0, 0, 0, 0],
            truncated: 18,
            joined: [0, 0, 6, 0, 0, 0],
            across_gap: [0, 0, 0, 0, 0, 8],
        };
        assert_eq!(sum, expected);
        assert_eq!((sum.decided(), sum.rooted()), (24, 12));
    }
}
