//! The position in a mangled name, and the remaining budget of its parsing.

/// Limit on the nesting of names, types and values.
const MAX_NESTING: u32 = 96;
/// Limit on the steps and output bytes of a name, for each of its bytes, plus a minimum. For 18,000 names in use, half
/// of it is enough.
const WORK_PER_BYTE: usize = 128;
const LEAST_WORK: usize = 1 << 10;

/// A mangled name without its `_D`, and the current position.
pub(super) struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    nesting: u32,
    left: usize,
    pub(super) short: bool,
}

impl<'a> Parser<'a> {
    pub(super) const fn new(bytes: &'a [u8], short: bool) -> Self {
        let left = bytes.len().saturating_mul(WORK_PER_BYTE).saturating_add(LEAST_WORK);
        Self { bytes, at: 0, nesting: 0, left, short }
    }

    pub(super) const fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) const fn seek(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The whole name.
    pub(super) const fn all(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Skips `text` if it is next; returns true if so.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Returns the next bytes, as text.
    pub(super) fn take(&mut self, len: usize) -> Option<&'a str> {
        let taken = self.rest().get(..len)?;
        self.at += len;
        std::str::from_utf8(taken).ok()
    }

    /// Parses a decimal number.
    pub(super) fn number(&mut self) -> Option<usize> {
        let digits = self.digits()?;
        digits.parse().ok()
    }

    /// Parses the digits of a decimal number.
    pub(super) fn digits(&mut self) -> Option<&'a str> {
        let len = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if len == 0 { None } else { self.take(len) }
    }

    /// Appends to a text, within the budget.
    pub(super) fn put(&mut self, out: &mut String, part: &str) -> Option<()> {
        self.left = self.left.checked_sub(part.len() + 1)?;
        out.push_str(part);
        Some(())
    }

    /// Parses a nested part, within the limits.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        self.nesting += 1;
        let found = if self.nesting > MAX_NESTING { None } else { read(self) };
        self.nesting -= 1;
        found
    }

    /// Parses at the target of a back reference (`Q` and a number), and continues after the reference.
    ///
    /// Source: the D specification, `NumberBackRef`: base 26, the last digit in lower case, relative to the `Q`.
    pub(super) fn referred<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let from = self.at;
        self.eat(b"Q").then_some(())?;
        let mut back = 0_usize;
        loop {
            let digit = self.next()?;
            back = back.checked_mul(26)?;
            match digit {
                b'A'..=b'Z' => back += usize::from(digit - b'A'),
                b'a'..=b'z' => {
                    back += usize::from(digit - b'a');
                    break;
                }
                _ => return None,
            }
        }
        let to = from.checked_sub(back).filter(|&to| to < from)?;
        let after = std::mem::replace(&mut self.at, to);
        let found = self.nested(read);
        self.at = after;
        found
    }
}
