//! Names as text for cells of a terminal.

use formats::push_line_safe;
use ratatui::text::Span;

/// Returns the text as one line, with control characters escaped.
pub(crate) fn safe(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    push_line_safe(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the last component of a path; names in brackets are returned in full.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    if path.starts_with(b"[") {
        return path;
    }
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Number of columns of a text.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { Span::raw(text).width() }
}

/// Returns the text in at most `room` columns: the middle of a longer one is replaced by `…`.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let Some(left) = room.checked_sub(1) else { return String::new() };
    let (front, back) = (left - left / 2, left / 2);
    let mut out = prefix(text.chars(), front);
    let end = prefix(text.chars().rev(), back);
    out.push('…');
    out.extend(end.chars().rev());
    out
}

/// Returns the first characters, in at most `room` columns.
fn prefix(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for character in characters {
        used += width(character.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        out.push(character);
    }
    out
}

const ANONYMOUS: &str = "(anonymous namespace)";

/// Returns the name without its parameters, its template and generic arguments and its return type:
/// `void a::b<int>(int)` becomes `a::b`. Names of operators, and names with unpaired brackets, stay.
pub(crate) fn short(name: &str) -> String {
    if !name.contains(['<', '(']) || name.contains("operator") || name.starts_with('[') {
        return name.to_owned();
    }
    without_arguments(name).unwrap_or_else(|| name.to_owned())
}

fn without_arguments(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(ANONYMOUS) {
            out.push_str(ANONYMOUS);
            rest = after;
            continue;
        }
        let bracketed = if matches!(char, '<' | '(') { rest.get(..end_of(rest)?)? } else { "" };
        rest = rest.get(bracketed.len().max(char.len_utf8())..)?;
        match char {
            // The type of `<a as b>::c` stays.
            '<' if out.is_empty() => out.push_str(bracketed),
            '<' if out.ends_with("::") => out.truncate(out.len() - 2),
            '<' => {}
            // Qualifiers follow the parameters, unless they are those of an enclosing function.
            '(' if out.contains('{') || rest.starts_with("::") => {}
            '(' => break,
            // A return type ends here.
            ' ' => out.clear(),
            _ => out.push(char),
        }
    }
    (!out.is_empty()).then_some(out)
}

/// Returns the end of the brackets at the start of a text.
fn end_of(text: &str) -> Option<usize> {
    let (mut depth, mut last) = (0_usize, ' ');
    for (at, char) in text.char_indices() {
        match char {
            '<' | '(' => depth += 1,
            '>' if last == '-' || last == '=' => {}
            '>' | ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + char.len_utf8());
        }
        last = char;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(cut("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut("abcdefghij", 7), "abc…hij");
        assert_eq!(cut("abcdefghij", 6), "abc…ij");
        assert_eq!(cut("äöüßäöüß", 5), "äö…üß");
        assert_eq!(cut("漢字漢字", 5), "漢…字");
        assert_eq!(cut("abc", 1), "…");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn short_names_have_no_arguments() {
        for (full, expected) in [
            ("main", "main"),
            ("foo(int, char*)", "foo"),
            ("void std::sort<int*, std::less<int> >(int*, int*)", "std::sort"),
            ("a::b<c<d>, e>::f", "a::b::f"),
            ("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            ("std::vector<int>::size() const", "std::vector::size"),
            ("f(int)::{lambda(int)#1}::call(int)", "f::{lambda#1}::call"),
            ("<a::B<C> as d::E<F>>::g::<H>", "<a::B<C> as d::E<F>>::g"),
            ("A::operator<", "A::operator<"),
            ("a<b", "a<b"),
            ("f(", "f("),
            ("[unknown]", "[unknown]"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
        ] {
            assert_eq!(short(full), expected, "{full}");
        }
    }

    #[test]
    fn text_cannot_control_the_terminal() {
        assert_eq!(safe(b"a\x1b[2J\n\x07"), "a\\x1b[2J\\n\\x07");
        assert_eq!(safe("\u{9b}31m\u{202e}é".as_bytes()), "\\u009b31m\\u202eé");
        assert_eq!(safe(b"\x9b31m\xff"), "\\x9b31m\u{fffd}");
    }
}
