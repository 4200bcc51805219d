//! Sets of times, as ranges.

use std::ops::RangeInclusive;

use crate::Timestamp;

/// A set of times: ranges with their ends, ascending and disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeRanges(Vec<RangeInclusive<Timestamp>>);

impl TimeRanges {
    /// Returns true if it has no time.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if it has a time.
    #[must_use]
    pub fn contains(&self, time: Timestamp) -> bool {
        self.overlaps(time, time)
    }

    /// Returns true if it has a time from `first` to `last`.
    #[must_use]
    pub fn overlaps(&self, first: Timestamp, last: Timestamp) -> bool {
        let at = self.0.partition_point(|range| *range.end() < first);
        self.0.get(at).is_some_and(|range| *range.start() <= last)
    }
}

impl FromIterator<RangeInclusive<Timestamp>> for TimeRanges {
    /// Joins ranges that overlap; empty ones have no time.
    fn from_iter<I: IntoIterator<Item = RangeInclusive<Timestamp>>>(ranges: I) -> Self {
        let ranges = ranges.into_iter().filter(|range| !range.is_empty());
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_unstable_by_key(|range| (*range.start(), *range.end()));
        ranges.dedup_by(|next, last| {
            let is_joined = next.start() <= last.end();
            if is_joined {
                *last = *last.start()..=*last.end().max(next.end());
            }
            is_joined
        });
        Self(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_and_searched() {
        let ranges = [(45, 60), (15, 20), (50, 55), (16, 18), (9, 3)];
        let ranges = ranges.map(|(first, last)| Timestamp(first)..=Timestamp(last));
        let ranges: TimeRanges = ranges.into_iter().collect();
        let expected = [(15, 20), (45, 60)].map(|(first, last)| Timestamp(first)..=Timestamp(last));
        assert_eq!(ranges.0, expected);
        let contains = [14, 15, 20, 21, 60, 61].map(|time| ranges.contains(Timestamp(time)));
        assert_eq!(contains, [false, true, true, false, true, false]);
        let overlaps = |first, last| ranges.overlaps(Timestamp(first), Timestamp(last));
        assert_eq!([overlaps(0, 14), overlaps(0, 15), overlaps(21, 44)], [false, true, false]);
        assert!(!TimeRanges::default().overlaps(Timestamp(0), Timestamp(u64::MAX)));
    }
}
