//! Names as text for cells of a terminal.

use formats::{cut_middle, push_line_safe};

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

/// Returns the text in at most `room` columns: the middle of a longer one is replaced by `…`.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if room == 0 { String::new() } else { cut_middle(text, Some(room)) }
}

/// Returns the name without its parameters, its template and generic arguments and its return type.
pub(crate) fn short(name: &str) -> String {
    demangle::short_name(name).into_owned()
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
    fn text_cannot_control_the_terminal() {
        assert_eq!(safe(b"a\x1b[2J\n\x07"), "a\\x1b[2J\\n\\x07");
        assert_eq!(safe("\u{9b}31m\u{202e}é".as_bytes()), "\\u009b31m\\u202eé");
        assert_eq!(safe(b"\x9b31m\xff"), "\\x9b31m\u{fffd}");
    }
}
