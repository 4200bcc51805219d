//! Values taken from the front of an input. Where it ends, what is left is taken, and numbers are 0.

/// What is left of an input.
pub struct Input<'b>(pub &'b [u8]);

impl<'b> Input<'b> {
    /// The next `len` bytes, or as many as there are.
    pub fn bytes(&mut self, len: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// The next little-endian number of `size` bytes.
    pub fn number(&mut self, size: usize) -> u64 {
        let mut word = [0; 8];
        let taken = self.bytes(size);
        word[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(word)
    }
}
