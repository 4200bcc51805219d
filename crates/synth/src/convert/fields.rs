//! Fields of a little-endian recording, read in place one by one, and swapped on request.

/// Reason why a recording cannot be converted: it contains something unsupported.
pub(super) type Unknown = String;

/// Treatment of fields that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Fields stay unchanged.
    Unchanged,
    /// Fields are swapped.
    Swapped,
}

/// A sequence of fields.
#[derive(Debug)]
pub(super) struct Fields<'b> {
    bytes: &'b mut [u8],
    at: usize,
    order: Order,
}

impl<'b> Fields<'b> {
    pub(super) fn new(bytes: &'b mut [u8], order: Order) -> Self {
        Self { bytes, at: 0, order }
    }

    /// Number of bytes before the next field.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Remaining bytes.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Number of remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the next `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Result<&mut [u8], Unknown> {
        let at = self.at;
        let left = self.left();
        let bytes = at.checked_add(len).and_then(|end| self.bytes.get_mut(at..end));
        let bytes = bytes.ok_or_else(|| format!("{len} bytes are wanted of {left}"))?;
        self.at += len;
        Ok(bytes)
    }

    /// Skips bytes without byte order.
    pub(super) fn skip(&mut self, len: usize) -> Result<(), Unknown> {
        self.take(len).map(drop)
    }

    /// Skips all but the last `len` bytes.
    pub(super) fn skip_to_last(&mut self, len: usize) -> Result<(), Unknown> {
        let left = self.left();
        self.skip(left.checked_sub(len).ok_or("a record is too short")?)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Unknown> {
        let order = self.order;
        let bytes = self.take(N)?;
        let number = *bytes.first_chunk::<N>().ok_or("a number is cut")?;
        if order == Order::Swapped {
            bytes.reverse();
        }
        Ok(number)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Unknown> {
        self.number().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Unknown> {
        self.number().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Unknown> {
        self.number().map(u64::from_le_bytes)
    }

    /// Reads a number that is used as a count or size.
    pub(super) fn size(&mut self) -> Result<usize, Unknown> {
        let size = self.u64()?;
        usize::try_from(size).map_err(|_| format!("a size of {size}"))
    }

    pub(super) fn u32s(&mut self, count: usize) -> Result<(), Unknown> {
        (0..count).try_for_each(|_| self.u32().map(drop))
    }

    pub(super) fn u64s(&mut self, count: usize) -> Result<(), Unknown> {
        (0..count).try_for_each(|_| self.u64().map(drop))
    }

    /// Reads the flags of a C bit-field. Its first flag is the lowest bit in little-endian files and the highest in
    /// big-endian ones, so bytes keep their positions and their bits are reversed.
    pub(super) fn bit_field(&mut self) -> Result<u64, Unknown> {
        let order = self.order;
        let bytes = self.take(8)?;
        let flags = *bytes.first_chunk::<8>().ok_or("flags are cut")?;
        if order == Order::Swapped {
            bytes.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
        }
        Ok(u64::from_le_bytes(flags))
    }

    /// Skips a length and that many bytes.
    pub(super) fn string(&mut self) -> Result<(), Unknown> {
        let len = self.u32()?;
        self.skip(len as usize)
    }

    /// Skips a count and that many strings.
    pub(super) fn strings(&mut self) -> Result<(), Unknown> {
        let count = self.u32()?;
        (0..count).try_for_each(|_| self.string())
    }

    /// Returns an error if bytes remain.
    pub(super) fn end(&self, what: &str) -> Result<(), Unknown> {
        match self.left() {
            0 => Ok(()),
            left => Err(format!("{what}: {left} bytes are left over")),
        }
    }
}
