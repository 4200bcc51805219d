//! Whether a value of ours, decoded or as the product prints it, is gdb's.

use ::values::Value;

use super::tally::Verdict;

/// Compares a value with gdb's.
pub(super) fn of_value(kind: &str, theirs: &str, ours: &Value) -> Verdict {
    match (kind, ours) {
        ("string", Value::Unread { address, .. } | Value::Address(address)) => {
            let same = theirs.split(' ').next() == Some(&format!("{address:x}"));
            if same && matches!(ours, Value::Unread { .. }) { Verdict::Unread } else { is(same) }
        }
        (_, Value::Unread { .. }) if kind != "pointer" => Verdict::Unread,
        ("string", Value::Text { bytes, cut }) => {
            is(same_text(theirs.split(' ').nth(1).unwrap_or_default(), bytes, *cut))
        }
        ("text", Value::Text { bytes, cut }) => is(same_text(theirs, bytes, *cut)),
        ("integer", Value::Char(c)) => is(theirs == u32::from(*c).to_string()),
        ("integer", value) => {
            is(value.integer().map(|it| it.to_string()).as_deref() == Some(theirs))
        }
        ("enum", Value::Enumerator { name, .. }) => is(**name == *theirs),
        ("enum", value) => is(value.integer().map(|it| it.to_string()).as_deref() == Some(theirs)),
        ("bool", Value::Bool(value)) => is(theirs == value.to_string()),
        ("float", value) => is(float_digits(value).as_deref() == Some(theirs)),
        ("pointer", Value::Unread { .. }) if theirs.contains(" text ") => Verdict::Unread,
        ("pointer", Value::Address(address) | Value::Unread { address, .. }) => {
            is(theirs.split(' ').next() == Some(&address.to_string()))
        }
        // A reference of Rust: the kind and the value of its object follow the address.
        ("pointer", value) => {
            let mut words = theirs.splitn(3, ' ').skip(1);
            match (words.next(), words.next()) {
                (Some(kind), Some(theirs)) => of_value(kind, theirs, value),
                _ => Verdict::Differ,
            }
        }
        ("list", Value::List { items, .. }) => {
            let text = |item: &Value| match item {
                Value::Char(c) => u32::from(*c).to_string(),
                Value::Float { .. } => float_digits(item).unwrap_or_default(),
                other => other.to_string(),
            };
            let ours: Vec<String> = items.iter().map(text).collect();
            is(theirs.split(' ').map(str::to_owned).take(ours.len().max(1)).eq(ours))
        }
        ("variant", Value::Variant { name, field }) => {
            let (variant, rest) = theirs.split_once(' ').unwrap_or((theirs, ""));
            let same_field = match field.as_deref() {
                Some(Value::Bool(_) | Value::Signed { .. } | Value::Unsigned { .. }) => {
                    field.as_deref().map(ToString::to_string).as_deref() == Some(rest)
                }
                _ => true,
            };
            is(variant == &**name && (same_field || rest.contains('<')))
        }
        _ => Verdict::Differ,
    }
}

/// Compares a value as the product prints it with gdb's.
pub(super) fn of_text(kind: &str, theirs: &str, ours: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(ours);
    match kind {
        "string" => {
            let (address, bytes) = theirs.split_once(' ').unwrap_or((theirs, ""));
            is(text == format!("0x{address}") || same_printed(bytes, ours))
        }
        "text" => is(same_printed(theirs, ours)),
        "integer" => is(text == theirs || is_character(&text, theirs)),
        "enum" | "bool" => is(text == theirs),
        "float" => is(is_float(&text, theirs)),
        "pointer" => {
            let mut words = theirs.splitn(3, ' ');
            let address: Option<u64> = words.next().and_then(|it| it.parse().ok());
            match (words.next(), words.next()) {
                _ if address.is_some_and(|it| text == format!("{it:#x}")) => Verdict::Equal,
                (Some(kind), Some(theirs)) => of_text(kind, theirs, ours),
                _ => Verdict::Differ,
            }
        }
        "list" => {
            let items = text.trim_start_matches('[').trim_end_matches(']');
            let items: Vec<&str> =
                items.split(", ").filter(|it| !matches!(*it, "" | "…")).collect();
            let pairs = items.iter().zip(theirs.split(' '));
            let mut same = pairs.map(|(ours, theirs)| {
                *ours == theirs || is_character(ours, theirs) || is_float(ours, theirs)
            });
            is(same.all(|it| it) && items.len() <= theirs.split(' ').count())
        }
        "variant" => {
            let (variant, rest) = theirs.split_once(' ').unwrap_or((theirs, ""));
            let (name, field) = text.split_once('(').unwrap_or((&text, ""));
            let field = field.trim_end_matches(')');
            let is_plain = field.parse::<i128>().is_ok() || matches!(field, "true" | "false");
            is(name == variant && (!is_plain || field == rest || rest.contains('<')))
        }
        _ => Verdict::Differ,
    }
}

