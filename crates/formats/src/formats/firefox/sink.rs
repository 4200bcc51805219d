//! Sink that compresses text in chunks, with writers for the columns of tables.

use std::io::{self, Write as _};

use crate::render::encoding::gzip::GzipWriter;
use crate::render::text::push_number;

/// Bytes to collect before they are compressed.
const FLUSH_SIZE: usize = 1 << 18;

/// Buffer for the document, compressed to the output.
pub(super) struct GzipSink<'a> {
    text: Vec<u8>,
    gzip: GzipWriter<'a>,
}

impl<'a> GzipSink<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Self {
        // The default level takes twice the time for a few percent of the size.
        Self { text: Vec::new(), gzip: GzipWriter::new(out, 4) }
    }

    pub(super) const fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    pub(super) fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    pub(super) fn number(&mut self, number: u32) {
        push_number(&mut self.text, number);
    }

    /// Appends nanoseconds as milliseconds.
    pub(super) fn milliseconds(&mut self, nanoseconds: u64) {
        push_milliseconds(&mut self.text, nanoseconds);
    }

    /// Compresses the collected text if there is enough of it.
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.text.len() >= FLUSH_SIZE {
            self.gzip.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Appends `"name":[…]` with the values that `put` writes.
    pub(super) fn column<T>(
        &mut self,
        name: &str,
        values: impl Iterator<Item = T>,
        put: impl Fn(&mut Vec<u8>, T),
    ) -> io::Result<()> {
        self.raw(b"\"");
        self.raw(name.as_bytes());
        self.raw(b"\":[");
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            put(&mut self.text, value);
            self.flush_if_full()?;
        }
        self.raw(b"]");
        Ok(())
    }

    /// Appends `"name":[word,word,…]` with `length` copies of `word`.
    pub(super) fn repeated(&mut self, name: &str, length: usize, word: &[u8]) -> io::Result<()> {
        self.column(name, 0..length, |text, _| text.extend_from_slice(word))
    }

    /// Appends `"name":[…]` of numbers, with `null` for `None`.
    pub(super) fn options(
        &mut self,
        name: &str,
        values: impl Iterator<Item = Option<u32>>,
    ) -> io::Result<()> {
        self.column(name, values, |text, value| match value {
            Some(value) => push_number(text, value),
            None => text.extend_from_slice(b"null"),
        })
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.gzip.write_all(&self.text)?;
        self.gzip.finish()
    }
}

/// Appends nanoseconds as milliseconds with up to six decimals.
pub(super) fn push_milliseconds(text: &mut Vec<u8>, nanoseconds: u64) {
    push_number(text, nanoseconds / 1_000_000);
    let rest = nanoseconds % 1_000_000;
    if rest > 0 {
        text.push(b'.');
        text.extend_from_slice(format!("{rest:06}").trim_end_matches('0').as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds() {
        for (nanoseconds, expected) in
            [(0, "0"), (1, "0.000001"), (1_500_000, "1.5"), (12_000_000, "12")]
        {
            let mut text = Vec::new();
            push_milliseconds(&mut text, nanoseconds);
            assert_eq!(text, expected.as_bytes());
        }
    }
}
