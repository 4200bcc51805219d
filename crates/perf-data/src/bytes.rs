//! Reads of single fields, at natural width, in the byte order of the recording machine.
//! Records are not swapped in place, and a read cannot leave its slice.

use std::ffi::CStr;

/// Byte order of the recording machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Endian {
    /// Least significant byte first: x86, arm, riscv, loongarch.
    Little,
    /// Most significant byte first: s390x, older ppc64, some mips.
    Big,
}

impl Endian {
    /// Decodes two bytes.
    #[must_use]
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        let value = u16::from_le_bytes(bytes);
        if self == Self::Big { value.swap_bytes() } else { value }
    }

    /// Decodes four bytes.
    #[must_use]
    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        let value = u32::from_le_bytes(bytes);
        if self == Self::Big { value.swap_bytes() } else { value }
    }

    /// Decodes eight bytes.
    #[must_use]
    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        let value = u64::from_le_bytes(bytes);
        if self == Self::Big { value.swap_bytes() } else { value }
    }

    /// Returns the number in the four bytes at `at`; `None` if they leave `bytes`.
    #[must_use]
    pub fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        bytes.get(at..)?.first_chunk().map(|chunk| self.u32(*chunk))
    }

    /// Returns the number in the eight bytes at `at`; `None` if they leave `bytes`.
    #[must_use]
    pub fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        bytes.get(at..)?.first_chunk().map(|chunk| self.u64(*chunk))
    }
}

/// Reader for the fields of a slice in a byte order. At the end a read returns `None` and does not advance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldReader<'d> {
    rest: &'d [u8],
    endian: Endian,
}

impl<'d> FieldReader<'d> {
    /// Creates a reader at the first byte.
    pub(crate) fn new(bytes: &'d [u8], endian: Endian) -> Self {
        Self { rest: bytes, endian }
    }

    /// Byte order of the reads.
    pub(crate) fn endian(&self) -> Endian {
        self.endian
    }

    /// Bytes not yet read.
    pub(crate) fn rest(&self) -> &'d [u8] {
        self.rest
    }

    /// Number of bytes not yet read.
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Reads `len` bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, len: usize) -> Option<&'d [u8]> {
        let (head, tail) = self.rest.split_at_checked(len)?;
        self.rest = tail;
        Some(head)
    }

    /// Reads `len` bytes, a length from the input.
    pub(crate) fn bytes_u64(&mut self, len: u64) -> Option<&'d [u8]> {
        self.bytes(usize::try_from(len).ok()?)
    }

    #[inline]
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.rest.split_first_chunk()?;
        self.rest = tail;
        Some(*head)
    }

    /// Reads one byte.
    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.chunk::<1>().map(|[byte]| byte)
    }

    /// Reads a two-byte number.
    #[inline]
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.chunk().map(|chunk| self.endian.u16(chunk))
    }

    /// Reads a four-byte number.
    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.chunk().map(|chunk| self.endian.u32(chunk))
    }

    /// Reads a signed four-byte number.
    #[inline]
    pub(crate) fn i32(&mut self) -> Option<i32> {
        self.u32().map(u32::cast_signed)
    }

    /// Reads an eight-byte number.
    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.chunk().map(|chunk| self.endian.u64(chunk))
    }

    /// Skips `count` eight-byte numbers and returns them undecoded.
    pub(crate) fn words(&mut self, count: u64) -> Option<Words<'d>> {
        let bytes = self.bytes_u64(count.checked_mul(8)?)?;
        Some(Words { bytes, endian: self.endian })
    }

    /// Reads a string of a feature section: a u32 length and that many bytes, truncated at the first NUL.
    ///
    /// Source: `tools/perf/util/header.c`, `do_write_string`.
    pub(crate) fn string(&mut self) -> Option<&'d [u8]> {
        let mut next = *self;
        let len = next.u32()?;
        let bytes = next.bytes_u64(len.into())?;
        *self = next;
        Some(until_nul(bytes))
    }
}

/// Returns the bytes before the first NUL, or all of them.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes)
}

/// List of u64 in the recording, decoded on access.
#[derive(Clone, Copy, Debug)]
pub struct Words<'d> {
    bytes: &'d [u8],
    endian: Endian,
}

impl<'d> Words<'d> {
    /// Creates a list of the words in these bytes; bytes after the last whole word are ignored.
    pub(crate) fn new(bytes: &'d [u8], endian: Endian) -> Self {
        Self { bytes: &bytes[..bytes.len() & !7], endian }
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// Returns true if there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the word at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<u64> {
        self.endian.u64_at(self.bytes, index.checked_mul(8)?)
    }

    /// Returns all words in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + use<'d> {
        let endian = self.endian;
        let (words, _) = self.bytes.as_chunks::<8>();
        words.iter().map(move |&word| endian.u64(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_byte_orders() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        let mut little = FieldReader::new(&bytes, Endian::Little);
        assert_eq!(little.u16(), Some(0x0201));
        assert_eq!(little.u32(), Some(0x0605_0403));
        assert_eq!(little.u64(), None);
        assert_eq!(little.rest(), &[7, 8, 9]);
        let mut big = FieldReader::new(&bytes, Endian::Big);
        assert_eq!(big.u64(), Some(0x0102_0304_0506_0708));
        assert_eq!(big.u8(), Some(9));
        assert_eq!(big.u8(), None);
    }

    #[test]
    fn strings_are_cut_at_nul_and_never_leave_the_slice() {
        let mut cursor = FieldReader::new(b"\x04\0\0\0ab\0x\x09\0\0\0ab", Endian::Little);
        assert_eq!(cursor.string(), Some(&b"ab"[..]));
        assert_eq!(cursor.string(), None);
        assert_eq!(cursor.remaining(), 6);
        assert_eq!(until_nul(b"abc"), b"abc");
    }

    #[test]
    fn hostile_counts_give_nothing() {
        let mut cursor = FieldReader::new(&[0; 16], Endian::Little);
        assert!(cursor.words(u64::MAX).is_none());
        assert!(cursor.words(u64::MAX / 8 + 1).is_none());
        assert!(cursor.bytes_u64(17).is_none());
        let words = cursor.words(2).expect("two words");
        assert_eq!(words.iter().collect::<Vec<_>>(), [0, 0]);
        assert_eq!(words.get(2), None);
        assert_eq!(words.get(usize::MAX), None);
    }
}
