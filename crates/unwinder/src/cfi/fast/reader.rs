//! The bytes of call frame information, read from the front.

/// Bytes that are read from the front; every reader gives `None` at the end.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*first)
    }

    pub(super) fn skip(&mut self, len: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(len).ok()?..)?;
        Some(())
    }

    pub(super) fn uleb(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn sleb(&mut self) -> Option<i64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.u8()?;
            value |= i64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let unused = 64 - (shift + 7);
                return Some(value << unused >> unused);
            }
        }
        None
    }
}
