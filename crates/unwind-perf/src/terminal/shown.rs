//! Text of recordings and files on its way to a terminal: nothing in it moves the cursor, changes colours or the direction
//! of what comes after it, or ends a line.

use formats::{is_misleading, push_line_safe};

/// The text as one line, with what a terminal would act on written in letters.
pub(crate) fn shown(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    push_line_safe(&mut out, text.as_bytes());
    // What is escaped is whole characters, so that it stays text.
    String::from_utf8(out).unwrap_or_default()
}

/// The same for a JSON document, whose meaning stays.
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
            // Writing to memory cannot fail. Such characters stand in strings alone.
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
