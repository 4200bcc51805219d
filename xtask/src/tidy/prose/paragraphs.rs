//! Paragraphs of plain text: comments and messages of sources, paragraphs, list items and table cells of documents.
//!
//! Code is left out: fenced blocks, text between backquotes, and the addresses of links.

use std::path::Path;

use crate::tidy::tokens::{PieceKind, pieces};

/// Words of the shortest string that counts as a message.
const MESSAGE_WORDS: usize = 4;

/// A paragraph.
#[derive(Debug)]
pub(super) struct Paragraph {
    /// Its first line, from 1.
    pub(super) line: usize,
    /// Its text without line breaks and code.
    pub(super) text: String,
    /// Whether it is a text of the program, not of its source or documents.
    pub(super) is_message: bool,
}

/// The paragraphs of a file.
pub(super) fn paragraphs(path: &Path, text: &str) -> Vec<Paragraph> {
    let mut found = Collector::default();
    match path.extension().and_then(|it| it.to_str()) {
        Some("md") => document(text, &mut found),
        Some("rs") => rust(path, text, &mut found),
        Some("py") => python(text, &mut found),
        _ => script(path, text, &mut found),
    }
    found.end();
    found.paragraphs
}

/// Joins lines to paragraphs.
#[derive(Debug, Default)]
struct Collector {
    paragraphs: Vec<Paragraph>,
    open: Option<Paragraph>,
    is_in_code: bool,
}

impl Collector {
    /// Takes the text of a line of a comment or document, without its marks.
    fn line(&mut self, line: usize, text: &str) {
        let text = text.trim();
        if text.starts_with("```") || text.starts_with("~~~") {
            self.is_in_code = !self.is_in_code;
            self.end();
        } else if self.is_in_code || text.is_empty() {
            self.end();
        } else if let Some(row) = text.strip_prefix('|') {
            self.end();
            for cell in row.split('|') {
                self.alone(line, cell);
            }
        } else {
            if begins_block(text) {
                self.end();
            }
            let open = self.open.get_or_insert_with(|| Paragraph {
                line,
                text: String::new(),
                is_message: false,
            });
            open.text.push_str(text);
            open.text.push(' ');
        }
    }

    /// Takes a text that is a paragraph by itself.
    fn alone(&mut self, line: usize, text: &str) {
        self.end();
        self.open = Some(Paragraph { line, text: text.to_owned(), is_message: false });
        self.end();
    }

    /// Takes a string of the source if it has the words of a message.
    fn message(&mut self, line: usize, text: &str) {
        let is_word =
            |word: &&str| word.trim_matches(['"', '`', ',', '.']).chars().all(char::is_alphabetic);
        if text.split_whitespace().filter(is_word).count() >= MESSAGE_WORDS {
            self.end();
            let text = text.replace("\\n", " ").replace('\\', " ");
            self.open = Some(Paragraph { line, text, is_message: true });
            self.end();
        }
    }

    /// Ends the open paragraph.
    fn end(&mut self) {
        if let Some(open) = self.open.take() {
            let plain = if open.is_message { open.text.clone() } else { without_code(&open.text) };
            let text = plain.split_whitespace().collect::<Vec<_>>().join(" ");
            self.paragraphs.push(Paragraph { text, ..open });
        }
    }
}

/// Whether a line begins a list item or a heading.
fn begins_block(text: &str) -> bool {
    let after_number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < text.len() && after_number.starts_with(". ");
    is_numbered || ["- ", "* ", "#", "> "].iter().any(|mark| text.starts_with(mark))
}

/// The text without code between backquotes, which leaves a word, and without addresses of links.
fn without_code(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        plain.push_str(if index % 2 == 0 { part } else { "X" });
    }
    let mut parts = plain.split("](");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str(part.split_once(')').map_or("", |(_, after)| after));
    }
    shown
}

fn document(text: &str, found: &mut Collector) {
    for (index, line) in text.lines().enumerate() {
        found.line(index + 1, line);
    }
}

