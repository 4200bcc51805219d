//! Columns of JSON straight into a buffer that goes out whenever it is full.

use std::io;

use crate::text::{push_hex, push_json, push_number};

/// A full buffer. Larger ones only leave the cache.
const FULL: usize = 256 * 1024;

/// Writes JSON; the caller sees to it that what it asks for is a document.
pub(super) struct Writer<'a> {
    out: &'a mut dyn io::Write,
    buffer: Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Self {
        Self { out, buffer: Vec::with_capacity(FULL + FULL / 4) }
    }

    /// Writes text as it is.
    pub(super) fn raw(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Writes one value.
    pub(super) fn value(&mut self, element: impl FnOnce(&mut Vec<u8>)) {
        element(&mut self.buffer);
    }

    /// Writes `[…]` with an element for each item.
    pub(super) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut element: impl FnMut(&mut Vec<u8>, T),
    ) -> io::Result<()> {
        self.buffer.push(b'[');
        let mut first = true;
        for item in items {
            if !first {
                self.buffer.push(b',');
            }
            first = false;
            element(&mut self.buffer, item);
            if self.buffer.len() >= FULL {
                self.flush()?;
            }
        }
        self.buffer.push(b']');
        Ok(())
    }

    /// Begins a table: `"name":{"length":…`; ends the part before it.
    pub(super) fn table(&mut self, name: &str, length: usize) {
        self.raw(",\n\"");
        self.raw(name);
        self.raw("\":{\"length\":");
        push_number(&mut self.buffer, length);
    }

    /// A column of the table: `,"name":[…]`.
    pub(super) fn column<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        element: impl FnMut(&mut Vec<u8>, T),
    ) -> io::Result<()> {
        self.raw(",\"");
        self.raw(name);
        self.raw("\":");
        self.array(items, element)
    }

    /// Ends the table.
    pub(super) fn end_table(&mut self) {
        self.raw("}");
    }

    /// Writes what is in the buffer.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Appends a number.
#[inline]
pub(super) fn number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    push_number(out, number);
}

/// Appends a number or `null`.
#[inline]
pub(super) fn number_or_null(out: &mut Vec<u8>, number: Option<impl itoa::Integer>) {
    match number {
        Some(number) => push_number(out, number),
        None => out.extend_from_slice(b"null"),
    }
}

/// Appends `true` or `false`.
#[inline]
pub(super) fn boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends `"0x…"`.
#[inline]
pub(super) fn address(out: &mut Vec<u8>, address: u64) {
    out.extend_from_slice(b"\"0x");
    push_hex(out, address);
    out.push(b'"');
}

/// Appends `"…"`, escaped.
#[inline]
pub(super) fn string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    push_json(out, text);
    out.push(b'"');
}
