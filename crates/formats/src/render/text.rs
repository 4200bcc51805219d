//! Numbers, addresses and names appended to a buffer, without the cost of `std::fmt`.

/// Appends a decimal number.
#[inline]
pub(crate) fn push_number(out: &mut Vec<u8>, number: impl itoa::Integer + Copy + TryInto<u64>) {
    match number.try_into() {
        Ok(number) => push_decimal(out, number),
        Err(_) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
}

/// Bound for numbers of at most eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;

/// Appends a decimal number. Tables have millions of them, nearly all short.
#[inline]
fn push_decimal(out: &mut Vec<u8>, number: u64) {
    if number < 10 {
        out.push(b'0' + number as u8);
    } else if number < EIGHT_DIGITS {
        let digits = decimal_digits(number as u32);
        let zeros = digits.trailing_zeros() / 8;
        // Appending eight bytes and truncating is faster than copying a few bytes.
        let end = out.len() + (8 - zeros) as usize;
        out.extend_from_slice(&((digits + ASCII_ZEROS) >> (8 * zeros)).to_le_bytes());
        out.truncate(end);
    } else {
        push_decimal(out, number / EIGHT_DIGITS);
        let digits = decimal_digits((number % EIGHT_DIGITS) as u32);
        out.extend_from_slice(&(digits + ASCII_ZEROS).to_le_bytes());
    }
}

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns the eight decimal digits of a number below 100,000,000, the first in the lowest byte.
#[inline]
const fn decimal_digits(number: u32) -> u64 {
    // SIMD within a register: splits into halves, quarters and eighths, each by a multiplication and a shift.
    let halves = (number / 10_000) as u64 | ((number % 10_000) as u64) << 32;
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = hundreds | (halves - 100 * hundreds) << 16;
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (quarters - 10 * tens) << 8
}

/// Appends a decimal number, padded with spaces on the left to `width`.
pub(crate) fn push_number_right(out: &mut Vec<u8>, number: impl itoa::Integer, width: usize) {
    push_right(out, itoa::Buffer::new().format(number).as_bytes(), width);
}

/// Appends `text`, padded with spaces on the left to `width`.
pub(crate) fn push_right(out: &mut Vec<u8>, text: &[u8], width: usize) {
    out.resize(out.len() + width.saturating_sub(text.len()), b' ');
    out.extend_from_slice(text);
}

/// Returns sixteen lower-case hexadecimal digits of `value`, and the number of leading zeros (15 for 0).
#[inline]
fn hex_digits(value: u64) -> ([u8; 16], usize) {
    // Eight digits at once: spread the nibbles of each half over a word, then add '0', or 'a' - 10 for nibbles above 9.
    let digits = |half: u32| -> [u8; 8] {
        let mut word = u64::from(half);
        word = (word | word << 16) & 0x0000_ffff_0000_ffff;
        word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
        word = (word | word << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        let above_nine = ((word + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
        (word + 0x3030_3030_3030_3030 + above_nine * u64::from(b'a' - b'0' - 10)).to_be_bytes()
    };
    let mut text = [0; 16];
    text[..8].copy_from_slice(&digits((value >> 32) as u32));
    text[8..].copy_from_slice(&digits(value as u32));
    (text, ((value | 1).leading_zeros() / 4) as usize)
}

/// Appends lower-case hexadecimal digits without leading zeros and without `0x`.
#[inline]
pub(crate) fn push_hex(out: &mut Vec<u8>, value: u64) {
    let (digits, zeros) = hex_digits(value);
    out.extend_from_slice(&digits[zeros..]);
}

/// Appends hexadecimal digits without `0x`, padded with spaces on the left to 16.
#[inline]
pub(crate) fn push_hex_right(out: &mut Vec<u8>, value: u64) {
    let (mut digits, zeros) = hex_digits(value);
    digits[..zeros].fill(b' ');
    out.extend_from_slice(&digits);
}

/// Returns true if the byte is printable ASCII that needs no escaping in a JSON string.
const fn is_plain_json(byte: u8) -> bool {
    matches!(byte, b' '..0x7f) && byte != b'"' && byte != b'\\'
}

/// Appends `text` as the contents of a JSON string. Bytes that are not UTF-8 become U+FFFD, one for each maximal prefix
/// of a character.
pub(crate) fn push_json(out: &mut Vec<u8>, text: &[u8]) {
    if text.iter().all(|&byte| is_plain_json(byte)) {
        out.extend_from_slice(text);
        return;
    }
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(at) = rest.bytes().position(|byte| !is_plain_json(byte)) {
            let (plain, other) = rest.split_at(at);
            out.extend_from_slice(plain.as_bytes());
            let mut chars = other.chars();
            chars.by_ref().take(1).for_each(|char| push_json_char(out, char));
            rest = chars.as_str();
        }
        out.extend_from_slice(rest.as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

/// Appends a character that a JSON string may have to escape.
fn push_json_char(out: &mut Vec<u8>, char: char) {
    match char {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\0'..' ' | '\x7f' => push_char_escape(out, char),
        char if is_misleading(char) => push_char_escape(out, char),
        char => push_char(out, char),
    }
}

/// Returns true if a non-ASCII character changes how a terminal or a browser shows other characters.
/// These are the control characters of ISO 6429 (C1), marks that change the text direction, and line separators.
///
/// Source: Unicode Standard Annex 9, explicit formatting characters; Unicode Technical Report 36, 2.10.
#[must_use]
pub const fn is_misleading(char: char) -> bool {
    matches!(
        char,
        '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// Appends `text` on a line for people or programs. Control characters become `\n`, `\r`, `\t` or `\x` and two
/// hexadecimal digits; characters that are [`is_misleading`] become `\u` and four. Other bytes are unchanged. A name
/// can therefore neither end a line nor control a terminal.
pub fn push_line_safe(out: &mut Vec<u8>, text: &[u8]) {
    if text.iter().all(|byte| (b' '..0x7f).contains(byte)) {
        out.extend_from_slice(text);
        return;
    }
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\n' => out.extend_from_slice(b"\\n"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\0'..' ' | '\x7f' => push_byte_escape(out, char as u8),
                char if is_misleading(char) => push_char_escape(out, char),
                char => push_char(out, char),
            }
        }
        for &byte in chunk.invalid() {
            // A terminal without UTF-8 interprets these as control characters.
            if matches!(byte, 0x80..=0x9f) { push_byte_escape(out, byte) } else { out.push(byte) }
        }
    }
}

fn push_char(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Appends `\u` and four hexadecimal digits, for characters of the basic multilingual plane.
fn push_char_escape(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(b"\\u");
    for byte in (char as u32 as u16).to_be_bytes() {
        push_hex_byte(out, byte);
    }
}

/// Appends `\x` and two hexadecimal digits.
pub(crate) fn push_byte_escape(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(b"\\x");
    push_hex_byte(out, byte);
}

/// Appends two hexadecimal digits.
pub(crate) fn push_hex_byte(out: &mut Vec<u8>, byte: u8) {
    let (digits, _) = hex_digits(u64::from(byte));
    out.extend_from_slice(&digits[14..]);
}

/// Appends a name as part of a folded line. The format has no escaping, and a `;` in a name would split the frame.
/// It becomes a `:`, as in the common collapse programs.
pub(crate) fn push_label(out: &mut Vec<u8>, name: &[u8]) {
    if name.is_empty() {
        out.extend_from_slice(b"[unknown]");
        return;
    }
    let start = out.len();
    push_line_safe(out, name);
    out.iter_mut().skip(start).filter(|byte| **byte == b';').for_each(|byte| *byte = b':');
}

/// Appends the label of a function without a name: the file name of its module in brackets.
pub(crate) fn push_module_label(out: &mut Vec<u8>, path: &[u8]) {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    if path.is_empty() || path.starts_with(b"[") {
        push_label(out, path);
        return;
    }
    out.push(b'[');
    push_label(out, name);
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn hex_is_what_the_formatter_writes() {
        let samples = [
            0,
            1,
            9,
            10,
            15,
            16,
            0x9a,
            0xdead_beef,
            0x1234_5678_9abc_def0,
            1 << 32,
            1 << 63,
            u64::MAX,
        ];
        for value in samples {
            assert_eq!(written(|out| push_hex(out, value)), format!("{value:x}"));
            assert_eq!(written(|out| push_hex_right(out, value)), format!("{value:16x}"));
        }
        for value in 0..=255_u8 {
            assert_eq!(written(|out| push_hex_byte(out, value)), format!("{value:02x}"));
        }
    }

    #[test]
    fn decimal_is_what_the_formatter_writes() {
        let near = |n: u64| (n.saturating_sub(2)..=n.saturating_add(2)).collect::<Vec<_>>();
        let powers = (0..20).flat_map(|power| near(10_u64.pow(power)));
        let steps = (0..100_000_000).step_by(9_973);
        for value in powers.chain(steps).chain(0..20_000).chain([u64::MAX, u64::MAX - 1]) {
            assert_eq!(written(|out| push_number(out, value)), format!("{value}"));
        }
        assert_eq!(written(|out| push_number(out, u128::MAX)), format!("{}", u128::MAX));
        assert_eq!(written(|out| push_number(out, i64::MIN)), format!("{}", i64::MIN));
    }

    #[test]
    fn numbers_are_padded() {
        assert_eq!(written(|out| push_number(out, -1)), "-1");
        assert_eq!(written(|out| push_number_right(out, 42, 5)), "   42");
        assert_eq!(written(|out| push_number_right(out, 123_456, 5)), "123456");
    }

    #[test]
    fn json_escapes() {
        let json = |text: &[u8]| written(|out| push_json(out, text));
        assert_eq!(
            json(b"operator<< \"x\" \\ \n\r\t\x01\x7f"),
            r#"operator<< \"x\" \\ \n\r\t\u0001\u007f"#
        );
        assert_eq!(json("größe ∀".as_bytes()), "größe ∀");
        assert_eq!(json("a\u{9b}1m\u{202e}b\u{2028}".as_bytes()), r"a\u009b1m\u202eb\u2028");
        assert_eq!(json(b"a\xffb\xe2\x82c\xf0\x9f\x98"), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(
            written(|out| push_line_safe(out, b"a\nb\tc\rd\x1b[m\x7f e")),
            "a\\nb\\tc\\rd\\x1b[m\\x7f e"
        );
        assert_eq!(
            written(|out| push_line_safe(out, "größe \u{9b}31m\u{61c}\u{2067}x\u{49b}".as_bytes())),
            "größe \\u009b31m\\u061c\\u2067x\u{49b}"
        );
        let mut out = Vec::new();
        push_line_safe(&mut out, b"\xff;\x9b31m\xc2");
        assert_eq!(out, b"\xff;\\x9b31m\xc2");
    }
}
