//! Parts of functions. Compilers move rarely executed code out of a function (`.cold`) or split it (`.part.0`), and
//! append the mark of the part to its name.

/// Marks of copies made by compilers; a number follows.
const COPIES: [&[u8]; 6] = [b"isra", b"part", b"constprop", b"cold", b"llvm", b"lto_priv"];

/// Returns the name of the function that `name` is a part of; `None` for a whole function.
/// For example, `parse.part.0.isra.0` is a part of `parse`, `parse.constprop.0.cold` of `parse.constprop.0`, and
/// `f(int) [clone .cold]` of `f(int)`.
#[must_use]
pub fn whole_function(name: &[u8]) -> Option<&[u8]> {
    let (mut rest, mut whole) = (name, None);
    while let Some((front, mark)) = split_copy(rest) {
        if mark.starts_with(b"cold") || mark.starts_with(b"part") {
            whole = Some(front);
        }
        rest = front;
    }
    whole
}

/// Splits the last mark of a copy off a name, such as `isra.0` or `cold`. Marks in the form of demanglers are
/// recognized, too: ` [clone .isra.0]`, ` (.llvm.123)`. The returned name is not empty.
#[must_use]
pub fn split_copy(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let bracketed = |open: &[u8], close: &[u8]| {
        let inside = name.strip_suffix(close)?;
        let at = inside.windows(open.len()).rposition(|window| window == open)?;
        let (front, mark) = (inside.get(..at)?, inside.get(at + open.len()..)?);
        is_copy(mark).then_some((front, mark))
    };
    let plain = || {
        // The last point, or the previous one if a number follows the last.
        let last = name.iter().rposition(|&byte| byte == b'.')?;
        let number = name.get(last + 1..)?;
        let at = if is_number(number) {
            name.get(..last)?.iter().rposition(|&byte| byte == b'.')?
        } else {
            last
        };
        let mark = name.get(at + 1..)?;
        is_copy(mark).then_some((name.get(..at)?, mark))
    };
    let split = bracketed(b" [clone .", b"]").or_else(|| bracketed(b" (.", b")")).or_else(plain);
    split.filter(|(front, _)| !front.is_empty())
}

/// Returns true for `isra.0`, `cold`, `cold.3`. Only cold parts can lack a number.
fn is_copy(mark: &[u8]) -> bool {
    if mark == b"cold" {
        return true;
    }
    let Some(at) = mark.iter().position(|&byte| byte == b'.') else { return false };
    let (word, number) = mark.split_at(at);
    COPIES.contains(&word) && number.get(1..).is_some_and(is_number)
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_belong_to_their_function() {
        for (name, expected) in [
            ("parse.cold", Some("parse")),
            ("parse.cold.17", Some("parse")),
            ("parse.part.0", Some("parse")),
            ("parse.part.0.isra.0", Some("parse")),
            ("parse.part.0.cold", Some("parse")),
            ("parse.isra.0.part.0", Some("parse.isra.0")),
            ("parse.constprop.0.cold", Some("parse.constprop.0")),
            ("ns::f(int) [clone .cold]", Some("ns::f(int)")),
            ("ns::f(int) [clone .part.0] [clone .isra.0]", Some("ns::f(int)")),
            ("_ZN2ns1fEi.cold", Some("_ZN2ns1fEi")),
            ("parse", None),
            ("parse.isra.0", None),
            (".cold", None),
            ("parse.part", None),
            ("parse.colder", None),
            ("", None),
        ] {
            let whole = whole_function(name.as_bytes());
            assert_eq!(whole, expected.map(str::as_bytes), "{name}");
        }
    }
}
