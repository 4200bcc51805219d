//! The format string of a `print fmt`: literals and conversions.
//!
//! Source: `printf(3)`; `Documentation/core-api/printk-formats.rst` for pointers.

use super::token::unescape;

/// Largest width and precision; more is refused.
const MOST_WIDTH: usize = 4096;

/// Part of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(Box<[u8]>),
    Conversion(Conversion),
}

/// Conversion of an argument. Widths and precisions that are `*` take an argument before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conversion {
    pub(super) is_left: bool,
    pub(super) has_zeros: bool,
    pub(super) has_prefix: bool,
    pub(super) has_plus: bool,
    pub(super) has_space: bool,
    pub(super) width: Extent,
    pub(super) precision: Extent,
    /// Size of the number in bytes.
    pub(super) size: usize,
    /// `d`, `u`, `x`, `X`, `o`, `c`, `s` or `p`.
    pub(super) letter: u8,
    /// Letters after `p`.
    pub(super) suffix: Box<[u8]>,
}

/// Width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    None,
    Fixed(usize),
    Argument,
}

/// Parses a format string; `None` if it has an unknown conversion.
pub(super) fn pieces(text: &[u8]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        if let Some(after) = rest.strip_prefix(b"%%") {
            literal.push(b'%');
            rest = after;
        } else if byte == b'%' {
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal).into()));
            }
            let mut cursor = Cursor { rest: rest.get(1..)? };
            pieces.push(Piece::Conversion(cursor.conversion()?));
            rest = cursor.rest;
        } else {
            // An escape is two characters.
            let length = if byte == b'\\' { 2.min(rest.len()) } else { 1 };
            let (part, after) = rest.split_at_checked(length)?;
            unescape(part, &mut literal);
            rest = after;
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal.into()));
    }
    Some(pieces)
}

struct Cursor<'t> {
    rest: &'t [u8],
}

impl Cursor<'_> {
    fn take(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.rest.first() == Some(&byte);
        if is_next {
            self.take();
        }
        is_next
    }

    fn conversion(&mut self) -> Option<Conversion> {
        let mut it = Conversion {
            is_left: false,
            has_zeros: false,
            has_prefix: false,
            has_plus: false,
            has_space: false,
            width: Extent::None,
            precision: Extent::None,
            size: 4,
            letter: 0,
            suffix: Box::default(),
        };
        while let Some(&flag) = self.rest.first() {
            match flag {
                b'-' => it.is_left = true,
                b'0' => it.has_zeros = true,
                b'#' => it.has_prefix = true,
                b'+' => it.has_plus = true,
                b' ' => it.has_space = true,
                _ => break,
            }
            self.take();
        }
        it.width = self.extent()?;
        if self.skip(b'.') {
            it.precision = match self.extent()? {
                Extent::None => Extent::Fixed(0),
                given => given,
            };
        }
        it.size = self.size();
        it.letter = match self.take()? {
            b'i' => b'd',
            letter @ (b'd' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'p') => letter,
            _ => return None,
        };
        if it.letter == b'p' {
            it.suffix = self.suffix().into();
        }
        Some(it)
    }

    fn extent(&mut self) -> Option<Extent> {
        if self.skip(b'*') {
            return Some(Extent::Argument);
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Some(Extent::None);
        }
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        (number <= MOST_WIDTH).then_some(Extent::Fixed(number))
    }

    /// Reads the letters for the size of a number. A `long` has 64 bits here, as values are extended with zeros.
    fn size(&mut self) -> usize {
        let mut size = 4;
        while let Some(letter) = self.rest.first() {
            size = match letter {
                b'h' if size == 2 => 1,
                b'h' => 2,
                b'l' | b'L' | b'q' | b'j' | b'z' | b'Z' | b't' => 8,
                _ => break,
            };
            self.take();
        }
        size
    }

    /// Reads the letters after `p`.
    fn suffix(&mut self) -> Vec<u8> {
        let mut suffix = Vec::new();
        let more: &[&[u8]] = match self.rest.first() {
            Some(b'F' | b'f' | b'S' | b's' | b'K' | b'x') => &[],
            Some(b'M' | b'm') => &[b"RF", b"R"],
            Some(b'U') => &[b"LlBb"],
            Some(b'h') => &[b"CDN"],
            Some(b'b') => &[b"l"],
            Some(b'I' | b'i') => match self.rest.get(1) {
                Some(b'4') => &[b"4", b"hnlb"],
                Some(b'6') => &[b"6", b"c"],
                Some(b'S') => &[b"S", b"pfsc", b"pfsc", b"pfsc", b"hnlb"],
                _ => return suffix,
            },
            _ => return suffix,
        };
        suffix.extend(self.take());
        for letters in more {
            if let Some(letter) = self.rest.first().filter(|letter| letters.contains(letter)) {
                suffix.push(*letter);
                self.take();
            }
        }
        suffix
    }
}
