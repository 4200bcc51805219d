//! A picture of a stack: words from the stack pointer upwards, some with labels.

use std::collections::BTreeMap;

use crate::bytes::{ByteWriter, Endian};

/// A stack under construction; the next word goes to the next higher address.
///
/// ```
/// use synth::{Endian, StackBuilder};
/// let mut stack = StackBuilder::new(0x7ffd_0000, Endian::Little, 8);
/// stack.word(1);
/// stack.label("saved rbp").word_of_label("outer rbp");
/// stack.label("return address").word(0x401234);
/// stack.label("outer rbp").word(0);
/// assert_eq!(stack.address("return address"), 0x7ffd_0010);
/// assert_eq!(stack.bytes()[8..16], 0x7ffd_0018u64.to_le_bytes());
/// ```
#[derive(Clone, Debug)]
pub struct StackBuilder {
    sp: u64,
    word_size: usize,
    writer: ByteWriter,
    labels: BTreeMap<String, u64>,
    /// Offsets of words that hold the address of a label, which may be set later.
    references: Vec<(usize, String)>,
}

impl StackBuilder {
    /// Creates an empty stack with its lowest byte at `sp` and with words of 4 or 8 bytes.
    #[must_use]
    pub fn new(sp: u64, endian: Endian, word_size: usize) -> Self {
        let writer = ByteWriter::new(endian);
        Self { sp, word_size, writer, labels: BTreeMap::new(), references: Vec::new() }
    }

    /// Address of the first byte.
    #[must_use]
    pub fn sp(&self) -> u64 {
        self.sp
    }

    /// Address of the next word.
    #[must_use]
    pub fn here(&self) -> u64 {
        self.sp.wrapping_add(self.writer.len() as u64)
    }

    /// Sets a label at the address of the next word.
    pub fn label(&mut self, name: &str) -> &mut Self {
        self.labels.insert(name.to_owned(), self.here());
        self
    }

    /// Appends a word.
    pub fn word(&mut self, value: u64) -> &mut Self {
        self.writer.uint(value, self.word_size);
        self
    }

    /// Appends the same word `n` times.
    pub fn words(&mut self, value: u64, n: usize) -> &mut Self {
        for _ in 0..n {
            self.word(value);
        }
        self
    }

    /// Appends the address of a label, which may be set later.
    pub fn word_of_label(&mut self, name: &str) -> &mut Self {
        self.references.push((self.writer.len(), name.to_owned()));
        self.word(0)
    }

    /// Appends bytes unchanged.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.writer.bytes(bytes);
        self
    }

    /// Appends words of `filler` up to `address`.
    pub fn fill_to(&mut self, address: u64, filler: u64) -> &mut Self {
        while self.here() < address {
            self.word(filler);
        }
        self
    }

    /// Returns the address of a label.
    ///
    /// # Panics
    /// If there is no such label.
    #[must_use]
    pub fn address(&self, name: &str) -> u64 {
        *self.labels.get(name).expect("the label was set")
    }

    /// Returns the bytes from the stack pointer upwards.
    ///
    /// # Panics
    /// If a word refers to a label that was never set.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut writer = self.writer.clone();
        for (at, name) in &self.references {
            writer.patch_uint(*at, self.address(name), self.word_size);
        }
        writer.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_endian_words_of_four_bytes() {
        let mut stack = StackBuilder::new(0x1000, Endian::Big, 4);
        stack.word_of_label("top").word(2).fill_to(0x1010, 7).label("top").raw(&[9]);
        assert_eq!(stack.address("top"), 0x1010);
        assert_eq!(stack.here(), 0x1011);
        assert_eq!(stack.bytes(), [0, 0, 16, 16, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 7, 9]);
    }
}
