//! The bytes of call frame information, read from the front.

/// A byte reader from the front; every method returns `None` at the end.
#[derive(Clone, Copy)]
pub(super) struct CfiReader<'a> {
    pub(super) bytes: &'a [u8],
}

/// Returns the body of an `.eh_frame` entry at `offset`, after the length, and the body's offset. `None` for the 64-bit
/// form, a terminator, and entries that leave the section.
///
/// Source: LSB core, "The `.eh_frame` section".
pub(super) fn entry(section: &[u8], offset: usize) -> Option<(CfiReader<'_>, usize)> {
    let mut reader = CfiReader { bytes: section.get(offset..)? };
    let len = u32::from_le_bytes(reader.take()?);
    if len == 0 || len == u32::MAX {
        return None;
    }
    let bytes = reader.bytes.get(..len as usize)?;
    Some((CfiReader { bytes }, offset + 4))
}

impl<'a> CfiReader<'a> {
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
