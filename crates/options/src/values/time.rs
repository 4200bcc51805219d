//! Points and ranges of time in a recording.

use std::fmt;
use std::str::FromStr;

use address::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::parse_percent;

/// A point of time in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// On the recording's clock, in nanoseconds.
    At(Timestamp),
    /// Nanoseconds after the first sample.
    AfterFirst(u64),
    /// Billionths of the time from the first sample to the last.
    Share(u64),
}

/// A range of time. Its text is `A,B` in seconds of the recording's clock, or `+A,+B` in seconds from the first sample.
/// `A%,B%` or `A%-B%` are parts of the time from the first sample to the last.
/// In JSON it is that text, or a list of two numbers of seconds; each may be null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The earliest time; `None` for the first sample.
    pub from: Option<TimePoint>,
    /// The latest time; `None` for the last sample.
    pub to: Option<TimePoint>,
}

impl TimeRange {
    /// The expected form of the text, for messages.
    pub const EXPECTED: &str =
        "expected A,B in seconds, +A,+B in seconds from the first sample on, or A%-B%";

    /// Returns true if it is the whole recording.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }
}

impl FromStr for TimeRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(',').or_else(|| text.split_once("%-"));
        let (from, to) = parts.ok_or_else(|| "no comma".to_owned())?;
        let from_share = text.contains("%-") && !text.contains(',');
        let from = if from_share { format!("{from}%") } else { from.to_owned() };
        Ok(Self { from: point(&from)?, to: point(to)? })
    }
}

impl fmt::Display for TimeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |point: Option<TimePoint>| point.map_or(String::new(), |it| it.to_string());
        write!(f, "{},{}", end(self.from), end(self.to))
    }
}

impl fmt::Display for TimePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
        match *self {
            Self::At(time) => f.write_str(&seconds(time.0)),
            Self::AfterFirst(time) => write!(f, "+{}", seconds(time)),
            Self::Share(share) => write!(f, "{}.{:07}%", share / 10_000_000, share % 10_000_000),
        }
    }
}

fn point(text: &str) -> Result<Option<TimePoint>, String> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return Ok(Some(TimePoint::Share(parse_percent(percent)?.billionths())));
    }
    if let Some(after) = text.strip_prefix('+') {
        let after = parse_seconds(after)?.ok_or_else(|| format!("{text} is no time"))?;
        return Ok(Some(TimePoint::AfterFirst(after)));
    }
    Ok(parse_seconds(text)?.map(|time| TimePoint::At(Timestamp(time))))
}

/// Parses seconds with up to nine decimals. Returns nanoseconds, exactly, or `None` for an open end.
///
/// # Errors
/// The reason, as a clause.
pub fn parse_seconds(text: &str) -> Result<Option<u64>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{text} is no time"));
    }
    let wrong = |error: std::num::ParseIntError| format!("{text} is no time: {error}");
    let whole: u64 = whole.parse().map_err(wrong)?;
    let nanos: u64 = format!("{fraction:0<9}").parse().map_err(wrong)?;
    let time = whole.checked_mul(1_000_000_000).and_then(|time| time.checked_add(nanos));
    time.map(Some).ok_or_else(|| format!("{text} is too large"))
}

impl Serialize for TimeRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (!self.is_all()).then(|| self.to_string()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TimeRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected text, or the first and the last second")]
        enum Json {
            Text(String),
            Ends(Option<f64>, Option<f64>),
        }
        let text = match Option::deserialize(deserializer)? {
            None => return Ok(Self::default()),
            Some(Json::Text(text)) => text,
            Some(Json::Ends(from, to)) => {
                let end = |end: Option<f64>| end.map_or(String::new(), |end| format!("{end:.9}"));
                format!("{},{}", end(from), end(to))
            }
        };
        let wrong = |why| serde::de::Error::custom(format!("{}: {why}", Self::EXPECTED));
        text.parse().map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::TimePoint::{AfterFirst, At, Share};
    use super::*;

    fn range(text: &str) -> Option<(Option<TimePoint>, Option<TimePoint>)> {
        let range: TimeRange = text.parse().ok()?;
        assert_eq!(range.to_string().parse(), Ok(range), "{text}");
        Some((range.from, range.to))
    }

    #[test]
    fn times_are_exact() {
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

    #[test]
    fn numbers_are_seconds() {
        let read =
            |json: &str| serde_json::from_str::<TimeRange>(json).map_err(|it| it.to_string());
        assert_eq!(read("[1.5, null]").unwrap().to_string(), "1.500000000,");
        assert_eq!(read("[null, 2]").unwrap().to_string(), ",2.000000000");
        assert_eq!(read("null").unwrap(), TimeRange::default());
        assert!(read("[-1, 2]").unwrap_err().contains("is no time"));
        assert!(read("7").unwrap_err().contains("expected text"));
    }
}
