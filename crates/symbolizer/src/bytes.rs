//! A cursor over bytes of either byte order. Reads past the end return `None`; nothing here panics.

use budget::{Allowance, Exhausted};

/// A position in a byte slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteCursor<'a> {
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
}

impl<'a> ByteCursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8], at: usize, big_endian: bool) -> Self {
        Self { bytes, at, big_endian }
    }

    /// Offset from the start of the bytes.
    #[inline]
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) const fn seek(&mut self, at: usize) {
        self.at = at;
    }

    #[inline]
    pub(crate) fn skip(&mut self, len: u64) -> Option<()> {
        let at = (self.at as u64).checked_add(len)?;
        if at > self.bytes.len() as u64 {
            return None;
        }
        self.at = at as usize;
        Some(())
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let array = *self.bytes.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(array)
    }

    /// Returns the next bytes without advancing.
    #[inline]
    pub(crate) fn peek<const N: usize>(&self) -> Option<[u8; N]> {
        self.bytes.get(self.at..)?.first_chunk::<N>().copied()
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Option<u16> {
        let raw = self.array()?;
        Some(if self.big_endian { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) })
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        let raw = self.array()?;
        Some(if self.big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) })
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        let raw = self.array()?;
        Some(if self.big_endian { u64::from_be_bytes(raw) } else { u64::from_le_bytes(raw) })
    }

    /// Reads an unsigned number of 1, 2, 3, 4 or 8 bytes.
    #[inline]
    pub(crate) fn uint(&mut self, size: u8) -> Option<u64> {
        match size {
            1 => self.u8().map(u64::from),
            2 => self.u16().map(u64::from),
            4 => self.u32().map(u64::from),
            8 => self.u64(),
            3 => {
                let [a, b, c] = self.array()?;
                let raw = if self.big_endian { [0, a, b, c] } else { [0, c, b, a] };
                Some(u64::from(u32::from_be_bytes(raw)))
            }
            _ => None,
        }
    }

    /// Reads an unsigned LEB128 number; bits above 64 are dropped.
    #[inline]
    pub(crate) fn uleb(&mut self) -> Option<u64> {
        // Nearly all have one or two bytes.
        match *self.bytes.get(self.at..)? {
            [first, ..] if first < 0x80 => {
                self.at += 1;
                Some(u64::from(first))
            }
            [first, second, ..] if second < 0x80 => {
                self.at += 2;
                Some(u64::from(first & 0x7f) | u64::from(second) << 7)
            }
            _ => {
                let (value, at) = self.long_uleb()?;
                self.at = at;
                Some(value)
            }
        }
    }

    /// Returns a number of any length, and the offset of its end.
    #[cold]
    fn long_uleb(mut self) -> Option<(u64, usize)> {
        let (mut value, mut shift) = (0, 0_u32);
        loop {
            let byte = self.u8()?;
            if shift < 64 {
                value |= u64::from(byte & 0x7f) << shift;
            }
            shift = shift.saturating_add(7);
            if byte < 0x80 {
                return Some((value, self.at));
            }
        }
    }

    /// Reads a signed LEB128 number; bits above 64 are dropped.
    #[inline]
    pub(crate) fn sleb(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        let mut shift = 0_u32;
        loop {
            let byte = self.u8()?;
            if shift < 64 {
                value |= u64::from(byte & 0x7f) << shift;
            }
            shift = shift.saturating_add(7);
            if byte < 0x80 {
                if shift < 64 && byte & 0x40 != 0 {
                    value |= u64::MAX << shift;
                }
                return Some(value.cast_signed());
            }
        }
    }

    #[inline]
    pub(crate) fn skip_leb(&mut self) -> Option<()> {
        while self.u8()? >= 0x80 {}
        Some(())
    }

    /// Returns the bytes up to a NUL, and advances past it.
    #[inline]
    pub(crate) fn c_string(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let len = find_nul(rest)?;
        self.at += len + 1;
        rest.get(..len)
    }
}

