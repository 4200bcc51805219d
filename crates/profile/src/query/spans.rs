//! Durations of spans: percentiles and histograms, by the values of a field or label.

use hashbrown::HashMap;
use options::Percent;

use super::engine::{NoValue, RowValue, ValueColumns};
use crate::id::StringId;
use crate::profile::Profile;
use crate::tables::SpanRow;

/// Spans of one name with one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanGroup {
    /// Name of the spans.
    pub name: StringId,
    /// The value of the samples that begin them; `None` if spans are grouped by name only.
    pub value: Option<RowValue>,
    /// Their durations in nanoseconds, ascending.
    pub durations: Vec<u64>,
    /// Sum of the durations, in nanoseconds.
    pub total: u64,
    /// Sum of the self times, in nanoseconds.
    pub own: u64,
}

/// Returns the spans by name and, if `by` names a label or fields, by their values: the longest sum first.
#[must_use]
pub fn span_groups(profile: &Profile, by: Option<&str>) -> Vec<SpanGroup> {
    let columns = by.map(|name| ValueColumns::named(profile, name));
    let value = |row: &SpanRow| {
        let columns = columns.as_ref()?;
        let sample = profile.samples.get(row.sample);
        Some(sample.map_or(Err(NoValue::NoField), |it| columns.of(it.event, row.sample)))
    };
    let mut index: HashMap<(StringId, Option<RowValue>), usize> = HashMap::new();
    let mut groups: Vec<SpanGroup> = Vec::new();
    for row in profile.fields.spans.rows() {
        let (name, value) = (row.name, value(row));
        let at = *index.entry((name, value)).or_insert_with(|| {
            groups.push(SpanGroup { name, value, durations: Vec::new(), total: 0, own: 0 });
            groups.len() - 1
        });
        let Some(group) = groups.get_mut(at) else { continue };
        group.durations.push(row.duration);
        group.total = group.total.saturating_add(row.duration);
        group.own = group.own.saturating_add(row.own);
    }
    groups.iter_mut().for_each(|group| group.durations.sort_unstable());
    groups.sort_by_key(|group| std::cmp::Reverse(group.total));
    groups
}

/// Returns the least of ascending numbers that `percent` of them do not exceed; `None` if there are none.
#[must_use]
pub fn percentile(ascending: &[u64], percent: &Percent) -> Option<u64> {
    let whole = 1_000_000_000_u128;
    let rank = (ascending.len() as u128 * u128::from(percent.billionths())).div_ceil(whole);
    let at = usize::try_from(rank).ok()?.saturating_sub(1);
    ascending.get(at).copied()
}

/// A range of durations, in nanoseconds, and the number of spans in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurationRange {
    /// First duration.
    pub from: u64,
    /// First duration after the range.
    pub to: u64,
    /// Number of spans.
    pub count: u64,
}

/// Returns a histogram of ascending durations: ranges that end at 1, 2 or 5 times a power of ten nanoseconds, without
/// the empty ones before the first and after the last.
#[must_use]
pub fn histogram(ascending: &[u64]) -> Vec<DurationRange> {
    let mut ranges = Vec::new();
    let (mut from, mut rest) = (0, ascending);
    let ends = (0..20)
        .flat_map(|power| [1, 2, 5].map(|digit| 10_u64.checked_pow(power)?.checked_mul(digit)));
    for to in ends.map(|end| end.unwrap_or(u64::MAX)) {
        let count = rest.partition_point(|duration| *duration < to);
        rest = rest.get(count..).unwrap_or_default();
        if count > 0 || !ranges.is_empty() {
            ranges.push(DurationRange { from, to, count: count as u64 });
        }
        from = to;
        if rest.is_empty() {
            break;
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use options::parse_percent;

    use super::*;

    #[test]
    fn percentiles_are_numbers_of_the_list() {
        let of =
            |percent: &str, numbers: &[u64]| percentile(numbers, &parse_percent(percent).unwrap());
        let hundred: Vec<u64> = (1..=100).collect();
        let ranks = ["0", "1", "50", "99", "99.5", "100"].map(|percent| of(percent, &hundred));
        assert_eq!(ranks, [1, 1, 50, 99, 100, 100].map(Some));
        assert_eq!([of("99", &[7, 9]), of("50", &[7, 9]), of("50", &[])], [Some(9), Some(7), None]);
    }

    #[test]
    fn histograms_have_round_limits() {
        let range = |(from, to, count)| DurationRange { from, to, count };
        let expected = [(1_000, 2_000, 2), (2_000, 5_000, 0), (5_000, 10_000, 1)].map(range);
        assert_eq!(histogram(&[1_000, 1_999, 9_999]), expected);
        assert_eq!(histogram(&[0]), [range((0, 1, 1))]);
        assert_eq!(histogram(&[u64::MAX - 1]).last().map(|it| it.count), Some(1));
        assert!(histogram(&[]).is_empty());
    }
}
