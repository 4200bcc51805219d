//! Points in time on the command line.

use address::Timestamp;
use anyhow::{Context as _, bail};
use pipeline::TimePoint;

use super::percent::parse_percent;

/// A range of time, either end of which may be left out: `A,B` in seconds of the recording's clock, `+A,+B` in seconds
/// from the first sample on, `A%,B%` or `A%-B%` in parts of the time from the first sample to the last.
pub(crate) fn time_range(text: &str) -> anyhow::Result<(Option<TimePoint>, Option<TimePoint>)> {
    let parts = text.split_once(',').or_else(|| text.split_once("%-"));
    let (from, to) = parts.context("no comma")?;
    let from_share = text.contains("%-") && !text.contains(',');
    let from = if from_share { format!("{from}%") } else { from.to_owned() };
    Ok((point(&from)?, point(to)?))
}

/// A range of time, `A,B` in seconds of the recording's clock, either of which may be left out.
pub(crate) fn clock_range(text: &str) -> anyhow::Result<(Option<Timestamp>, Option<Timestamp>)> {
    let (from, to) = text.split_once(',').context("no comma")?;
    Ok((seconds(from)?.map(Timestamp), seconds(to)?.map(Timestamp)))
}

/// A point in time in seconds, as perf script prints it.
pub(crate) fn time_of(text: &str) -> anyhow::Result<Timestamp> {
    seconds(text)?.map(Timestamp).with_context(|| format!("{text:?} is no time"))
}

fn point(text: &str) -> anyhow::Result<Option<TimePoint>> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        let share = parse_percent(percent).map_err(anyhow::Error::msg)?;
        return Ok(Some(TimePoint::Share(share.billionths())));
    }
    if let Some(after) = text.strip_prefix('+') {
        let after = seconds(after)?.with_context(|| format!("{text} is no time"))?;
        return Ok(Some(TimePoint::AfterFirst(after)));
    }
    Ok(seconds(text)?.map(|time| TimePoint::At(Timestamp(time))))
}

/// Seconds with up to nine decimals in nanoseconds, exactly; nothing for an open end.
fn seconds(text: &str) -> anyhow::Result<Option<u64>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        bail!("{text} is no time");
    }
    let whole: u64 = whole.parse().with_context(|| format!("{text} is no time"))?;
    let nanos: u64 = format!("{fraction:0<9}").parse()?;
    let time = whole.checked_mul(1_000_000_000).and_then(|time| time.checked_add(nanos));
    Ok(Some(time.with_context(|| format!("{text} is too large"))?))
}

#[cfg(test)]
mod tests {
    use super::TimePoint::{AfterFirst, At, Share};
    use super::*;

    #[test]
    fn times_are_exact() {
        let range = |text| time_range(text).ok();
        let at = |time| Some(At(Timestamp(time)));
        assert_eq!(range("1.5,2"), Some((at(1_500_000_000), at(2_000_000_000))));
        assert_eq!(range("123456.789012345,"), Some((at(123_456_789_012_345), None)));
        assert_eq!(range(",0.000000001"), Some((None, at(1))));
        for text in ["1", "1.0000000001,2", "-1,2", "99999999999,", "+,1", "1%", "101%,", "5-10%"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn times_of_the_recording() {
        let range = |text| time_range(text).ok();
        let share = |percent: u64| Some(Share(percent * 10_000_000));
        assert_eq!(range("10%-20%"), Some((share(10), share(20))));
        assert_eq!(range("10%,20%"), Some((share(10), share(20))));
        assert_eq!(range("50%,"), Some((share(50), None)));
        assert_eq!(
            range("+0.5,+1"),
            Some((Some(AfterFirst(500_000_000)), Some(AfterFirst(1_000_000_000))))
        );
        assert_eq!(range(",+2"), Some((None, Some(AfterFirst(2_000_000_000)))));
    }
}
