//! Lines of the short summary, wrapped at words if a terminal sets their width.

use anstyle::Style;

use crate::render::width::{NARROWEST, wrapped};

/// Spaces before the second and later rows of a line.
const INDENT: usize = 2;

/// Lines with a style for their beginning.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<Line>);

#[derive(Debug)]
struct Line {
    style: Style,
    /// Bytes of the label that has the style; `None` if the whole line has it.
    label: Option<usize>,
    text: Vec<u8>,
}

impl Lines {
    /// Adds a line without a style.
    pub(super) fn plain(&mut self, text: impl Into<Vec<u8>>) {
        self.styled(Style::new(), text);
    }

    /// Adds a line that has the style.
    pub(super) fn styled(&mut self, style: Style, text: impl Into<Vec<u8>>) {
        self.0.push(Line { style, label: None, text: text.into() });
    }

    /// Adds a line whose label has the style.
    pub(super) fn labelled(&mut self, style: Style, label: &str, text: &[u8]) {
        let mut line = label.as_bytes().to_vec();
        line.push(b' ');
        line.extend_from_slice(text);
        self.0.push(Line { style, label: Some(label.len()), text: line });
    }

    /// The text; rows have at most `width` characters if no word is longer.
    pub(super) fn into_text(self, width: Option<usize>) -> Vec<u8> {
        let mut out = Vec::new();
        for Line { style, label, text } in self.0 {
            let text = match width {
                Some(width) => wrapped(&text, width.max(NARROWEST), INDENT),
                None => text,
            };
            let (head, rest) = text.split_at(label.unwrap_or(text.len()).min(text.len()));
            out.extend_from_slice(format!("{style}").as_bytes());
            out.extend_from_slice(head);
            out.extend_from_slice(format!("{style:#}").as_bytes());
            out.extend_from_slice(rest);
            out.push(b'\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstyle::AnsiColor;

    #[test]
    fn long_lines_are_wrapped_at_words() {
        let text = b"cc1plus has exported symbols only (40.2 % of frames). Install gcc-12-dbgsym.";
        let mut lines = Lines::default();
        lines.plain(&text[..]);
        let expected =
            "cc1plus has exported symbols only (40.2 %\n  of frames). Install gcc-12-dbgsym.\n";
        assert_eq!(String::from_utf8(lines.into_text(Some(41))).as_deref(), Ok(expected));
        let mut lines = Lines::default();
        lines.plain(&text[..]);
        assert_eq!(lines.into_text(None).strip_suffix(b"\n"), Some(&text[..]));
    }

    #[test]
    fn a_style_ends_with_its_line_or_its_label() {
        let yellow = AnsiColor::Yellow.on_default();
        let text = "words ".repeat(10);
        let mut lines = Lines::default();
        lines.styled(yellow, text.trim_end());
        lines.labelled(yellow, "Tip:", text.trim_end().as_bytes());
        let shown = String::from_utf8(lines.into_text(Some(50))).expect("UTF-8");
        let eight = "words ".repeat(8);
        let seven = "words ".repeat(7);
        assert_eq!(
            shown,
            format!(
                "\x1b[33m{}\n  words words\x1b[0m\n\x1b[33mTip:\x1b[0m {}\n  words words words\n",
                eight.trim_end(),
                seven.trim_end()
            )
        );
    }
}
