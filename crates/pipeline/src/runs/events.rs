//! The filter of the options in the replay's form: events as indexes in the recording, times on its clock.

use address::Timestamp;
use options::{SampleFilter, TimePoint, matches_pattern, without_modifiers};
use perf_data::{Event, Head};
use replay::{ResolvedFilter, has_cgroups, has_cpus};

use crate::error::Error;

/// Returns the filter for a recording with this header.
///
/// `times` returns the times of the first and last sample. It is called only if a time in the filter is relative.
pub(crate) fn filter(
    wanted: &SampleFilter,
    head: &Head,
    times: impl Fn() -> Result<Option<(Timestamp, Timestamp)>, Error>,
) -> Result<ResolvedFilter, Error> {
    if !wanted.cgroups.is_empty() && !has_cgroups(head) {
        return Err(Error::NoCgroups);
    }
    if !wanted.cpus.is_empty() && !has_cpus(head) {
        return Err(Error::NoCpus);
    }
    let mut indexes = Vec::new();
    for name in &wanted.events {
        let before = indexes.len();
        indexes.extend(matching(name, head.events()));
        if indexes.len() == before {
            let recorded = head.events().iter().map(|event| event.name.clone()).collect();
            return Err(Error::UnknownEvent { option: "event", name: name.clone(), recorded });
        }
    }
    let is_relative = |point: &Option<TimePoint>| !matches!(point, None | Some(TimePoint::At(_)));
    let times = if [&wanted.time.from, &wanted.time.to].into_iter().any(is_relative) {
        times()?
    } else {
        None
    };
    let resolved = |point: Option<TimePoint>| point.map(|point| resolve(point, times)).transpose();
    Ok(ResolvedFilter {
        options: wanted.clone(),
        events: indexes,
        from: resolved(wanted.time.from)?,
        to: resolved(wanted.time.to)?,
    })
}

/// Returns the events of a name: those with exactly this name, else those that match it as a pattern, else those that
/// match without their modifiers.
fn matching(name: &str, events: &[Event]) -> Vec<u16> {
    let indexes = |fits: &dyn Fn(&str) -> bool| -> Vec<u16> {
        let fitting = events.iter().zip(0..).filter(|(event, _)| fits(&event.name));
        fitting.map(|(_, index)| index).collect()
    };
    let exact = indexes(&|event| event == name);
    if !exact.is_empty() {
        return exact;
    }
    let whole = indexes(&|event| matches_pattern(name.as_bytes(), event.as_bytes()));
    if !whole.is_empty() {
        return whole;
    }
    indexes(&|event| matches_pattern(name.as_bytes(), without_modifiers(event).as_bytes()))
}

/// Converts a point in time to the recording's clock, given the times of its first and last sample.
fn resolve(point: TimePoint, times: Option<(Timestamp, Timestamp)>) -> Result<Timestamp, Error> {
    let (first, last) = match (point, times) {
        (TimePoint::At(time), _) => return Ok(time),
        (_, None) => return Err(Error::NoSampleTimes),
        (_, Some(times)) => times,
    };
    let after = match point {
        TimePoint::At(time) => return Ok(time),
        TimePoint::AfterFirst(nanoseconds) => nanoseconds,
        TimePoint::Share(billionths) => {
            let length = u128::from(last.0.saturating_sub(first.0));
            u64::try_from(length * u128::from(billionths) / 1_000_000_000).unwrap_or(u64::MAX)
        }
    };
    Ok(Timestamp(first.0.saturating_add(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_letters_after_the_last_colon() {
        for (event, name) in [
            ("cpu-clock:u", "cpu-clock"),
            ("cycles:Pu", "cycles"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("cycles", "cycles"),
        ] {
            assert_eq!(without_modifiers(event), name);
        }
    }

    #[test]
    fn times_are_of_the_recording() {
        let times = Some((Timestamp(1_000), Timestamp(3_000)));
        let at = |point| resolve(point, times).map(|time| time.0).ok();
        assert_eq!(at(TimePoint::At(Timestamp(7))), Some(7));
        assert_eq!(at(TimePoint::AfterFirst(50)), Some(1_050));
        assert_eq!(at(TimePoint::Share(250_000_000)), Some(1_500));
        assert_eq!(at(TimePoint::Share(1_000_000_000)), Some(3_000));
        assert!(matches!(resolve(TimePoint::AfterFirst(1), None), Err(Error::NoSampleTimes)));
    }
}
