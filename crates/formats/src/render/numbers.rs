//! Numbers formatted for people.

/// Formats `12.3 %`. A share is shown as 0 or 100 only if it is exactly that.
#[must_use]
pub fn share(part: u64, whole: u64) -> String {
    let permille = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole.max(1));
    match permille {
        0 if part > 0 => "<0.1 %".to_owned(),
        1000 if part < whole => ">99.9 %".to_owned(),
        _ => format!("{}.{} %", permille / 10, permille % 10),
    }
}

/// Formats `1 sample` or `12,345 samples`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Formats a number with a comma before each group of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_do_not_lie_at_the_edges() {
        let cases = [
            (0, 5, "0.0 %"),
            (1, 100_000, "<0.1 %"),
            (99_999, 100_000, ">99.9 %"),
            (5, 5, "100.0 %"),
            (1, 3, "33.3 %"),
        ];
        for (part, whole, text) in cases {
            assert_eq!(share(part, whole), text);
        }
        assert_eq!(share(0, 0), "0.0 %");
        assert_eq!(share(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_712_345, "1,712,345")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "sample"), "1 sample");
    }
}
