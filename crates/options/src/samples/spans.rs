//! Spans: the time from an event to a later one of the same thread, or with the same key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Condition, Percent, json, parse_percent, parse_seconds};

/// Spans, and the samples inside them that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpanOptions {
    /// The spans.
    #[serde(rename = "span", with = "json::parsed")]
    pub rules: Vec<SpanRule>,
    /// Name of spans; only samples inside one of them are wanted.
    pub inside: Option<String>,
    /// Only samples inside longer spans than this are wanted.
    #[serde(with = "json::parsed_option")]
    pub longer_than: Option<SpanLimit>,
    /// Only samples inside spans of at most this duration are wanted.
    #[serde(with = "json::parsed_option")]
    pub up_to: Option<SpanLimit>,
}

impl SpanOptions {
    /// Returns true if there are no spans.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns true if there are spans of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.rules.iter().any(|rule| rule.name == name)
    }

    /// Returns the spans whose durations are the weight of that name, and whether it is their self time.
    #[must_use]
    pub fn weight<'n>(&self, name: &'n str) -> Option<(&'n str, SpanTime)> {
        match name.strip_suffix(SpanTime::SELF_SUFFIX) {
            _ if self.has(name) => Some((name, SpanTime::Total)),
            Some(name) if self.has(name) => Some((name, SpanTime::Own)),
            _ => None,
        }
    }
}

/// Part of a span's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanTime {
    /// From its begin to its end.
    Total,
    /// Without the spans of the same thread that began and ended within it.
    Own,
}

impl SpanTime {
    /// Suffix of the name of a weight by self time.
    const SELF_SUFFIX: &str = ".self";
}

/// Spans of one name, as `NAME=BEGIN,END[,KEY]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanRule {
    /// Name of the spans.
    pub name: String,
    /// The event that begins a span.
    pub begin: SpanEvent,
    /// The event that ends it.
    pub end: SpanEvent,
    /// Fields that are equal at begin and end. Without any, a span ends in the thread that began it.
    pub key: Vec<String>,
}

impl SpanRule {
    /// The part of a key that is the process id.
    pub const PID: &'static str = "pid";
    /// The part of a key that is the thread id.
    pub const TID: &'static str = "tid";

    /// Iterates over the parts of the key that are fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let parts = self.key.iter().map(String::as_str);
        parts.filter(|part| ![Self::PID, Self::TID].contains(part))
    }
}

/// An event that begins or ends spans: `EVENT`, or `EVENT/FIELD=VALUE` with any condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanEvent {
    /// Name of the event, by a pattern.
    pub event: String,
    /// Condition on the event.
    pub condition: Option<Condition>,
}

/// Reason that a text does not describe spans.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// A part is missing.
    #[error("{0:?} is not a span; expected NAME=BEGIN,END or NAME=BEGIN,END,KEY")]
    Form(String),
    /// The condition of an event has no event.
    #[error("{0:?} names no event; expected EVENT or EVENT/FIELD=VALUE")]
    Event(String),
    /// The condition of an event is none.
    #[error(transparent)]
    Condition(#[from] crate::ConditionError),
}

impl FromStr for SpanRule {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let wrong = || SpanError::Form(text.to_owned());
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        let parts: Vec<&str> = rest.split(',').collect();
        let (begin, end, key) = match parts[..] {
            [begin, end] => (begin, end, None),
            [begin, end, key] => (begin, end, Some(key)),
            _ => return Err(wrong()),
        };
        if name.is_empty() || parts.contains(&"") {
            return Err(wrong());
        }
        let key = key.into_iter().flat_map(|key| key.split('+')).map(str::to_owned);
        let (begin, end) = (begin.parse()?, end.parse()?);
        Ok(Self { name: name.to_owned(), begin, end, key: key.collect() })
    }
}

impl fmt::Display for SpanRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={},{}", self.name, self.begin, self.end)?;
        if self.key.is_empty() { Ok(()) } else { write!(f, ",{}", self.key.join("+")) }
    }
}

impl FromStr for SpanEvent {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        if !text.contains(['=', '<', '>']) {
            return Ok(Self { event: text.to_owned(), condition: None });
        }
        let condition: Condition = text.parse()?;
        match condition.field.rsplit_once('/') {
            Some((event, _)) if !event.is_empty() => {
                Ok(Self { event: event.to_owned(), condition: Some(condition) })
            }
            _ => Err(SpanError::Event(text.to_owned())),
        }
    }
}

impl fmt::Display for SpanEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.condition {
            Some(condition) => condition.fmt(f),
            None => f.write_str(&self.event),
        }
    }
}

