//! Durations.

use std::time::Duration;

use super::parse_seconds;

/// Units of a duration, in seconds.
const UNITS: [(&str, u32); 3] = [("s", 1), ("m", 60), ("h", 3600)];

/// Parses a duration above zero: a number with up to nine decimals, and `s`, `m` or `h`; without one, seconds.
///
/// # Errors
/// The reason, as a clause.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let of_unit = |(unit, seconds)| Some((text.strip_suffix(unit)?, seconds));
    let (number, unit) = UNITS.into_iter().find_map(of_unit).unwrap_or((text, 1));
    let wrong = || format!("{text} is no duration; examples are 30s, 10m and 1.5h");
    let nanoseconds = parse_seconds(number).ok().flatten().ok_or_else(wrong)?;
    let duration = Duration::from_nanos(nanoseconds).checked_mul(unit);
    duration.filter(|it| !it.is_zero()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let millis = |text| parse_duration(text).map(|it| it.as_millis()).ok();
        assert_eq!(
            [millis("30s"), millis("10m"), millis(" 24h ")],
            [Some(30_000), Some(600_000), Some(86_400_000)]
        );
        assert_eq!(
            [millis("1.5h"), millis("2"), millis("0.25")],
            [Some(5_400_000), Some(2_000), Some(250)]
        );
        for wrong in ["", "s", "0", "0m", "-1s", "1d", "1 h s", "18446744073709551615h"] {
            let error = format!("{wrong} is no duration; examples are 30s, 10m and 1.5h");
            assert_eq!(parse_duration(wrong), Err(error));
        }
    }
}
