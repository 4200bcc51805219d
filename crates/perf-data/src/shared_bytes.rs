//! Bytes with shared ownership: a mapped file, or a block that was read or expanded.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use budget::HeldMemory;

/// Part of shared bytes. They are freed with the last part.
#[derive(Clone)]
pub struct SharedBytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
    /// True if they are in allocated memory that is not yet counted, rather than in a mapped file.
    is_uncounted: bool,
}

/// Bytes with a memory count that ends with their last part.
struct AccountedBytes {
    bytes: SharedBytes,
    _held: HeldMemory,
}

impl AsRef<[u8]> for AccountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl SharedBytes {
    /// Shares all bytes of an owner, for instance of a mapped file. Their length must not change.
    pub fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let range = 0..owner.as_ref().len();
        Self { owner: Arc::new(owner), range, is_uncounted: false }
    }

    /// Counts the bytes in `held` if they are in allocated memory.
    pub(crate) fn held_as(self, held: &HeldMemory) -> Self {
        if !self.is_uncounted {
            return self;
        }
        let held = held.another((*self.owner).as_ref().len() as u64);
        Self::new(AccountedBytes { bytes: self, _held: held })
    }

    /// Returns a part of the bytes; the range is truncated at their end.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let place = |at: usize| self.range.start.saturating_add(at).min(self.range.end);
        let (start, end) = (place(range.start), place(range.end));
        let (owner, range) = (Arc::clone(&self.owner), start..end.max(start));
        Self { owner, range, ..*self }
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { is_uncounted: true, ..Self::new(bytes) }
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
    use budget::{MemoryBudget, MemoryUse};

    use super::*;

    #[test]
    fn parts_of_parts() {
        let all = SharedBytes::from(vec![0, 1, 2, 3, 4, 5]);
        let part = all.slice(2..5);
        assert_eq!(*part, [2, 3, 4]);
        assert_eq!(*part.slice(1..99), [3, 4]);
        assert_eq!(*part.slice(9..14), []);
    }

    #[test]
    fn what_is_in_memory_is_counted_once() {
        let memory = Arc::new(MemoryBudget::default());
        let held = HeldMemory::new(&memory, MemoryUse::Recording);
        let all = SharedBytes::from(vec![0, 1, 2, 3, 4, 5]).held_as(&held);
        let part = all.slice(2..5).held_as(&held);
        let _mapped = SharedBytes::new([1, 2]).held_as(&held);
        assert_eq!((&*part, memory.held()), (&[2, 3, 4][..], 6));
        drop(all);
        assert_eq!(memory.held(), 6);
        drop(part);
        assert_eq!(memory.held(), 0);
    }
}
