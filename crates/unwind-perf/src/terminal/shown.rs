//! Text of recordings and files on its way to a terminal. It cannot move the cursor, change colours, change the
//! direction of the text after it, or end a line.

use formats::{is_misleading, push_line_safe};

/// Returns the text as one line, with control characters escaped.
pub(crate) fn shown(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    push_line_safe(&mut out, text.as_bytes());
    // Escapes replace complete characters, so the result stays valid UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Same as [`shown`] for a JSON document, whose meaning stays the same.
pub(crate) fn shown_json(document: &str) -> String {
    use std::fmt::Write as _;
    let is_shown = |char: char| char != '\x7f' && !is_misleading(char);
    if document.chars().all(is_shown) {
        return document.to_owned();
    }
    let mut out = String::with_capacity(document.len());
    for char in document.chars() {
        if is_shown(char) {
            out.push(char);
        } else {
            // Writing to memory cannot fail. Such characters occur only in strings.
            let _ = write!(out, "\\u{:04x}", char as u32);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_letters() {
        let evil = "\x1b]0;x\x07\n\u{9b}31m\u{202e}\u{2066}\u{200f}é";
        assert_eq!(shown(evil), "\\x1b]0;x\\x07\\n\\u009b31m\\u202e\\u2066\\u200fé");
        let document = serde_json::json!({ "name": evil, "del": "\x7f" }).to_string();
        let text = shown_json(&document);
        assert!(text.chars().all(|char| !char.is_control() && !is_misleading(char)), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["name"], evil);
    }
}
