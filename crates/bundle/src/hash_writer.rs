//! SHA-256 of written data.

use std::io::{self, Write};

use crate::manifest::Hasher;

/// Writer that computes the SHA-256 of its input and discards the data.
#[derive(Default)]
pub struct HashWriter(Hasher);

impl HashWriter {
    /// Returns the SHA-256 of the written data.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        self.0.finish().0
    }
}

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for HashWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HashWriter")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: FIPS 180-2, B.1.
    #[test]
    fn the_hash_of_a_known_text() {
        let mut hash = HashWriter::default();
        hash.write_all(b"ab").and_then(|()| hash.write_all(b"c")).expect("memory");
        let hash = hash.finish();
        assert_eq!(hash[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