const fn is(equal: bool) -> Verdict {
    if equal { Verdict::Equal } else { Verdict::Differ }
}

/// Compares a text with gdb's, of which the bytes are hexadecimal digits. Of one that is cut, the start.
fn same_text(theirs: &str, ours: &[u8], cut: bool) -> bool {
    let ours: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
    if cut { theirs.starts_with(&ours) } else { theirs == ours }
}

/// The same for a printed text, which ends in `…` if it is cut, and then has no bytes that are not UTF-8.
fn same_printed(theirs: &str, ours: &[u8]) -> bool {
    if same_text(theirs, ours, false) {
        return true;
    }
    let Some(start) = ours.strip_suffix("…".as_bytes()) else { return false };
    let digit = |c: &u8| char::from(*c).to_digit(16).unwrap_or(0) as u8;
    let pairs = theirs.as_bytes().chunks_exact(2);
    let theirs: Vec<u8> = pairs.map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect();
    String::from_utf8_lossy(&theirs).as_bytes().starts_with(start)
}

/// Returns true if a character has gdb's number.
fn is_character(ours: &str, theirs: &str) -> bool {
    let mut characters = ours.chars();
    let number = characters.next().map(|it| u32::from(it).to_string());
    characters.next().is_none() && number.as_deref() == Some(theirs)
}

/// Returns true if a number of floating point has gdb's bytes, which are hexadecimal digits.
fn is_float(ours: &str, theirs: &str) -> bool {
    let number = u64::from_str_radix(theirs, 16).map(u64::swap_bytes);
    let (Ok(number), 8 | 16) = (number, theirs.len()) else { return false };
    // The text of a number that is none does not show its bits.
    if theirs.len() == 8 {
        let theirs = f32::from_bits((number >> 32) as u32);
        return ours.parse().is_ok_and(|it: f32| {
            it.to_bits() == theirs.to_bits() || (it.is_nan() && theirs.is_nan())
        });
    }
    let theirs = f64::from_bits(number);
    ours.parse()
        .is_ok_and(|it: f64| it.to_bits() == theirs.to_bits() || (it.is_nan() && theirs.is_nan()))
}

/// Returns the bytes of a number of floating point as hexadecimal digits.
fn float_digits(value: &Value) -> Option<String> {
    let Value::Float { number, bits } = value else { return None };
    let narrow = (*number as f32).to_le_bytes();
    let wide = number.to_le_bytes();
    let bytes: &[u8] = if *bits == 32 { &narrow } else { &wide };
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_values_are_compared() {
        let equal =
            |kind, theirs, ours: &str| of_text(kind, theirs, ours.as_bytes()) == Verdict::Equal;
        assert!(equal("integer", "-5", "-5") && !equal("integer", "5", "6"));
        assert!(equal("integer", "97", "a") && !equal("integer", "9", "a"));
        assert!(equal("string", "7f00 6162", "ab") && equal("string", "7f00 616263", "ab…"));
        assert!(!equal("string", "7f00 6162", "a") && equal("string", "0 ", "0x0"));
        assert!(equal("float", "cdcccc3d", "0.1") && !equal("float", "cdcccc3d", "0.2"));
        assert!(equal("float", "9a9999999999b93f", "0.1") && equal("float", "38e7ffff", "NaN"));
        assert!(equal("list", "1 2 3", "[1, 2, …]") && !equal("list", "1 2", "[1, 3]"));
        assert!(equal("pointer", "16", "0x10") && equal("pointer", "16 integer 5", "5"));
        assert!(equal("variant", "Some 5", "Some(5)") && !equal("variant", "Some 5", "Some(6)"));
        assert!(equal("variant", "None ", "None") && !equal("variant", "None ", "Some(6)"));
    }
}
