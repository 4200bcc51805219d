//! Messages: a little-endian length, then a byte for the kind and big-endian fields.

use std::io;

/// What the stream begins with: the magic word, and the version of `QDataStream` (that of Qt 5.15), little endian.
const START: [u8; 16] = *b"QPERFSTREAM\0\x13\0\0\0";

/// Bytes that are collected before they are written.
const PIECE: usize = 1 << 16;

/// The kinds of messages that are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Command = 2,
    Location = 3,
    Symbol = 4,
    String = 5,
    Lost = 6,
    Features = 7,
    Progress = 9,
    Attributes = 11,
    Sample = 13,
}

/// The stream; messages are written one after the other.
pub(super) struct Stream<'a> {
    out: &'a mut dyn io::Write,
    bytes: Vec<u8>,
    /// Where the fields of the open message begin.
    open: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Self {
        Self { out, bytes: START.to_vec(), open: 0 }
    }

    /// Begins a message.
    pub(super) fn begin(&mut self, kind: Kind) {
        self.bytes.extend_from_slice(&[0; 4]);
        self.open = self.bytes.len();
        self.bytes.push(kind as u8);
    }

    /// Ends it: its length is known.
    pub(super) fn end(&mut self) {
        let length = (self.bytes.len() - self.open) as u32;
        let start = self.open.saturating_sub(4);
        if let Some(slot) = self.bytes.get_mut(start..self.open) {
            slot.copy_from_slice(&length.to_le_bytes());
        }
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.bytes.push(value.into());
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// A `QByteArray`.
    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.u32(value.len() as u32);
        self.bytes.extend_from_slice(value);
    }

    /// Writes complete messages where there are many; to be called between messages.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.bytes.len() >= PIECE {
            self.out.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}
