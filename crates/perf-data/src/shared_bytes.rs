//! Bytes that several owners keep alive together: a mapped file, or a block that was read or expanded.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A part of bytes that are freed when the last part of them is.
#[derive(Clone)]
pub struct SharedBytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl SharedBytes {
    /// All bytes of an owner, for instance of a mapped file. They must not change their length.
    pub fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let range = 0..owner.as_ref().len();
        Self { owner: Arc::new(owner), range }
    }

    /// A part of them; what leaves them is cut off.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let place = |at: usize| self.range.start.saturating_add(at).min(self.range.end);
        let (start, end) = (place(range.start), place(range.end));
        Self { owner: Arc::clone(&self.owner), range: start..end.max(start) }
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.owner).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedBytes({} bytes)", self.range.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_parts() {
        let all = SharedBytes::from(vec![0, 1, 2, 3, 4, 5]);
        let part = all.slice(2..5);
        assert_eq!(*part, [2, 3, 4]);
        assert_eq!(*part.slice(1..99), [3, 4]);
        assert_eq!(*part.slice(9..14), []);
    }
}
