//! Bytes as text of 64 letters.
//!
//! Source: RFC 4648, section 4.

use std::io;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes what it is given as letters.
pub(super) struct Base64<'a> {
    out: &'a mut dyn io::Write,
    /// Bytes that do not yet make three.
    rest: Vec<u8>,
    text: Vec<u8>,
}

impl<'a> Base64<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Self {
        Self { out, rest: Vec::with_capacity(3), text: Vec::new() }
    }

    /// Writes what is left over.
    pub(super) fn finish(mut self) -> io::Result<&'a mut dyn io::Write> {
        if !self.rest.is_empty() {
            let mut last = [0; 3];
            last[..self.rest.len()].copy_from_slice(&self.rest);
            let mut letters = letters(last);
            letters[self.rest.len() + 1..].fill(b'=');
            self.text.extend_from_slice(&letters);
        }
        self.out.write_all(&self.text)?;
        Ok(self.out)
    }
}

impl io::Write for Base64<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let missing = (3 - self.rest.len()) % 3;
        let (first, bytes_left) = bytes.split_at(missing.min(bytes.len()));
        self.rest.extend_from_slice(first);
        if let [a, b, c] = self.rest[..] {
            self.text.extend_from_slice(&letters([a, b, c]));
            self.rest.clear();
        }
        let (threes, rest) = bytes_left.as_chunks::<3>();
        for &three in threes {
            self.text.extend_from_slice(&letters(three));
        }
        self.rest.extend_from_slice(rest);
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn letters([a, b, c]: [u8; 3]) -> [u8; 4] {
    let bits = u32::from_be_bytes([0, a, b, c]);
    [18, 12, 6, 0].map(|shift| LETTERS[(bits >> shift) as usize & 63])
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_examples_of_the_rfc() {
        for (plain, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("foob", "Zm9vYg=="),
        ] {
            for step in 1..=4 {
                let mut text = Vec::new();
                let mut writer = Base64::new(&mut text);
                for chunk in plain.as_bytes().chunks(step) {
                    writer.write_all(chunk).expect("a vector takes everything");
                }
                writer.finish().expect("a vector takes everything");
                assert_eq!(text, expected.as_bytes(), "{plain} by {step}");
            }
        }
    }
}
