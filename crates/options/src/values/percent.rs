//! Shares in percent.

use std::fmt;

/// A share in percent, stored exactly, so that a share equal to the limit does not exceed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Percent {
    /// The text as it was given.
    text: String,
    billionths: u64,
}

/// Number of stored digits after the point.
const DIGITS: usize = 9;

impl Percent {
    /// Returns true if `part` is a larger share of `whole`; false if `whole` is 0.
    #[must_use]
    pub fn is_exceeded_by(&self, part: u64, whole: u64) -> bool {
        let one_percent = 10_u128.pow(DIGITS as u32);
        u128::from(part) * 100 * one_percent > u128::from(self.billionths) * u128::from(whole)
    }
}

impl Percent {
    /// Returns the share in billionths of the whole, rounded down.
    #[must_use]
    pub const fn billionths(&self) -> u64 {
        self.billionths / 100
    }

    /// Returns the share, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.billionths as f64 / (100.0 * 10_f64.powi(DIGITS as i32))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Parses a share in percent, with or without the sign.
///
/// # Errors
/// The expected form, as a clause.
pub fn parse_share(text: &str) -> Result<Percent, String> {
    parse_percent(text.strip_suffix('%').unwrap_or(text).trim_end())
}

/// Parses a number from 0 to 100 with up to nine decimals.
///
/// # Errors
/// The expected form, as a clause.
pub fn parse_percent(text: &str) -> Result<Percent, String> {
    let number = || {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > DIGITS {
            return None;
        }
        let whole: u64 = whole.parse().ok().filter(|&whole| whole <= 100)?;
        let fraction: u64 = format!("{fraction:0<DIGITS$}").parse().ok()?;
        let hundred = 100 * 10_u64.pow(DIGITS as u32);
        Some(whole * (hundred / 100) + fraction).filter(|&billionths| billionths <= hundred)
    };
    let billionths =
        number().ok_or_else(|| "expected a number from 0 to 100, such as 5 or 0.5".to_owned())?;
    Ok(Percent { text: text.to_owned(), billionths })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        let read = |text| parse_percent(text).map(|limit| limit.billionths).ok();
        assert_eq!(read("0"), Some(0));
        assert_eq!(read("12.5"), Some(12_500_000_000));
        assert_eq!(read("0.000000001"), Some(1));
        assert_eq!(read("100.0"), Some(100_000_000_000));
        for text in ["", ".", "5.", ".5", "-1", "+1", "1e1", "5%", "NaN", "100.1", "101"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("1.0000000001"), None, "more digits than are held");
        assert_eq!(read("99999999999999999999"), None);
    }

    #[test]
    fn shares_go_with_and_without_their_sign() {
        for text in ["1%", "1", "1 %", "1.0"] {
            assert_eq!(parse_share(text).map(|share| share.share()), Ok(0.01), "{text}");
        }
        assert!(parse_share("1%%").is_err() && parse_share("%").is_err());
    }

    #[test]
    fn what_equals_the_limit_is_not_above_it() {
        let exceeded = |limit, part, whole| {
            parse_percent(limit).expect("a number").is_exceeded_by(part, whole)
        };
        assert!(!exceeded("2.3", 23, 1000) && exceeded("2.3", 24, 1000));
        assert!(!exceeded("0", 0, 5) && exceeded("0", 1, u64::MAX));
        assert!(!exceeded("100", u64::MAX, u64::MAX));
        assert!(!exceeded("0", 0, 0), "no samples");
    }
}
