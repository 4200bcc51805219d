//! Bytes that are decoded, and the bounds of the ids in them.

use super::Encoding;

/// Numbers of rows that ids may refer to, by table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowCounts {
    pub(crate) strings: usize,
    pub(crate) events: usize,
    pub(crate) modules: usize,
    /// One more than the rows: an empty range may start at the end.
    pub(crate) inlines: usize,
    pub(crate) locations: usize,
    pub(crate) frames: usize,
    pub(crate) stacks: usize,
    pub(crate) layouts: usize,
    pub(crate) threads: usize,
}

/// Bytes that are decoded from the front.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
    counts: &'a RowCounts,
}

impl<'a> Decoder<'a> {
    /// Returns a decoder of bytes with ids below these counts.
    pub(crate) const fn new(rest: &'a [u8], counts: &'a RowCounts) -> Self {
        Self { rest, counts }
    }

    /// Numbers of rows that ids may refer to.
    #[inline]
    pub(super) const fn counts(&self) -> &'a RowCounts {
        self.counts
    }

    /// Returns the bytes after the decoded values.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the next `length` bytes.
    #[inline]
    pub(super) fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (slice, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(slice)
    }

    /// Returns the next `N` bytes.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*array)
    }

    /// Returns the next number of values, if the remaining bytes can contain them.
    pub(super) fn length<T: Encoding>(&mut self) -> Option<usize> {
        const { assert!(T::BYTES > 0) };
        let length = usize::try_from(u64::decode(self)?).ok()?;
        (length <= self.rest.len() / T::BYTES).then_some(length)
    }

    /// Returns the next number of bytes and as many bytes, from [`encode_bytes`].
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length::<u8>()?;
        self.slice(length)
    }
}

/// Appends the number of bytes, and the bytes.
pub(crate) fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    (bytes.len() as u64).encode(out);
    out.extend_from_slice(bytes);
}

/// Appends the number of rows, and the rows.
pub(crate) fn encode_rows<T: Encoding>(rows: &[T], out: &mut Vec<u8>) {
    (rows.len() as u64).encode(out);
    out.reserve(rows.len() * T::BYTES);
    rows.iter().for_each(|row| row.encode(out));
}
