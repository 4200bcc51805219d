//! Points in time on the command line.

use address::Timestamp;
use anyhow::{Context as _, bail};

/// A range of time: `A,B`, either of which may be left out.
pub(crate) fn time_range(text: &str) -> anyhow::Result<(Option<Timestamp>, Option<Timestamp>)> {
    let (from, to) = text.split_once(',').context("no comma")?;
    Ok((seconds(from)?, seconds(to)?))
}

/// A point in time in seconds, as perf script prints it.
pub(crate) fn time_of(text: &str) -> anyhow::Result<Timestamp> {
    seconds(text)?.with_context(|| format!("{text:?} is no time"))
}

/// Seconds with up to nine decimals, exactly; nothing for an open end.
fn seconds(text: &str) -> anyhow::Result<Option<Timestamp>> {
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
    Ok(Some(Timestamp(time.with_context(|| format!("{text} is too large"))?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let range =
            |text| time_range(text).ok().map(|(from, to)| (from.map(|t| t.0), to.map(|t| t.0)));
        assert_eq!(range("1.5,2"), Some((Some(1_500_000_000), Some(2_000_000_000))));
        assert_eq!(range("123456.789012345,"), Some((Some(123_456_789_012_345), None)));
        assert_eq!(range(",0.000000001"), Some((None, Some(1))));
        assert_eq!(range("1"), None);
        assert_eq!(range("1.0000000001,2"), None);
        assert_eq!(range("-1,2"), None);
        assert_eq!(range("99999999999,"), None);
    }
}
