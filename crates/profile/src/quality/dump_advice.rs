//! Advice on the size of the recorded stack copies, estimated from the needs of the chains. Truncated chains with
//! unknown needs are assumed to need the same as the other truncated chains. Of the chains that would still be
//! truncated, the same share as now is assumed to reach the root with frames of other samples.

use super::stack_needs::{DUMP_SIZES, NeedCounts, StackNeeds, total};

/// Share of rooted chains at which a size is sufficient, in percent of the decided chains.
const ENOUGH: u64 = 95;
/// Minimum gain of a larger size over the previous one if no size is sufficient, in percent.
const GAIN: u64 = 5;
/// Minimum number of chains for advice to record less.
const FEW: u64 = 100;

/// Advice on the size of the stack copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpAdvice {
    /// The size is sufficient, or there were no copies.
    Keep,
    /// Another size would serve better, or a smaller one equally well.
    Change {
        /// The size, in bytes.
        bytes: u64,
        /// Number of [decided](StackNeeds::decided) chains that would reach their root without a gap.
        /// For a smaller size, only chains that need no frames of other samples are counted.
        /// `None` if no chain shows the needs of the truncated ones.
        rooted: Option<u64>,
    },
    /// The size is too small, but no recordable size would be much better.
    NoneServes,
}

impl DumpAdvice {
    /// Returns the advice for copies of `recorded` bytes and the chains' `needs`. `samples` is the number of all
    /// samples in the recording; a larger size is not suggested for problems of fewer than one in twenty of them.
    #[must_use]
    pub fn new(needs: &StackNeeds, recorded: u64, samples: u64) -> Self {
        let decided = needs.decided();
        let missing = decided.saturating_sub(needs.rooted());
        if recorded == 0 || decided == 0 {
            return Self::Keep;
        }
        if is_share(decided - missing, ENOUGH, decided) {
            return smaller(needs, recorded);
        }
        if !is_share(missing, 100 - ENOUGH, samples) {
            return Self::Keep;
        }
        larger(needs, recorded)
    }
}

/// Returns the smallest size of at most half the recorded one that is sufficient without frames of other samples.
fn smaller(needs: &StackNeeds, recorded: u64) -> DumpAdvice {
    let decided = needs.decided();
    // The largest size is one word less than 64 KiB.
    let halves = DUMP_SIZES.into_iter().take_while(|size| size * 2 <= recorded + 8);
    let mut shares = halves.map(|bytes| (bytes, within(&needs.whole, bytes)));
    match shares.find(|&(_, whole)| is_share(whole, ENOUGH, decided)) {
        Some((bytes, whole)) if decided >= FEW => DumpAdvice::Change { bytes, rooted: Some(whole) },
        _ => DumpAdvice::Keep,
    }
}

/// Returns the smallest larger size that is sufficient, or the largest with a gain over the previous one.
fn larger(needs: &StackNeeds, recorded: u64) -> DumpAdvice {
    let decided = needs.decided();
    let mut best = DumpAdvice::NoneServes;
    let mut before = needs.rooted();
    // The smallest size is below the recorders' default.
    for bytes in DUMP_SIZES.into_iter().skip(1).filter(|&size| size > recorded) {
        let Some(rooted) = expected(needs, bytes) else {
            return DumpAdvice::Change { bytes, rooted: None };
        };
        let advice = DumpAdvice::Change { bytes, rooted: Some(rooted) };
        if is_share(rooted, ENOUGH, decided) {
            return advice;
        }
        if is_share(rooted.saturating_sub(before), GAIN, decided) {
            best = advice;
        }
        before = rooted;
    }
    best
}

/// Returns the number of chains that would reach their root without a gap with `bytes` recorded; `None` if it cannot be
/// estimated.
fn expected(needs: &StackNeeds, bytes: u64) -> Option<u64> {
    let StackNeeds { whole, truncated, joined, across_gap } = needs;
    let known = u128::from(total(joined) + total(across_gap));
    let fits = u128::from(within(joined, bytes) + within(across_gap, bytes));
    let won =
        u128::from(*truncated) * fits + u128::from(total(joined)) * known.saturating_sub(fits);
    let won = won.checked_div(known)?;
    Some(total(whole) + u64::try_from(won).unwrap_or(u64::MAX).min(*truncated))
}

/// Returns the number of chains that need at most `bytes`, which must be one of the sizes.
fn within(counts: &NeedCounts, bytes: u64) -> u64 {
    DUMP_SIZES.iter().zip(counts).filter(|(size, _)| **size <= bytes).map(|(_, count)| count).sum()
}

