//! Conditions on the values of samples, such as `bytes>=4096`, `path=/etc/*` or `state=1..3`.

use std::fmt;
use std::str::FromStr;

use address::FieldKind;

use crate::matches_pattern;

/// A condition on a field or a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The field, by a pattern `EVENT/FIELD` or `FIELD`; or the name of a label.
    pub field: String,
    operator: Operator,
    /// What the value is compared with, as it was written.
    value: String,
    /// The numbers to compare with, inclusive; `None` if the value is not a number.
    numbers: Option<(i128, i128)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Is,
    IsNot,
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl Operator {
    /// The operators as they are written. Longer ones precede their prefixes.
    const ALL: [(&'static str, Self); 6] = [
        ("!=", Self::IsNot),
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        ("=", Self::Is),
        (">", Self::Above),
        ("<", Self::Below),
    ];

    /// Returns the range that a number is compared with, inclusive. `IsNot` holds outside of it.
    fn numbers(self, value: &str) -> Option<(i128, i128)> {
        let bound = |text: &str, or: i128| if text.is_empty() { Some(or) } else { number(text) };
        let (least, most) = (i128::MIN, i128::MAX);
        Some(match self {
            Self::Is | Self::IsNot => match value.split_once("..") {
                Some((from, to)) if (from, to) != ("", "") => {
                    (bound(from, least)?, bound(to, most)?)
                }
                _ => (number(value)?, number(value)?),
            },
            Self::AtLeast => (number(value)?, most),
            Self::AtMost => (least, number(value)?),
            Self::Above => (number(value)? + 1, most),
            Self::Below => (least, number(value)? - 1),
        })
    }
}

/// Reads a number of at most 64 bits: decimal, or hexadecimal after `0x`.
fn number(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    magnitude.ok().map(|magnitude| sign * i128::from(magnitude))
}

/// Reason that a text is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// Nothing is compared.
    #[error("{0:?} has no operator; expected FIELD=VALUE, or !=, <, <=, > or >= for =")]
    NoOperator(String),
    /// Nothing comes before the operator.
    #[error("{0:?} has no field before the operator")]
    NoField(String),
    /// Only numbers have an order.
    #[error("{0:?} compares with {1:?}, which is not a number; only = and != take text")]
    NotNumber(String, String),
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let operators = ['=', '!', '<', '>'];
        let (field, rest) = text.split_at(text.find(operators).unwrap_or(text.len()));
        let known = Operator::ALL.iter();
        let mut found = known.filter_map(|(word, it)| Some((*it, rest.strip_prefix(*word)?)));
        let (operator, value) =
            found.next().ok_or_else(|| ConditionError::NoOperator(text.to_owned()))?;
        if field.is_empty() {
            return Err(ConditionError::NoField(text.to_owned()));
        }
        let numbers = operator.numbers(value);
        if numbers.is_none() && !matches!(operator, Operator::Is | Operator::IsNot) {
            return Err(ConditionError::NotNumber(text.to_owned(), value.to_owned()));
        }
        Ok(Self { field: field.to_owned(), operator, value: value.to_owned(), numbers })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = Operator::ALL.iter().find(|(_, it)| *it == self.operator);
        write!(f, "{}{}{}", self.field, written.map_or("", |(word, _)| word), self.value)
    }
}

impl Condition {
    /// Returns true if the condition can hold for values of a type: text needs `=` or `!=`, numbers need a number.
    #[must_use]
    pub const fn suits(&self, kind: FieldKind) -> bool {
        match kind.is_number() {
            true => self.numbers.is_some(),
            false => matches!(self.operator, Operator::Is | Operator::IsNot),
        }
    }

    /// Returns true if a number fulfils the condition. A condition on text holds for no number.
    #[must_use]
    pub fn holds_for_number(&self, number: i128) -> bool {
        let is_within = |(from, to): (i128, i128)| (from..=to).contains(&number);
        self.numbers.is_some_and(|range| is_within(range) != (self.operator == Operator::IsNot))
    }

    /// Returns true if a text fulfils the condition: `*` stands for any number of bytes, `?` for one.
    #[must_use]
    pub fn holds_for_text(&self, text: &[u8]) -> bool {
        let fits = || matches_pattern(self.value.as_bytes(), text);
        match self.operator {
            Operator::Is => fits(),
            Operator::IsNot => !fits(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn numbers_are_compared() {
        for (text, holds, fails) in [
            ("n=5", vec![5], vec![4, 6]),
            ("n!=5", vec![4, 6], vec![5]),
            ("n>=0x10", vec![16, i128::from(u64::MAX)], vec![15]),
            ("n>5", vec![6], vec![5]),
            ("n<-1", vec![-2], vec![-1]),
            ("n<=18446744073709551615", vec![i128::from(u64::MAX)], vec![]),
            ("n=1..3", vec![1, 3], vec![0, 4]),
            ("n=..3", vec![-9, 3], vec![4]),
            ("n!=2..", vec![1], vec![2, 9]),
        ] {
            let condition = read(text);
            assert!(holds.iter().all(|&number| condition.holds_for_number(number)), "{text}");
            assert!(!fails.iter().any(|&number| condition.holds_for_number(number)), "{text}");
            assert_eq!((condition.field.as_str(), condition.to_string()), ("n", text.to_owned()));
        }
    }

    #[test]
    fn texts_are_patterns() {
        assert!(read("probe:x/path=/etc/*").holds_for_text(b"/etc/passwd"));
        assert!(!read("path=/etc").holds_for_text(b"/etc/passwd"));
        assert!(read("path!=/etc/*").holds_for_text(b"/usr"));
        assert!(read("query=select a=b*").holds_for_text(b"select a=b and c"));
        assert!(read("n=..").holds_for_text(b".."));
        assert!(!read("n>5").holds_for_text(b"6"));
        assert!(!read("n=x").holds_for_number(0));
        assert_eq!(read("probe:x/path=a").field, "probe:x/path");
    }

    #[test]
    fn types_decide_what_can_be_compared() {
        let suits = |text| {
            [FieldKind::Signed, FieldKind::Text, FieldKind::List].map(|it| read(text).suits(it))
        };
        assert_eq!(suits("f=5"), [true, true, true]);
        assert_eq!(suits("f!=x"), [false, true, true]);
        assert_eq!(suits("f>5"), [true, false, false]);
    }

    #[test]
    fn wrong_conditions_say_what_is_wrong() {
        for (text, expected) in [
            (
                "state",
                r#""state" has no operator; expected FIELD=VALUE, or !=, <, <=, > or >= for ="#,
            ),
            ("a!b", r#""a!b" has no operator; expected FIELD=VALUE, or !=, <, <=, > or >= for ="#),
            ("=5", r#""=5" has no field before the operator"#),
            ("n>x", r#""n>x" compares with "x", which is not a number; only = and != take text"#),
        ] {
            assert_eq!(text.parse::<Condition>().unwrap_err().to_string(), expected);
        }
        assert!("n>99999999999999999999".parse::<Condition>().is_err());
    }
}