/// A string with a possibly unknown end. Many strings may share one long tail, and scanning it for each would be too
/// expensive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameText<'a> {
    /// The string, or all bytes from its start if its end is unknown.
    bytes: &'a [u8],
    is_open: bool,
}

impl<'a> NameText<'a> {
    /// Length up to which the end is searched immediately, in bytes.
    const SHORT: usize = 4096;

    /// A complete string.
    pub(crate) const fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, is_open: false }
    }

    /// Returns the string at `offset`; `None` if it is outside the section.
    pub(crate) fn at(section: &'a [u8], offset: u64) -> Option<Self> {
        let rest = section.get(usize::try_from(offset).ok()?..)?;
        let near = rest.get(..Self::SHORT).unwrap_or(rest);
        match find_nul(near) {
            Some(end) => Some(Self::whole(near.get(..end)?)),
            None if near.len() < rest.len() => Some(Self { bytes: rest, is_open: true }),
            None => None,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        !self.is_open && self.bytes.is_empty()
    }

    /// Returns the string if its end was found immediately. Paths and names for look-ups are not longer.
    pub(crate) fn short(self) -> Option<&'a [u8]> {
        (!self.is_open).then_some(self.bytes)
    }

    /// Returns the string and takes its bytes from the allowance; `None` if it has no end.
    ///
    /// # Errors
    /// If the allowance has fewer bytes left.
    pub(crate) fn take(self, bytes: &mut Allowance) -> Result<Option<&'a [u8]>, Exhausted> {
        if !self.is_open {
            return bytes.take(self.bytes.len() as u64).map(|()| Some(self.bytes));
        }
        let most = usize::try_from(bytes.left()).unwrap_or(usize::MAX).min(self.bytes.len());
        let within = self.bytes.get(..most).unwrap_or_default();
        match memchr::memchr(0, within) {
            Some(end) => bytes.take(end as u64).map(|()| within.get(..end)),
            None => bytes.take(self.bytes.len() as u64).map(|()| None),
        }
    }
}

/// Returns the bytes from `offset` to the next NUL.
pub(crate) fn c_string_at(bytes: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = bytes.get(usize::try_from(offset).ok()?..)?;
    rest.get(..find_nul(rest)?)
}

/// Returns the position of the first NUL, testing eight bytes at a time. It is inlined because names are short; a call
/// of `memchr` pays off for long searches.
#[inline]
fn find_nul(bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let zeros = word.wrapping_sub(LOW) & !word & (LOW << 7);
        if zeros != 0 {
            return Some(index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&byte| byte == 0).map(|at| words.len() * 8 + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_ends() {
        let mut cursor = ByteCursor::new(&[0xe5, 0x8e, 0x26, 0x80, 0x7f, 1, 2, 3, 0x40], 0, false);
        assert_eq!(cursor.uleb(), Some(624_485));
        assert_eq!(cursor.sleb(), Some(-128));
        assert_eq!(cursor.uint(3), Some(0x03_02_01));
        assert_eq!(cursor.sleb(), Some(-64));
        assert_eq!(
            (cursor.u8(), cursor.uleb(), cursor.u64(), cursor.skip(1)),
            (None, None, None, None)
        );
        assert_eq!(ByteCursor::new(&[0x80], 0, false).uleb(), None);
        assert_eq!(ByteCursor::new(&[1, 2, 3], 0, true).uint(3), Some(0x01_02_03));
    }

    #[test]
    fn strings_end_at_the_first_nul() {
        let bytes = b"abcdefghij\0klm\0\0x";
        assert_eq!(c_string_at(bytes, 0), Some(&b"abcdefghij"[..]));
        assert_eq!(c_string_at(bytes, 11), Some(&b"klm"[..]));
        assert_eq!(c_string_at(bytes, 15), Some(&b""[..]));
        assert_eq!((c_string_at(bytes, 16), c_string_at(bytes, 99)), (None, None));
    }
}