/// A duration that spans are compared with: `10ms`, or `p99` for a percentile of the spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanLimit {
    /// A duration, in nanoseconds.
    Duration(u64),
    /// The duration that this share of the spans does not exceed.
    Percentile(Percent),
}

/// Units of a limit, in parts of a second, the longest first. Suffixes precede those that end alike.
const UNITS: [(&str, u64); 4] = [("ms", 1_000), ("us", 1_000_000), ("ns", 1_000_000_000), ("s", 1)];

impl FromStr for SpanLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no duration; examples are 10ms, 1.5s, 250us and p99");
        if let Some(percent) = text.strip_prefix('p') {
            return parse_percent(percent).map(Self::Percentile).map_err(|_| wrong());
        }
        let of_unit = |(unit, parts): &(&str, u64)| Some((text.strip_suffix(unit)?, *parts));
        let (number, parts) = UNITS.iter().find_map(of_unit).ok_or_else(wrong)?;
        let nanoseconds = parse_seconds(number).ok().flatten().ok_or_else(wrong)?;
        Ok(Self::Duration(nanoseconds / parts))
    }
}

impl fmt::Display for SpanLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(nanoseconds) => match nanoseconds {
                0 => f.write_str("0s"),
                it if it % 1_000_000_000 == 0 => write!(f, "{}s", it / 1_000_000_000),
                it if it % 1_000_000 == 0 => write!(f, "{}ms", it / 1_000_000),
                it if it % 1_000 == 0 => write!(f, "{}us", it / 1_000),
                it => write!(f, "{it}ns"),
            },
            Self::Percentile(percent) => write!(f, "p{percent}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_begin_end_and_key() {
        let read = |text: &str| text.parse::<SpanRule>().unwrap();
        let rule = read("request=probe:handle,probe:handle__return");
        assert_eq!((rule.name.as_str(), rule.begin.event.as_str()), ("request", "probe:handle"));
        assert_eq!((rule.end.condition.as_ref(), rule.key.len()), (None, 0));
        let rule = read("io=block:*_issue,block:*_complete,dev+sector");
        assert_eq!(rule.key, ["dev", "sector"]);
        let rule = read("query=probe:report/state=2,probe:report/state!=2");
        assert_eq!(rule.begin.event, "probe:report");
        assert_eq!(rule.end.condition.unwrap().field, "probe:report/state");
        for text in ["a=b,c", "a=b/x=1,c/x>=2,k", "a=b,c,pid+k"] {
            assert_eq!(read(text).to_string(), text);
        }
        for (text, expected) in [
            ("a", r#""a" is not a span; expected NAME=BEGIN,END or NAME=BEGIN,END,KEY"#),
            ("a=b", r#""a=b" is not a span; expected NAME=BEGIN,END or NAME=BEGIN,END,KEY"#),
            ("=b,c", r#""=b,c" is not a span; expected NAME=BEGIN,END or NAME=BEGIN,END,KEY"#),
            ("a=b,", r#""a=b," is not a span; expected NAME=BEGIN,END or NAME=BEGIN,END,KEY"#),
            ("a=x=1,c", r#""x=1" names no event; expected EVENT or EVENT/FIELD=VALUE"#),
            (
                "a=b/x>y,c",
                r#""b/x>y" compares with "y", which is not a number; only = and != take text"#,
            ),
        ] {
            assert_eq!(text.parse::<SpanRule>().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn limits_are_durations_or_percentiles() {
        for (text, nanoseconds) in [
            ("10ms", 10_000_000),
            ("1500ms", 1_500_000_000),
            ("2s", 2_000_000_000),
            ("250us", 250_000),
            ("7ns", 7),
            ("0s", 0),
        ] {
            let limit: SpanLimit = text.parse().unwrap();
            assert_eq!(limit, SpanLimit::Duration(nanoseconds));
            assert_eq!(limit.to_string(), text);
        }
        assert_eq!("1.5s".parse(), Ok(SpanLimit::Duration(1_500_000_000)));
        assert_eq!("p99.9".parse::<SpanLimit>().unwrap().to_string(), "p99.9");
        for wrong in ["", "10", "p", "p101", "-1s", "xs", "1m"] {
            let error = format!("{wrong:?} is no duration; examples are 10ms, 1.5s, 250us and p99");
            assert_eq!(wrong.parse::<SpanLimit>(), Err(error));
        }
    }

    #[test]
    fn weights_are_total_or_self_times() {
        let rules = vec!["a=b,c".parse().unwrap()];
        let options = SpanOptions { rules, ..SpanOptions::default() };
        assert_eq!(options.weight("a"), Some(("a", SpanTime::Total)));
        assert_eq!(options.weight("a.self"), Some(("a", SpanTime::Own)));
        assert_eq!([options.weight("b"), options.weight("b.self")], [None, None]);
    }
}