/// Returns true if `part` is at least `percent` percent of `whole`.
fn is_share(part: u64, percent: u64, whole: u64) -> bool {
    u128::from(part) * 100 >= u128::from(percent) * u128::from(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(bytes: u64, rooted: u64) -> DumpAdvice {
        DumpAdvice::Change { bytes, rooted: Some(rooted) }
    }

    /// Returns needs of 600 whole chains of up to 8 KiB, and 400 truncated ones: 150 joined and 50 across a gap, of
    /// larger sizes.
    fn truncated(joined: [u64; 3], across_gap: [u64; 3]) -> StackNeeds {
        let beyond = |[a, b, c]: [u64; 3]| [0, 0, a, b, c, 0];
        StackNeeds {
            whole: [500, 100, 0, 0, 0, 0],
            truncated: 400,
            joined: beyond(joined),
            across_gap: beyond(across_gap),
        }
    }

    #[test]
    fn the_smallest_size_that_is_enough_with_what_joins_win() {
        // 600 are whole, nine of ten of the 400 fit, and 3 of 8 of the other 40 are joined.
        let needs = truncated([150, 0, 0], [30, 20, 0]);
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), change(16384, 975));
        // Half of the 400 fit into 16 KiB: 800 + 75; nine of ten into 32 KiB.
        let needs = truncated([100, 50, 0], [0, 30, 20]);
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), change(32768, 975));
    }

    #[test]
    fn the_largest_that_wins_something_where_none_is_enough() {
        // 400 * 100 / 200 + 150 * 100 / 200 = 275, and 32 KiB adds none; the rest exceeds all sizes.
        let needs = truncated([0; 3], [0; 3]);
        let needs = StackNeeds { joined: [0, 0, 100, 0, 0, 50], ..needs };
        let needs = StackNeeds { across_gap: [0, 0, 0, 0, 0, 50], ..needs };
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), change(16384, 875));
        // 750 of 1,000 reach their root; 400 * 20 / 200 + 150 * 180 / 200 = 175 of the 400 would.
        let needs = StackNeeds { joined: [0, 0, 20, 0, 0, 130], ..needs };
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), DumpAdvice::NoneServes);
        assert_eq!(DumpAdvice::new(&needs, 65528, 1000), DumpAdvice::NoneServes);
    }

    #[test]
    fn nothing_shows_what_is_needed() {
        let needs = truncated([0; 3], [0; 3]);
        let next = |bytes| DumpAdvice::Change { bytes, rooted: None };
        assert_eq!(DumpAdvice::new(&needs, 1024, 1000), next(8192));
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), next(16384));
        assert_eq!(DumpAdvice::new(&needs, 65528, 1000), DumpAdvice::NoneServes);
    }

    #[test]
    fn a_size_that_serves_stays_or_could_be_smaller() {
        // 95 of 100 reach their root, by any means.
        let joined = [0, 0, 15, 0, 0, 0];
        let needs = StackNeeds {
            whole: [80, 0, 0, 0, 0, 0],
            truncated: 20,
            joined,
            ..truncated([0; 3], [0; 3])
        };
        assert_eq!(DumpAdvice::new(&needs, 8192, 100), DumpAdvice::Keep);
        let one_less = StackNeeds { truncated: 21, ..needs };
        assert_eq!(DumpAdvice::new(&one_less, 8192, 101), change(16384, 101));
        // Without frames of other samples, 95 of 100 need at most 4 KiB.
        let needs = StackNeeds { whole: [95, 3, 1, 1, 0, 0], ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 8192, 100), change(4096, 95));
        assert_eq!(DumpAdvice::new(&needs, 65528, 100), change(4096, 95));
        assert_eq!(DumpAdvice::new(&needs, 4096, 100), DumpAdvice::Keep);
        let needs = StackNeeds { whole: [90, 2, 2, 2, 4, 0], ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 65528, 100), change(32768, 96));
        assert_eq!(DumpAdvice::new(&needs, 32768, 100), DumpAdvice::Keep);
        // Too few for advice.
        let needs = StackNeeds { whole: [99, 0, 0, 0, 0, 0], ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 8192, 99), DumpAdvice::Keep);
    }

    #[test]
    fn what_is_wrong_with_few_samples_needs_no_larger_copies() {
        let needs = StackNeeds { truncated: 40, ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), DumpAdvice::Keep);
        assert_eq!(
            DumpAdvice::new(&needs, 8192, 800),
            DumpAdvice::Change { bytes: 16384, rooted: None }
        );
        assert_eq!(DumpAdvice::new(&needs, 0, 100), DumpAdvice::Keep);
        assert_eq!(DumpAdvice::new(&StackNeeds::default(), 8192, 100), DumpAdvice::Keep);
    }
}
