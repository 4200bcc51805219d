//! Which size of the recorder's copy of the stack would serve a recording, by what its chains show that they need. It is
//! an estimate: chains whose need is not known are taken to need what the other ones that were cut off need, and as many
//! of what is still cut off as today are taken to reach their root with frames of other samples.

use super::stack_needs::{DUMP_SIZES, NeedCounts, StackNeeds, total};

/// The size that is enough, in percent of the chains that it decides about.
const ENOUGH: u64 = 95;
/// What a larger size has to win over the one before it where none is enough, in percent.
const GAIN: u64 = 5;
/// Fewer chains are no reason to record less.
const FEW: u64 = 100;

/// What to do about the size of the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpAdvice {
    /// It serves as it is, or there was none.
    Keep,
    /// Another size would serve better; or as well, if it is smaller.
    Change {
        /// The size in bytes.
        bytes: u64,
        /// How many of the [decided](StackNeeds::decided) chains would reach their root without a gap; with a smaller
        /// size, by their own bytes alone. `None` where no chain shows how much those need that were cut off.
        rooted: Option<u64>,
    },
    /// It is too small, but no size that can be recorded would win much.
    NoneServes,
}

impl DumpAdvice {
    /// What to do with copies of `recorded` bytes, of which `needs` is known. `samples` are all of the recording: what is
    /// wrong with fewer than one of twenty of them needs no larger copies.
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

/// The smallest size of no more than half the recorded one that is enough without frames of other samples.
fn smaller(needs: &StackNeeds, recorded: u64) -> DumpAdvice {
    let decided = needs.decided();
    // The largest size is 64 KiB but for one word.
    let halves = DUMP_SIZES.into_iter().take_while(|size| size * 2 <= recorded + 8);
    let mut shares = halves.map(|bytes| (bytes, within(&needs.whole, bytes)));
    match shares.find(|&(_, whole)| is_share(whole, ENOUGH, decided)) {
        Some((bytes, whole)) if decided >= FEW => DumpAdvice::Change { bytes, rooted: Some(whole) },
        _ => DumpAdvice::Keep,
    }
}

/// The smallest larger size that is enough, or the largest that still wins something over the one before it.
fn larger(needs: &StackNeeds, recorded: u64) -> DumpAdvice {
    let decided = needs.decided();
    let mut best = DumpAdvice::NoneServes;
    let mut before = needs.rooted();
    // The smallest size is below what recorders take where they are asked for none.
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

/// How many chains would reach their root without a gap if `bytes` were recorded; `None` where nothing shows it.
fn expected(needs: &StackNeeds, bytes: u64) -> Option<u64> {
    let StackNeeds { whole, cut, joined, across_gap } = needs;
    let known = u128::from(total(joined) + total(across_gap));
    let fits = u128::from(within(joined, bytes) + within(across_gap, bytes));
    let won = u128::from(*cut) * fits + u128::from(total(joined)) * known.saturating_sub(fits);
    let won = won.checked_div(known)?;
    Some(total(whole) + u64::try_from(won).unwrap_or(u64::MAX).min(*cut))
}

/// Chains that need no more than `bytes`, which is one of the sizes.
fn within(counts: &NeedCounts, bytes: u64) -> u64 {
    DUMP_SIZES.iter().zip(counts).filter(|(size, _)| **size <= bytes).map(|(_, count)| count).sum()
}

/// Whether `part` is at least so many percent of `whole`.
fn is_share(part: u64, percent: u64, whole: u64) -> bool {
    u128::from(part) * 100 >= u128::from(percent) * u128::from(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(bytes: u64, rooted: u64) -> DumpAdvice {
        DumpAdvice::Change { bytes, rooted: Some(rooted) }
    }

    /// 600 whole chains of up to 8 KiB, and 400 that were cut off: 150 joined and 50 across a gap, in the sizes beyond.
    fn cut(joined: [u64; 3], across_gap: [u64; 3]) -> StackNeeds {
        let beyond = |[a, b, c]: [u64; 3]| [0, 0, a, b, c, 0];
        StackNeeds {
            whole: [500, 100, 0, 0, 0, 0],
            cut: 400,
            joined: beyond(joined),
            across_gap: beyond(across_gap),
        }
    }

    #[test]
    fn the_smallest_size_that_is_enough_with_what_joins_win() {
        // 600 are whole, nine of ten of the 400 fit, and of the 40 others 3 of 8 are joined.
        let needs = cut([150, 0, 0], [30, 20, 0]);
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), change(16384, 975));
        // Half of the 400 fit into 16 KiB: 800 + 75; nine of ten into 32 KiB.
        let needs = cut([100, 50, 0], [0, 30, 20]);
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), change(32768, 975));
    }

    #[test]
    fn the_largest_that_wins_something_where_none_is_enough() {
        // 400 * 100 / 200 + 150 * 100 / 200 = 275, and no more with 32 KiB; the rest needs more than all.
        let needs = cut([0; 3], [0; 3]);
        let needs = StackNeeds { joined: [0, 0, 100, 0, 0, 50], ..needs };
        let needs = StackNeeds { across_gap: [0, 0, 0, 0, 0, 50], ..needs };
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), change(16384, 875));
        // 750 of 1,000 have their root; 400 * 20 / 200 + 150 * 180 / 200 = 175 of the 400 would.
        let needs = StackNeeds { joined: [0, 0, 20, 0, 0, 130], ..needs };
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), DumpAdvice::NoneServes);
        assert_eq!(DumpAdvice::new(&needs, 65528, 1000), DumpAdvice::NoneServes);
    }

    #[test]
    fn nothing_shows_what_is_needed() {
        let needs = cut([0; 3], [0; 3]);
        let next = |bytes| DumpAdvice::Change { bytes, rooted: None };
        assert_eq!(DumpAdvice::new(&needs, 1024, 1000), next(8192));
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), next(16384));
        assert_eq!(DumpAdvice::new(&needs, 65528, 1000), DumpAdvice::NoneServes);
    }

    #[test]
    fn a_size_that_serves_stays_or_could_be_smaller() {
        // 95 of 100 reach their root, by whatever means.
        let joined = [0, 0, 15, 0, 0, 0];
        let needs =
            StackNeeds { whole: [80, 0, 0, 0, 0, 0], cut: 20, joined, ..cut([0; 3], [0; 3]) };
        assert_eq!(DumpAdvice::new(&needs, 8192, 100), DumpAdvice::Keep);
        let one_less = StackNeeds { cut: 21, ..needs };
        assert_eq!(DumpAdvice::new(&one_less, 8192, 101), change(16384, 101));
        // Without frames of other samples, 95 of 100 need no more than 4 KiB.
        let needs = StackNeeds { whole: [95, 3, 1, 1, 0, 0], ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 8192, 100), change(4096, 95));
        assert_eq!(DumpAdvice::new(&needs, 65528, 100), change(4096, 95));
        assert_eq!(DumpAdvice::new(&needs, 4096, 100), DumpAdvice::Keep);
        let needs = StackNeeds { whole: [90, 2, 2, 2, 4, 0], ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 65528, 100), change(32768, 96));
        assert_eq!(DumpAdvice::new(&needs, 32768, 100), DumpAdvice::Keep);
        // Too few to tell.
        let needs = StackNeeds { whole: [99, 0, 0, 0, 0, 0], ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 8192, 99), DumpAdvice::Keep);
    }

    #[test]
    fn what_is_wrong_with_few_samples_needs_no_larger_copies() {
        let needs = StackNeeds { cut: 40, ..StackNeeds::default() };
        assert_eq!(DumpAdvice::new(&needs, 8192, 1000), DumpAdvice::Keep);
        assert_eq!(
            DumpAdvice::new(&needs, 8192, 800),
            DumpAdvice::Change { bytes: 16384, rooted: None }
        );
        assert_eq!(DumpAdvice::new(&needs, 0, 100), DumpAdvice::Keep);
        assert_eq!(DumpAdvice::new(&StackNeeds::default(), 8192, 100), DumpAdvice::Keep);
    }
}