fn rust(path: &Path, text: &str, found: &mut Collector) {
    let has_messages = path.starts_with("crates")
        && !path.starts_with("crates/synth")
        && path.iter().all(|part| part != "tests" && part != "tests.rs" && part != "benches");
    let first_test = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let mut last_line = 0;
    let mut at = 0;
    for (kind, piece) in pieces(text) {
        match kind {
            PieceKind::Comment => {
                if piece.line != last_line + 1 {
                    found.end();
                    found.is_in_code = false;
                }
                for (index, line) in piece.text.lines().enumerate() {
                    let line = line.trim_start().trim_start_matches(['/', '*', '!']);
                    last_line = piece.line + index;
                    found.line(last_line, line.trim_end_matches("*/"));
                }
            }
            PieceKind::Text if has_messages && at < first_test => {
                found.message(piece.line, piece.text);
            }
            PieceKind::Word => found.end(),
            PieceKind::Text | PieceKind::Blank => {}
        }
        at += piece.text.len();
    }
}

/// Comments that have lines of their own, and the strings of the page.
fn script(path: &Path, text: &str, found: &mut Collector) {
    let has_messages = path.starts_with("crates/web/src");
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        match ["///", "//", "/**", "/*", "*/", "*"].iter().find_map(|it| line.strip_prefix(it)) {
            Some(comment) => found.line(index + 1, comment.trim_end_matches("*/")),
            None => found.end(),
        }
        if has_messages && !line.starts_with(['/', '*']) {
            strings(line).iter().for_each(|string| found.message(index + 1, string));
        }
    }
}

/// The strings of a line of JavaScript, between equal quotes, with the quotes.
fn strings(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        match open {
            _ if is_escaped => is_escaped = false,
            _ if c == '\\' => is_escaped = true,
            Some((start, quote)) if c == quote => {
                found.push(&line[start..=at]);
                open = None;
            }
            None if matches!(c, '"' | '\'' | '`') => open = Some((at, c)),
            _ => {}
        }
    }
    found
}

/// Comments that have lines of their own, and strings in three quotes.
fn python(text: &str, found: &mut Collector) {
    let mut is_in_string = false;
    for (index, line) in text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix('#');
        let quotes = line.matches("\"\"\"").count();
        if is_in_string || quotes > 0 {
            found.line(index + 1, &line.replace("\"\"\"", ""));
        } else if let Some(comment) = comment {
            found.line(index + 1, comment);
        } else {
            found.end();
        }
        is_in_string ^= quotes % 2 == 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, text: &str) -> Vec<(usize, String)> {
        let found = paragraphs(Path::new(name), text);
        found.into_iter().map(|it| (it.line, it.text)).collect()
    }

    fn expected(texts: &[(usize, &str)]) -> Vec<(usize, String)> {
        texts.iter().map(|&(line, text)| (line, text.to_owned())).collect()
    }

    #[test]
    fn comments_and_messages_of_rust() {
        let source = "//! One,\n//! two.\n//!\n//! - three\n\n/// ```\n/// code\n/// ```\n/// `x` four\nlet a = \
                      \"no file was found\"; // five\n#[cfg(test)]\nmod tests {\n    const A: &str = \"this is of a test\";\n}\n";
        let comments = [(1, "One, two."), (4, "- three"), (9, "X four")];
        let in_lab = [&comments[..], &[(10, "five")]].concat();
        assert_eq!(texts("lab/src/a.rs", source), expected(&in_lab));
        let in_crate = [&comments[..], &[(10, "\"no file was found\""), (10, "five")]].concat();
        assert_eq!(texts("crates/a/src/a.rs", source), expected(&in_crate));
    }

    #[test]
    fn paragraphs_items_and_cells_of_documents() {
        let text = "# Title\n\nOne\n[two](a.md) three.\n| a | b `c` |\n1. x\n```\nwhat\n```\n";
        let found =
            [(1, "# Title"), (3, "One [two three."), (5, "a"), (5, "b X"), (5, ""), (6, "1. x")];
        assert_eq!(texts("a.md", text), expected(&found));
    }

    #[test]
    fn strings_of_the_page() {
        let script = "a(\"no file was found\", \"short\", `the ${name} of this file`);\n";
        let found = [(1, "\"no file was found\""), (1, "`the ${name} of this file`")];
        assert_eq!(texts("crates/web/src/a.js", script), expected(&found));
        assert_eq!(texts("crates/web/tests/a.js", script), []);
    }

    #[test]
    fn comments_of_scripts() {
        let script = "/**\n * One.\n */\nlet a; // not this\n// two\n";
        assert_eq!(texts("a.js", script), expected(&[(2, "One."), (5, "two")]));
        let python = "def f():\n    \"\"\"One.\n\n    Two.\n    \"\"\"\n    # three\n";
        assert_eq!(texts("a.py", python), expected(&[(2, "One."), (4, "Two."), (6, "three")]));
    }
}
