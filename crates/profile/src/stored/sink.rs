//! Writing of a stored profile piece by piece.

use std::io::{self, Write};

use crate::encoding::Encoding;
use crate::tables::Table;

/// Number of rows that are encoded before they are written.
const ROWS: usize = 16 << 10;

/// A writer of encoded values.
pub(super) struct Sink<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
}

impl<'w> Sink<'w> {
    pub(super) const fn new(out: &'w mut dyn Write) -> Self {
        Self { out, buffer: Vec::new() }
    }

    /// Writes a value.
    pub(super) fn put<T: Encoding>(&mut self, value: &T) -> io::Result<()> {
        value.encode(&mut self.buffer);
        self.flush()
    }

    /// Writes a table, in the same encoding as [`Self::put`].
    pub(super) fn put_rows<I, T: Encoding>(&mut self, table: &Table<I, T>) -> io::Result<()> {
        self.put(&(table.len() as u64))?;
        for rows in table.as_slice().chunks(ROWS) {
            rows.iter().for_each(|row| row.encode(&mut self.buffer));
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
