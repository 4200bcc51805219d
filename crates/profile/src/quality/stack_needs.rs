//! How many bytes of stack the chains of a recording need to reach their root: what a recorder's copy of the stack has
//! to be as large as.

/// Sizes of the copy that needs are counted by, in bytes, ascending. The last is the most that perf copies: the
/// record's size field has 16 bits, and sizes are multiples of 8.
pub const DUMP_SIZES: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 65528];

/// Samples by the first of [`DUMP_SIZES`] that is enough for them; those that none is enough for come last.
pub type NeedCounts = [u64; DUMP_SIZES.len() + 1];

/// How many bytes the chains of samples with a copy of their stack need, from the sampled stack pointer to the frame of
/// the outermost function. Chains that ended for another reason than the size of the copy are not in it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct StackNeeds {
    /// Chains that reached their root by their own bytes, by what they need.
    pub whole: NeedCounts,
    /// Chains that the end of the copy cut off.
    pub cut: u64,
    /// Those of them that reached their root with frames of other samples, without a gap, by what they would have needed.
    pub joined: NeedCounts,
    /// The same, with a gap.
    pub across_gap: NeedCounts,
}

impl StackNeeds {
    /// Where a need of so many bytes is counted in [`NeedCounts`].
    #[must_use]
    pub fn slot(bytes: u64) -> usize {
        DUMP_SIZES.partition_point(|&size| size < bytes)
    }

    /// Adds what was counted of other samples.
    pub fn add(&mut self, other: &Self) {
        let columns = [
            (&mut self.whole, &other.whole),
            (&mut self.joined, &other.joined),
            (&mut self.across_gap, &other.across_gap),
        ];
        for (counts, more) in columns {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
        self.cut += other.cut;
    }

    /// Chains that the size of the copy decides about: those that reached their root, and those that it cut off.
    #[must_use]
    pub fn decided(&self) -> u64 {
        total(&self.whole) + self.cut
    }

    /// Those of them that reached their root without a gap.
    #[must_use]
    pub fn rooted(&self) -> u64 {
        total(&self.whole) + total(&self.joined)
    }
}

/// Samples of all sizes.
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
    fn needs_add_up() {
        let one = StackNeeds {
            whole: [1, 2, 0, 0, 0, 0],
            cut: 9,
            joined: [0, 0, 3, 0, 0, 0],
            across_gap: [0, 0, 0, 0, 0, 4],
        };
        let mut sum = one;
        sum.add(&one);
        let expected = StackNeeds {
            whole: [2, 4, 0, 0, 0, 0],
            cut: 18,
            joined: [0, 0, 6, 0, 0, 0],
            across_gap: [0, 0, 0, 0, 0, 8],
        };
        assert_eq!(sum, expected);
        assert_eq!((sum.decided(), sum.rooted()), (24, 12));
    }
}
