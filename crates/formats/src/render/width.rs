//! Widths of text on a terminal, in columns, and text that is cut or wrapped to a width.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The narrowest width that is respected; words of a narrower one would stand one per row.
pub(crate) const NARROWEST: usize = 40;

/// Returns the columns of a text.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts `text` on the right to `room` columns.
pub(crate) fn cut_end(text: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if columns(text) > room => {
            let mut out = beginning(text, room.saturating_sub(1)).to_owned();
            out.push('…');
            out
        }
        _ => text.to_owned(),
    }
}

/// Cuts `text` in the middle to `room` columns: names differ at their beginning and at their end.
pub fn cut_middle(text: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if columns(text) > room => {
            let both = room.saturating_sub(1);
            let end = end_of(text, both / 2);
            format!("{}…{end}", beginning(text, both - both / 2))
        }
        _ => text.to_owned(),
    }
}

/// Cuts `text` on the left to `room` columns.
pub(crate) fn cut_start(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    format!("…{}", end_of(text, room.saturating_sub(1)))
}

/// Appends spaces up to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let spaces = width.saturating_sub(columns(text));
    format!("{text}{:spaces$}", "")
}

/// Returns the longest beginning of at most `room` columns.
fn beginning(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|&(_, char)| {
        used += char.width().unwrap_or(0);
        used > room
    });
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// Returns the longest end of at most `room` columns.
fn end_of(text: &str, room: usize) -> &str {
    let mut used = 0;
    let start = text.char_indices().rev().find(|&(_, char)| {
        used += char.width().unwrap_or(0);
        used > room
    });
    start.and_then(|(at, char)| text.get(at + char.len_utf8()..)).unwrap_or(text)
}

/// Wraps text at words if a terminal sets the width; later rows begin after `indent` spaces.
#[must_use]
pub fn wrapped_text(text: &str, width: Option<usize>, indent: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    String::from_utf8_lossy(&wrapped(text.as_bytes(), width.max(NARROWEST), indent)).into_owned()
}

/// The text with line feeds in place of spaces.
pub(crate) fn wrapped(text: &[u8], width: usize, indent: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + indent * 2);
    let mut column = 0;
    for (index, word) in text.split(|&byte| byte == b' ').enumerate() {
        let length = columns(&String::from_utf8_lossy(word));
        if index > 0 && column + 1 + length > width {
            out.push(b'\n');
            out.resize(out.len() + indent, b' ');
            column = indent;
        } else if index > 0 {
            out.push(b' ');
            column += 1;
        }
        out.extend_from_slice(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_columns() {
        for (room, middle, end) in [
            (7, "abcdefg", "abcdefg"),
            (6, "abc…fg", "abcde…"),
            (5, "ab…fg", "abcd…"),
            (1, "…", "…"),
        ] {
            assert_eq!(cut_middle("abcdefg", Some(room)), middle);
            assert_eq!(cut_end("abcdefg", Some(room)), end);
        }
        assert_eq!(cut_middle("abcdefg", None), "abcdefg");
        assert_eq!((&*cut_start("│  ├─ ", 4), &*cut_start("├─ ", 3)), ("…├─ ", "├─ "));
        assert_eq!(cut_end("äöüß", Some(3)), "äö…");
        // These letters have two columns each; a combining accent has none.
        assert_eq!(columns("函数e\u{301}"), 5);
        assert_eq!(cut_middle("函数函数函数", Some(8)), "函数…数");
        assert_eq!(padded("函", 4), "函  ");
    }
}
