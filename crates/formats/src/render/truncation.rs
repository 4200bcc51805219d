//! Truncation of texts that are too long to print in full. A recording or a file can state a name of any length once
//! and use it in every frame.
//!
//! A truncated text ends with `…#` and eight hexadecimal digits of a hash of the whole text.
//! The hash is only a hint for the reader: tables are keyed by the ids of the texts.

use std::borrow::Cow;

use profile::{LONGEST_IN_TABLE, LONGEST_REPEATED};

/// Bytes of the mark: three for the ellipsis, one for `#`, eight digits.
const MARK: usize = 12;

/// Length of the longest escape of one byte: `\u001b`.
const ESCAPE: usize = 6;

/// Appends `text` with `push`, which escapes it. If the result exceeds `most` bytes, appends the longest prefix that
/// leaves space for the mark, then the mark.
pub(crate) fn push_truncated(
    out: &mut Vec<u8>,
    text: &[u8],
    most: usize,
    push: impl Fn(&mut Vec<u8>, &[u8]),
) {
    let start = out.len();
    if text.len() <= most {
        push(out, text);
        if text.len() <= most / ESCAPE || out.len() - start <= most {
            return;
        }
    }
    let (mut fits, mut too_long) = (0, text.len().min(most).saturating_add(1));
    while too_long - fits > 1 {
        let middle = fits + (too_long - fits) / 2;
        out.truncate(start);
        push(out, beginning(text, middle));
        if out.len() - start <= most.saturating_sub(MARK) {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    out.truncate(start);
    push(out, beginning(text, fits));
    push_mark(out, text);
}

/// Truncates a text that is already escaped; returns `None` if it fits into `most` bytes.
pub(crate) fn truncated(text: &[u8], most: usize) -> Option<Box<[u8]>> {
    if text.len() <= most {
        return None;
    }
    let prefix = beginning(text, most.saturating_sub(MARK));
    // Removes a partial escape.
    let tail = prefix.len().saturating_sub(ESCAPE - 1);
    let escape = prefix.iter().skip(tail).rposition(|&byte| byte == b'\\');
    let prefix = escape.map_or(prefix, |at| prefix.get(..tail + at).unwrap_or(prefix));
    let mut out = prefix.to_vec();
    push_mark(&mut out, text);
    Some(out.into())
}

/// Appends a text in a format that repeats it for each function or frame, truncated to [`LONGEST_REPEATED`] bytes.
pub(crate) fn push_repeated(out: &mut Vec<u8>, text: &[u8], push: impl Fn(&mut Vec<u8>, &[u8])) {
    push_truncated(out, text, LONGEST_REPEATED, push);
}

/// Truncates a text to [`LONGEST_REPEATED`] bytes before it is escaped, for responses that repeat it.
#[must_use]
pub fn short_text(text: &[u8]) -> Cow<'_, [u8]> {
    shortened(text, LONGEST_REPEATED)
}

/// Truncates a text to [`LONGEST_IN_TABLE`] bytes before it is escaped, for a table that contains it once.
pub(crate) fn in_table(text: &[u8]) -> Cow<'_, [u8]> {
    shortened(text, LONGEST_IN_TABLE)
}

fn shortened(text: &[u8], most: usize) -> Cow<'_, [u8]> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let mut out = beginning(text, most.saturating_sub(MARK)).to_vec();
    push_mark(&mut out, text);
    Cow::Owned(out)
}

/// Returns a prefix of at most `most` bytes that does not end inside a UTF-8 character.
fn beginning(text: &[u8], most: usize) -> &[u8] {
    let mut end = most.min(text.len());
    for _ in 0..3 {
        let is_inside = text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80);
        if !is_inside || end == 0 {
            break;
        }
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Appends `…#` and the hash of the whole text.
fn push_mark(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice("…#".as_bytes());
    out.extend_from_slice(format!("{:08x}", hash(text)).as_bytes());
}

/// Returns the hash of a text for the mark.
///
/// Source: FNV-1a of 32 bits, draft-eastlake-fnv.
fn hash(text: &[u8]) -> u32 {
    text.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text::push_json;

    fn json(text: &[u8], most: usize) -> String {
        let mut out = b">".to_vec();
        push_truncated(&mut out, text, most, push_json);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn what_is_printed_is_bounded() {
        assert_eq!(hash(b"foobar"), 0xbf9c_f968);
        assert_eq!(json(&[b'a'; 20], 20), format!(">{}", "a".repeat(20)));
        assert_eq!(json(&[b'a'; 21], 20), format!(">{}…#{:08x}", "a".repeat(8), hash(&[b'a'; 21])));
        // Escapes count, and none is split.
        assert_eq!(json(b"a\x1b\x1b", 13), r">a\u001b\u001b");
        let escapes = b"a\x1b\x1b\x1b";
        assert_eq!(json(escapes, 18), format!(">a…#{:08x}", hash(escapes)));
        let umlauts = "äöü€".repeat(9);
        assert_eq!(json(umlauts.as_bytes(), 20), format!(">äöü…#{:08x}", hash(umlauts.as_bytes())));
        let long = vec![0x1b; 65_000];
        let text = json(&long, 4096);
        assert_eq!(text.len(), 1 + 680 * 6 + MARK);
    }

    #[test]
    fn escaped_texts_are_cut_between_escapes() {
        let text_of = |text: &[u8], most| {
            truncated(text, most).map(|it| String::from_utf8_lossy(&it).into_owned())
        };
        assert_eq!(text_of(b"abc", 3), None);
        let text = br"abcdefgh\x1bxyzxyzxyzxyz";
        assert_eq!(text_of(text, 22), Some(format!("abcdefgh…#{:08x}", hash(text))));
        assert_eq!(text_of(text, 20), Some(format!("abcdefgh…#{:08x}", hash(text))));
    }
}
