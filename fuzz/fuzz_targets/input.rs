//! Values taken from the front of an input. At its end, only the rest is returned, and numbers are 0.

/// Rest of an input.
pub struct Input<'b>(pub &'b [u8]);

impl<'b> Input<'b> {
    /// Returns the next `len` bytes, or all remaining ones if there are fewer.
    pub fn bytes(&mut self, len: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Returns the next little-endian number of `size` bytes.
    pub fn number(&mut self, size: usize) -> u64 {
        let mut word = [0; 8];
        let taken = self.bytes(size);
        word[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(word)
    }
}
