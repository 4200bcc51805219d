//! Integers, LEB128 and padding in a chosen byte order, appended to a vector.

/// Byte order of the recorded machine or of the ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// A growing buffer with one byte order.
///
/// ```
/// use synth::{ByteWriter, Endian};
/// let mut w = ByteWriter::new(Endian::Big);
/// w.u16(0x0102).bytes(b"ab").align(8);
/// assert_eq!(w.into_bytes(), [1, 2, b'a', b'b', 0, 0, 0, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct ByteWriter {
    endian: Endian,
    bytes: Vec<u8>,
}

impl ByteWriter {
    /// Creates an empty buffer.
    #[must_use]
    pub fn new(endian: Endian) -> Self {
        Self { endian, bytes: Vec::new() }
    }

    /// Byte order of this buffer.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Number of bytes written so far, which is the offset of the next one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true if nothing was written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes written so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes and consumes the buffer.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends one byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    /// Appends two bytes in the byte order of the buffer.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.uint(u64::from(value), 2)
    }

    /// Appends four bytes in the byte order of the buffer.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.uint(u64::from(value), 4)
    }

    /// Appends eight bytes in the byte order of the buffer.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.uint(value, 8)
    }

    /// Appends the low `size` (1 to 8) bytes of `value` in the byte order of the buffer.
    pub fn uint(&mut self, value: u64, size: usize) -> &mut Self {
        let at = self.bytes.len();
        self.zeros(size);
        self.patch_uint(at, value, size)
    }

    /// Appends each value as eight bytes.
    pub fn u64s(&mut self, values: &[u64]) -> &mut Self {
        for &value in values {
            self.u64(value);
        }
        self
    }

    /// Appends bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends `n` zero bytes.
    pub fn zeros(&mut self, n: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len() + n, 0);
        self
    }

    /// Appends zeros up to the next multiple of `n`, counted from the start of the buffer.
    pub fn align(&mut self, n: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(n), 0);
        self
    }

    /// Appends `text`, truncated or padded with NUL to exactly `size` bytes.
    pub fn fixed_str(&mut self, text: &[u8], size: usize) -> &mut Self {
        let kept = &text[..text.len().min(size)];
        self.bytes(kept).zeros(size - kept.len())
    }

    /// Appends `text`, at least one NUL, and zeros up to the next multiple of `n`.
    pub fn c_str(&mut self, text: &[u8], n: usize) -> &mut Self {
        self.bytes(text).u8(0).align(n)
    }

    /// Appends an unsigned LEB128 number.
    ///
    /// Source: DWARF 5, 7.6.
    pub fn uleb(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.u8((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.u8(value as u8)
    }

    /// Appends a signed LEB128 number.
    ///
    /// Source: DWARF 5, 7.6.
    pub fn sleb(&mut self, mut value: i64) -> &mut Self {
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            let sign_is_clear = low & 0x40 == 0;
            if (value == 0 && sign_is_clear) || (value == -1 && !sign_is_clear) {
                return self.u8(low);
            }
            self.u8(low | 0x80);
        }
    }

    /// Overwrites the `size` bytes at offset `at`.
    ///
    /// # Panics
    /// If `at + size` is past the end of the buffer.
    pub fn patch_uint(&mut self, at: usize, value: u64, size: usize) -> &mut Self {
        let le = value.to_le_bytes();
        for (i, &byte) in le[..size].iter().enumerate() {
            let place = match self.endian {
                Endian::Little => at + i,
                Endian::Big => at + size - 1 - i,
            };
            self.bytes[place] = byte;
        }
        self
    }

    /// Copies `bytes` to offset `at`; a buffer that is too short grows with zeros.
    pub fn write_at(&mut self, at: usize, bytes: &[u8]) -> &mut Self {
        let end = at + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(bytes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_byte_orders() {
        let mut le = ByteWriter::new(Endian::Little);
        le.u16(0x0102).u32(0x0304_0506).u64(0x0708_090a_0b0c_0d0e);
        assert_eq!(le.as_bytes(), [2, 1, 6, 5, 4, 3, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 9, 8, 7]);
        let mut be = ByteWriter::new(Endian::Big);
        be.u16(0x0102).u32(0x0304_0506).u64(0x0708_090a_0b0c_0d0e);
        assert_eq!(be.as_bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e]);
    }

    #[test]
    fn leb128_examples_of_the_dwarf_standard() {
        let uleb = |v| ByteWriter::new(Endian::Little).uleb(v).as_bytes().to_vec();
        let sleb = |v| ByteWriter::new(Endian::Little).sleb(v).as_bytes().to_vec();
        assert_eq!(uleb(2), [2]);
        assert_eq!(uleb(127), [127]);
        assert_eq!(uleb(128), [0x80, 1]);
        assert_eq!(uleb(12857), [0x80 | 57, 100]);
        assert_eq!(sleb(2), [2]);
        assert_eq!(sleb(-2), [0x7e]);
        assert_eq!(sleb(127), [0xff, 0]);
        assert_eq!(sleb(-127), [0x81, 0x7f]);
        assert_eq!(sleb(-129), [0xff, 0x7e]);
    }

    #[test]
    fn strings_and_patches() {
        let mut w = ByteWriter::new(Endian::Little);
        w.c_str(b"abc", 8).fixed_str(b"abcdef", 4).patch_uint(0, 0x5a59, 2).write_at(13, b"!");
        assert_eq!(w.into_bytes(), b"YZc\0\0\0\0\0abcd\0!");
    }
}
