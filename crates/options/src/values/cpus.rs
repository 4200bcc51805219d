//! Selection of processors.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Limit on the processor numbers of a range. Source: `NR_CPUS` of the kernel is at most 8192.
const MOST: u32 = 1 << 16;

/// Parses processor numbers such as `0,2-3`. In JSON they are a number, a list of numbers, or such text.
///
/// # Errors
/// If a part is neither a number nor a range of numbers.
pub fn parse_cpus(text: &str) -> Result<Vec<u32>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim) {
        let wrong = || format!("{part:?} is neither a number nor a range such as 2-5");
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last >= MOST {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected numbers of processors, or text such as 0,2-3")]
enum Json {
    Number(u32),
    Text(String),
    Numbers(Vec<u32>),
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u32>, D::Error> {
    match Json::deserialize(deserializer)? {
        Json::Number(number) => Ok(vec![number]),
        Json::Text(text) => parse_cpus(&text).map_err(D::Error::custom),
        Json::Numbers(numbers) => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_read() {
        for (text, expected) in [
            ("0", Some(vec![0])),
            ("3,1", Some(vec![1, 3])),
            ("0, 2-4,3", Some(vec![0, 2, 3, 4])),
            ("", None),
            ("1-", None),
            ("-1", None),
            ("4-2", None),
            ("0-4294967295", None),
            ("a", None),
        ] {
            assert_eq!(parse_cpus(text).ok(), expected, "{text}");
        }
    }
}
