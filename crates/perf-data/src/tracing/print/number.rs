//! Numbers and texts as `printf` prints them, in output of bounded size.

use super::template::{Conversion, Extent};

/// Output of one sample.
#[derive(Debug)]
pub(super) struct Output {
    text: Vec<u8>,
    most: usize,
}

/// A conversion with the values of its width and precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'c> {
    pub(super) conversion: &'c Conversion,
    pub(super) width: usize,
    pub(super) is_left: bool,
    pub(super) precision: Option<usize>,
}

impl Output {
    /// Creates output of at most `most` bytes.
    pub(super) const fn new(most: usize) -> Self {
        Self { text: Vec::new(), most }
    }

    /// Returns the output.
    pub(super) fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Appends bytes; `None` if there are too many.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<()> {
        let length = self.text.len().checked_add(bytes.len())?;
        (length <= self.most).then(|| self.text.extend_from_slice(bytes))
    }

    /// Appends a byte several times.
    fn fill(&mut self, byte: u8, count: usize) -> Option<()> {
        let length = self.text.len().checked_add(count)?;
        (length <= self.most).then(|| self.text.resize(length, byte))
    }

    /// Appends a text with padding. Precision limits its length.
    pub(super) fn text(&mut self, text: &[u8], layout: Layout<'_>) -> Option<()> {
        let length = layout.precision.map_or(text.len(), |most| most.min(text.len()));
        let text = text.get(..length)?;
        self.padded(b"", 0, text, layout)
    }

    /// Appends a number.
    pub(super) fn number(&mut self, value: u64, layout: Layout<'_>) -> Option<()> {
        let conversion = layout.conversion;
        let bits = 64_usize.saturating_sub(8 * conversion.size) as u32;
        let narrow = value.wrapping_shl(bits).wrapping_shr(bits);
        if conversion.letter == b'c' {
            let text: &[u8] = if value as u8 == 0 { b"" } else { &[value as u8] };
            return self.padded(b"", 0, text, layout);
        }
        let signed = (value.wrapping_shl(bits) as i64).wrapping_shr(bits);
        let mut digits = match conversion.letter {
            b'd' => signed.unsigned_abs().to_string(),
            b'x' => format!("{narrow:x}"),
            b'X' => format!("{narrow:X}"),
            b'o' => format!("{narrow:o}"),
            _ => narrow.to_string(),
        };
        let sign: &[u8] = match conversion.letter {
            b'd' if signed < 0 => b"-",
            b'd' if conversion.has_plus => b"+",
            b'd' if conversion.has_space => b" ",
            b'x' if conversion.has_prefix && narrow != 0 => b"0x",
            b'X' if conversion.has_prefix && narrow != 0 => b"0X",
            b'o' if conversion.has_prefix && narrow != 0 => b"0",
            _ => b"",
        };
        let zeros = match layout.precision {
            Some(0) if narrow == 0 => {
                digits.clear();
                0
            }
            Some(least) => least.saturating_sub(digits.len()),
            None if conversion.has_zeros && !layout.is_left => {
                layout.width.saturating_sub(sign.len() + digits.len())
            }
            None => 0,
        };
        self.padded(sign, zeros, digits.as_bytes(), layout)
    }

    /// Appends a sign, zeros and a text, with spaces up to the width.
    fn padded(&mut self, sign: &[u8], zeros: usize, text: &[u8], layout: Layout<'_>) -> Option<()> {
        let length = (sign.len() + text.len()).saturating_add(zeros);
        let padding = layout.width.saturating_sub(length);
        if !layout.is_left {
            self.fill(b' ', padding)?;
        }
        self.push(sign)?;
        self.fill(b'0', zeros)?;
        self.push(text)?;
        if layout.is_left { self.fill(b' ', padding) } else { Some(()) }
    }
}

impl Extent {
    /// Returns the width or precision; arguments are taken from `next`.
    pub(super) fn value(self, next: impl FnOnce() -> Option<u64>) -> Option<Option<i32>> {
        Some(match self {
            Self::None => None,
            Self::Fixed(number) => Some(i32::try_from(number).ok()?),
            Self::Argument => Some(next()? as i32),
        })
    }
}
