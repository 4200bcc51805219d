//! Sink that writes text in chunks, usually compressed, with writers for the columns of tables.

use std::io::{self, Write as _};

use crate::render::encoding::gzip::GzipWriter;
use crate::render::text::push_number;

/// Bytes to collect before they are written.
const FLUSH_SIZE: usize = 1 << 18;

/// Buffer for the document.
pub(super) struct TextSink<'a> {
    text: Vec<u8>,
    out: Output<'a>,
}

/// Output of the document.
enum Output<'a> {
    Gzip(GzipWriter<'a>),
    Plain(&'a mut dyn io::Write),
}

impl<'a> TextSink<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write, plain: bool) -> Self {
        let out = if plain {
            Output::Plain(out)
        } else {
            // The default level takes twice the time for a few percent of the size.
            Output::Gzip(GzipWriter::new(out, 4))
        };
        Self { text: Vec::new(), out }
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

    /// Writes the collected text if there is enough of it.
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.text.len() >= FLUSH_SIZE {
            self.write()?;
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

    /// Writes the collected text.
    fn write(&mut self) -> io::Result<()> {
        match &mut self.out {
            Output::Gzip(gzip) => gzip.write_all(&self.text)?,
            Output::Plain(out) => out.write_all(&self.text)?,
        }
        self.text.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.write()?;
        match self.out {
            Output::Gzip(gzip) => gzip.finish(),
            Output::Plain(_) => Ok(()),
        }
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
