//! Reading of a stored profile part by part.

use super::StoredError;
use crate::encoding::{Decoder, Encoding, RowCounts};

/// Bytes of a stored profile, and the numbers of rows of the parts before.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    bytes: &'a [u8],
    /// End of the parts before, in bytes.
    offset: usize,
    pub(super) counts: RowCounts,
}

impl<'a> Parts<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0, counts: RowCounts::default() }
    }

    /// Returns the next part.
    ///
    /// # Errors
    /// A truncated or invalid part.
    pub(super) fn next<T: Encoding>(&mut self, part: &'static str) -> Result<T, StoredError> {
        self.next_if(part, |_, _| true)
    }

    /// Returns the next part, if it `is_valid`.
    ///
    /// # Errors
    /// A truncated or invalid part.
    pub(super) fn next_if<T: Encoding>(
        &mut self,
        part: &'static str,
        is_valid: impl FnOnce(&T, &RowCounts) -> bool,
    ) -> Result<T, StoredError> {
        let Self { bytes, offset, counts } = self;
        let mut decoder = Decoder::new(bytes.get(*offset..).unwrap_or_default(), counts);
        let value = T::decode(&mut decoder).filter(|value| is_valid(value, counts));
        let value = value.ok_or(StoredError::Damaged { part, offset: *offset })?;
        *offset = bytes.len() - decoder.rest().len();
        Ok(value)
    }

    /// Checks that no bytes are left.
    ///
    /// # Errors
    /// Bytes after the last part.
    pub(super) const fn finish(self) -> Result<(), StoredError> {
        let (end, length) = (self.offset, self.bytes.len());
        if end == length { Ok(()) } else { Err(StoredError::TooLong { end, length }) }
    }
}
