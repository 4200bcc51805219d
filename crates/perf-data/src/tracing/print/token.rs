//! Tokens of a `print fmt`.

use budget::Meter;

/// Longest operator: `->`, `<<`, `==` and others of two characters.
const OPERATORS: [&[u8]; 9] = [b"->", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||"];

/// Token of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// Name of a field, function, constant or type.
    Name(&'t [u8]),
    /// Number with its prefix and suffix.
    Number(&'t [u8]),
    /// Content of a string literal, with its escapes.
    Text(&'t [u8]),
    /// Content of a character literal, with its escapes.
    Character(&'t [u8]),
    /// Operator or delimiter.
    Operator(&'t [u8]),
}

impl Token<'_> {
    /// Returns true if the token is this operator or delimiter.
    pub(super) fn is(&self, operator: &[u8]) -> bool {
        matches!(self, Self::Operator(found) if *found == operator)
    }
}

/// Returns the tokens of a text; `None` if a literal does not end, or the meter runs out.
pub(super) fn tokens<'t>(text: &'t [u8], meter: &Meter) -> Option<Vec<Token<'t>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_ascii();
    while let Some(&first) = rest.first() {
        meter.hold(size_of::<Token<'_>>()).ok()?;
        let length = match first {
            b'"' | b'\'' => literal_length(rest, first)?,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => word_length(rest),
            _ if OPERATORS.iter().any(|operator| rest.starts_with(operator)) => 2,
            _ => 1,
        };
        meter.steps(length as u64).ok()?;
        let (token, after) = rest.split_at_checked(length)?;
        let content = || token.get(1..length.checked_sub(1)?);
        tokens.push(match first {
            b'"' => Token::Text(content()?),
            b'\'' => Token::Character(content()?),
            b'0'..=b'9' => Token::Number(token),
            _ if is_word(first) => Token::Name(token),
            _ => Token::Operator(token),
        });
        rest = after.trim_ascii_start();
    }
    Some(tokens)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word_length(text: &[u8]) -> usize {
    text.iter().position(|&byte| !is_word(byte)).unwrap_or(text.len())
}

/// Returns the length of a literal with its quotation marks.
fn literal_length(text: &[u8], quote: u8) -> Option<usize> {
    let mut is_escaped = false;
    for (at, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Appends the content of a literal with its escapes replaced. Characters without a special meaning stand for themselves.
pub(super) fn unescape(literal: &[u8], out: &mut Vec<u8>) {
    let mut bytes = literal.iter();
    while let Some(&byte) = bytes.next() {
        let byte = match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(&escaped) => escaped,
                None => b'\\',
            },
            byte => byte,
        };
        out.push(byte);
    }
}
