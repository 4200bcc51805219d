//! Reasons that a tool does not answer, as texts that list the values that exist.

use crate::text::safe_lines;

/// Values that a refusal lists.
const LISTED: usize = 20;

/// A call that a tool does not answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(String);

impl Refusal {
    /// Returns a refusal with a text, in which control characters are escaped.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self(safe_lines(text.as_ref()))
    }

    /// Returns the refusal of a call without an argument, with the values to choose from.
    pub(crate) fn missing(argument: &str, known: &[String]) -> Self {
        Self::new(format!("argument {argument:?} is required; there are: {}", listed(known)))
    }

    /// Returns the refusal of a name that does not exist: `there is no event x; there are: a, b`.
    pub(crate) fn unknown(what: &str, name: &str, known: &[String]) -> Self {
        Self::new(format!("there is no {what} {name:?}; there are: {}", listed(known)))
    }
}

/// Returns the first values, and the number of further ones.
fn listed(values: &[String]) -> String {
    let named: Vec<&str> = values.iter().take(LISTED).map(String::as_str).collect();
    match values.len().saturating_sub(LISTED) {
        _ if named.is_empty() => "none".to_owned(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_list_some_values() {
        let of = |n: usize| (0..n).map(|it| format!("e{it}")).collect::<Vec<_>>();
        let text = |n| Refusal::unknown("event", "x\u{1b}", &of(n)).to_string();
        assert_eq!(text(0), "there is no event \"x\\u{1b}\"; there are: none");
        assert_eq!(text(2), "there is no event \"x\\u{1b}\"; there are: e0, e1");
        assert!(text(23).ends_with("e18, e19 and 3 more"), "{}", text(23));
        assert_eq!(Refusal::new("a\nb\x07").to_string(), "a\nb\\x07");
    }
}
