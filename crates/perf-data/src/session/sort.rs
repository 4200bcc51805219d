//! Sort of entries by time. A recording consists of the buffers of the processors, each in order by itself.
//! Entries are therefore a sequence of sorted runs, and only neighbouring runs overlap.
//!
//! ```text
//!   | 1 4 6 | 2 3 7 | 8 9 | 8 11 |      runs
//!   | 1 2 3 4 6 7 | 8 8 9 11 |          each two neighbours, but for what stands in its place already
//!   | 1 2 3 4 6 7 8 8 9 11 |
//! ```

use address::Timestamp;

/// Average length of runs below which a general sort is used, because a recorder does not write such short runs.
const SHORT: usize = 4;

/// Sorts entries by time. The sort is stable.
pub(crate) fn sort_by_time<T: Copy>(entries: &mut [T], time: impl Fn(&T) -> Timestamp + Copy) {
    let mut starts = run_starts(entries, time);
    if starts.len() > 2 && entries.len() / starts.len() < SHORT {
        entries.sort_by_key(time);
        return;
    }
    let mut scratch = Vec::new();
    // The last element of `starts` is the end of the last run.
    while starts.len() > 2 {
        for at in (2..starts.len()).step_by(2) {
            let (start, middle) = (starts[at - 2], starts[at - 1]);
            merge(&mut entries[start..starts[at]], middle - start, &mut scratch, time);
        }
        let n_runs = starts.len() - 1;
        let is_kept = |at: usize| at.is_multiple_of(2) || at == n_runs;
        starts = (0..).zip(starts).filter(|(at, _)| is_kept(*at)).map(|(_, start)| start).collect();
    }
}

/// Returns the starts of the ascending runs, followed by the end of the last one.
fn run_starts<T>(entries: &[T], time: impl Fn(&T) -> Timestamp) -> Vec<usize> {
    let mut starts = vec![0];
    let pairs = (1..).zip(entries.windows(2));
    starts.extend(pairs.filter(|(_, pair)| time(&pair[1]) < time(&pair[0])).map(|(at, _)| at));
    starts.push(entries.len());
    starts
}

/// Merges two runs; the second one starts at `middle`.
fn merge<T: Copy>(
    entries: &mut [T],
    middle: usize,
    scratch: &mut Vec<T>,
    time: impl Fn(&T) -> Timestamp,
) {
    let (left, right) = entries.split_at(middle);
    let (Some(last), Some(first)) = (left.last(), right.first()) else { return };
    let (last, first) = (time(last), time(first));
    let start = left.partition_point(|entry| time(entry) <= first);
    let end = middle + right.partition_point(|entry| time(entry) < last);
    let entries = &mut entries[start..end];
    let mut right = middle - start;
    scratch.clear();
    scratch.extend_from_slice(&entries[..right]);
    let mut out = 0;
    for entry in &*scratch {
        // The write index never passes the read index.
        while let Some(next) = entries.get(right).copied()
            && time(&next) < time(entry)
        {
            entries[out] = next;
            (out, right) = (out + 1, right + 1);
        }
        entries[out] = *entry;
        out += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbered entries with the given times.
    fn entries(times: impl IntoIterator<Item = u64>) -> Vec<(Timestamp, usize)> {
        times.into_iter().map(Timestamp).zip(0..).collect()
    }

    fn sorted(times: impl IntoIterator<Item = u64>) -> Vec<(u64, usize)> {
        let mut entries = entries(times);
        sort_by_time(&mut entries, |entry| entry.0);
        entries.into_iter().map(|(time, at)| (time.0, at)).collect()
    }

    #[test]
    fn neighbours_are_merged() {
        let found = sorted([1, 4, 6, 7, 2, 3, 6, 7, 8, 9, 9, 9, 8, 11, 12, 13]);
        let expected = [
            (1, 0),
            (2, 4),
            (3, 5),
            (4, 1),
            (6, 2),
            (6, 6),
            (7, 3),
            (7, 7),
            (8, 8),
            (8, 12),
            (9, 9),
            (9, 10),
            (9, 11),
            (11, 13),
            (12, 14),
            (13, 15),
        ];
        assert_eq!(found, expected);
        assert_eq!(sorted([]), []);
        assert_eq!(sorted([5]), [(5, 0)]);
    }

    proptest! {
        /// Equal to a stable sort, for all lengths of runs.
        #[test]
        fn as_any_stable_sort(runs in prop::collection::vec((0..60_u64, 0..40_u64), 0..40)) {
            let times: Vec<u64> = runs.iter().flat_map(|(start, len)| *start..start + len).collect();
            let mut expected: Vec<_> = times.iter().copied().zip(0..).collect();
            expected.sort_by_key(|entry| entry.0);
            prop_assert_eq!(sorted(times), expected);
        }
    }
}
