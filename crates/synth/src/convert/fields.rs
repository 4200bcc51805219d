//! Fields of a little-endian recording, read in place one by one, and turned over where that is wanted.

/// Why a recording cannot be converted: something in it is not known here.
pub(super) type Unknown = String;

/// What becomes of fields that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// They stay as they are.
    Kept,
    /// They are turned over.
    Swapped,
}

/// A run of fields.
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

    /// Bytes before the next field.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The bytes that are left.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Result<&mut [u8], Unknown> {
        let at = self.at;
        let left = self.left();
        let bytes = at.checked_add(len).and_then(|end| self.bytes.get_mut(at..end));
        let bytes = bytes.ok_or_else(|| format!("{len} bytes are wanted of {left}"))?;
        self.at += len;
        Ok(bytes)
    }

    /// Bytes that have no order.
    pub(super) fn skip(&mut self, len: usize) -> Result<(), Unknown> {
        self.take(len).map(drop)
    }

    /// All but the last `len` bytes have no order.
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

    /// A number that is used as a count or size.
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

    /// Flags of a C bit-field: the first flag is the lowest bit here and the highest there, so bytes keep their places
    /// and their bits are turned over.
    pub(super) fn bit_field(&mut self) -> Result<u64, Unknown> {
        let order = self.order;
        let bytes = self.take(8)?;
        let flags = *bytes.first_chunk::<8>().ok_or("flags are cut")?;
        if order == Order::Swapped {
            bytes.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
        }
        Ok(u64::from_le_bytes(flags))
    }

    /// Length and bytes.
    pub(super) fn string(&mut self) -> Result<(), Unknown> {
        let len = self.u32()?;
        self.skip(len as usize)
    }

    /// Count and strings.
    pub(super) fn strings(&mut self) -> Result<(), Unknown> {
        let count = self.u32()?;
        (0..count).try_for_each(|_| self.string())
    }

    /// Nothing may be left over.
    pub(super) fn end(&self, what: &str) -> Result<(), Unknown> {
        match self.left() {
            0 => Ok(()),
            left => Err(format!("{what}: {left} bytes are left over")),
        }
    }
}
