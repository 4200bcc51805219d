//! Messages: a little-endian length, a byte for the kind, and big-endian fields.

use std::io;

use super::details::FieldValue;

/// Header of the stream: the magic, and the version of `QDataStream` (of Qt 5.15), little-endian.
const START: [u8; 16] = *b"QPERFSTREAM\0\x13\0\0\0";

/// Bytes to collect before a write.
const FLUSH_SIZE: usize = 1 << 16;

/// Kinds of messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum MessageKind {
    ThreadStart = 0,
    ThreadEnd = 1,
    Command = 2,
    Location = 3,
    Symbol = 4,
    String = 5,
    Lost = 6,
    Features = 7,
    Error = 8,
    Progress = 9,
    TracepointFormat = 10,
    Attributes = 11,
    ContextSwitch = 12,
    Sample = 13,
    TracepointSample = 14,
    Download = 15,
}

/// Stream of messages, written one after the other.
#[derive(Debug)]
pub(super) struct Stream<W> {
    out: W,
    bytes: Vec<u8>,
    /// Start of the open message's fields in `bytes`.
    open: usize,
}

impl<W: io::Write> Stream<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, bytes: START.to_vec(), open: 0 }
    }

    /// Writes the complete messages if there are enough. Call it only between messages.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.bytes.len() >= FLUSH_SIZE { self.flush_all() } else { Ok(()) }
    }

    /// Writes all messages and flushes the output, so that a reader receives them.
    pub(super) fn flush_all(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        self.out.flush()
    }
}

impl<W> Stream<W> {
    pub(super) const fn output(&mut self) -> &mut W {
        &mut self.out
    }

    /// Starts a message.
    pub(super) fn begin(&mut self, kind: MessageKind) {
        self.bytes.extend_from_slice(&[0; 4]);
        self.open = self.bytes.len();
        self.bytes.push(kind as u8);
    }

    /// Ends the message and sets its length.
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

    /// Writes a `QByteArray`.
    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.u32(value.len() as u32);
        self.bytes.extend_from_slice(value);
    }

    /// Writes a `QString`: its length in bytes, then UTF-16.
    pub(super) fn text(&mut self, value: &str) {
        self.u32(2 * value.encode_utf16().count() as u32);
        value.encode_utf16().for_each(|unit| self.bytes.extend_from_slice(&unit.to_be_bytes()));
    }

    /// Writes a `QVariant`: the number of its type, the null flag, and the value.
    ///
    /// Source: Qt's `QMetaType::Type`: Int, `UInt`, `LongLong`, `ULongLong`, `QVariantList`, `QByteArray`.
    pub(super) fn variant(&mut self, value: &FieldValue) {
        let (kind, value): (u32, _) = match value {
            FieldValue::I32(_) => (2, value),
            FieldValue::U32(_) => (3, value),
            FieldValue::I64(_) => (4, value),
            FieldValue::U64(_) => (5, value),
            FieldValue::List(_) => (9, value),
            FieldValue::Bytes(_) => (12, value),
        };
        self.u32(kind);
        self.bool(false);
        match value {
            FieldValue::I32(number) => self.i32(*number),
            FieldValue::U32(number) => self.u32(*number),
            FieldValue::I64(number) => self.u64(*number as u64),
            FieldValue::U64(number) => self.u64(*number),
            FieldValue::Bytes(bytes) => self.bytes(bytes),
            FieldValue::List(values) => {
                self.u32(values.len() as u32);
                values.iter().for_each(|value| self.variant(value));
            }
        }
    }
}
