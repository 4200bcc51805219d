//! Normalization of costs in a comparison.

use std::fmt;
use std::str::FromStr;

/// Divisor of the costs of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Normalization {
    /// Its duration in seconds.
    Time,
    /// Its total cost.
    Share,
    /// None; each sample counts 1, regardless of its weight.
    Samples,
    /// The work done during the recording, such as a number of requests.
    Work {
        /// Work in each baseline recording.
        before: f64,
        /// Work in each candidate recording.
        after: f64,
    },
}

impl Normalization {
    /// Returns the keyword on the command line and in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Share => "share",
            Self::Samples => "samples",
            Self::Work { .. } => "work",
        }
    }
}

/// Formats it as it is parsed: `time`, `share`, `samples` or `A=NUMBER,B=NUMBER`.
impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Work { before, after } => write!(f, "A={before},B={after}"),
            other => f.write_str(other.as_str()),
        }
    }
}

impl FromStr for Normalization {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let work = || {
            let (before, after) = text.split_once(',')?;
            let number = |text: &str, name: &str| {
                text.trim().strip_prefix(name)?.strip_prefix('=')?.parse::<f64>().ok()
            };
            let (before, after) = (number(before, "A")?, number(after, "B")?);
            let is_amount = |amount: f64| amount.is_finite() && amount > 0.0;
            (is_amount(before) && is_amount(after)).then_some(Self::Work { before, after })
        };
        match text {
            "time" => Ok(Self::Time),
            "share" => Ok(Self::Share),
            "samples" => Ok(Self::Samples),
            _ => work().ok_or_else(|| {
                "expected time, share, samples, or amounts of work above 0 such as A=1000,B=1200"
                    .to_owned()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizations_are_read() {
        let work = |before, after| Some(Normalization::Work { before, after });
        for (text, expected) in [
            ("time", Some(Normalization::Time)),
            ("share", Some(Normalization::Share)),
            ("samples", Some(Normalization::Samples)),
            ("A=1000,B=1.5e3", work(1000.0, 1500.0)),
            ("A=1, B=2", work(1.0, 2.0)),
            ("", None),
            ("work", None),
            ("A=1", None),
            ("B=1,A=2", None),
            ("A=0,B=1", None),
            ("A=1,B=-1", None),
            ("A=inf,B=1", None),
            ("A=NaN,B=1", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
            if let Some(read) = expected {
                assert_eq!(read.to_string().parse(), Ok(read));
            }
        }
    }
}
