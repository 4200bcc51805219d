//! Columns of JSON straight into a buffer that goes out whenever it is full.

use std::io;

use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};
use rayon::slice::ParallelSlice as _;

use crate::text::{push_hex, push_json, push_number};

/// A full buffer. Larger ones only leave the cache.
const FULL: usize = 256 * 1024;

/// Rows that a thread renders at a time.
const CHUNK: usize = 1 << 14;

/// Writes JSON; the caller sees to it that what it asks for is a document.
pub(super) struct Writer<'a> {
    out: &'a mut dyn io::Write,
    buffer: Vec<u8>,
    /// What each thread rendered.
    texts: Vec<Vec<u8>>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Self {
        Self { out, buffer: Vec::with_capacity(FULL + FULL / 4), texts: Vec::new() }
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

    /// A column of the table: `,"name":[…]`. Long ones are rendered by all threads.
    pub(super) fn column<T: Sync>(
        &mut self,
        name: &str,
        rows: &[T],
        element: impl Fn(&mut Vec<u8>, &T) + Sync,
    ) -> io::Result<()> {
        let threads = rayon::current_num_threads();
        if threads == 1 || rows.len() < 2 * CHUNK {
            return self.column_in_order(name, rows, element);
        }
        self.begin_column(name);
        self.texts.resize_with(threads, Vec::new);
        let mut between = "[";
        for group in rows.chunks(threads * CHUNK) {
            let chunks = group.par_chunks(CHUNK);
            let n_chunks = chunks.len();
            self.texts.par_iter_mut().zip(chunks).for_each(|(text, chunk)| {
                text.clear();
                for row in chunk {
                    element(text, row);
                    text.push(b',');
                }
                text.pop();
            });
            for index in 0..n_chunks {
                self.raw(between);
                between = ",";
                self.flush()?;
                self.out.write_all(self.texts.get(index).map_or(&[], |text| text))?;
            }
        }
        self.raw("]");
        Ok(())
    }

    /// A column whose elements are rendered one after the other.
    pub(super) fn column_in_order<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        element: impl FnMut(&mut Vec<u8>, T),
    ) -> io::Result<()> {
        self.begin_column(name);
        self.array(items, element)
    }

    fn begin_column(&mut self, name: &str) {
        self.raw(",\"");
        self.raw(name);
        self.raw("\":");
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
