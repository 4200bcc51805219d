//! Numbering of the values of a slice. A recent value gets the same number again.
//! A value displaced from the cache gets a second number, and the merge unites them.
//! That is less work than finding each value among all of them, which the merge does anyway.

use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use profile::RowId;

/// Values of a type by dense id, in order of arrival, with few duplicates.
#[derive(Debug)]
pub(crate) struct RecentValues<T, I> {
    values: Vec<T>,
    /// Numbers plus 1 of recent values, by hash; 0 for none. The length is 0 or a power of two.
    slots: Vec<u32>,
    ids: PhantomData<I>,
}

impl<T, I> Default for RecentValues<T, I> {
    fn default() -> Self {
        Self { values: Vec::new(), slots: Vec::new(), ids: PhantomData }
    }
}

impl<T: Copy + Eq + Hash, I: RowId> RecentValues<T, I> {
    /// Creates a table that holds `capacity` values without growing.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let slots = vec![0; 2 * capacity.next_power_of_two()];
        Self { values: Vec::with_capacity(capacity), slots, ids: PhantomData }
    }

    /// Returns the id of a value, adding it unless it is a recent one.
    #[inline]
    pub(crate) fn number(&mut self, value: T) -> I {
        let mut hash = WordHasher(0);
        value.hash(&mut hash);
        let Some(slot) = self.slots.len().checked_sub(1).and_then(|mask| {
            let at = hash.finish() as usize & mask;
            self.slots.get_mut(at)
        }) else {
            return self.push(value);
        };
        let known = slot.wrapping_sub(1) as usize;
        if self.values.get(known) == Some(&value) {
            return I::from_index(known);
        }
        *slot = self.values.len() as u32 + 1;
        self.push(value)
    }

    /// Adds a value without a lookup, as a possible duplicate.
    #[inline]
    pub(crate) fn push(&mut self, value: T) -> I {
        let id = I::from_index(self.values.len());
        self.values.push(value);
        id
    }

    /// Size of the table, in bytes.
    pub(crate) const fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>() + self.slots.capacity() * size_of::<u32>()
    }

    /// All values in id order.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

/// A hash for values of one word. Collisions only cause duplicates, so it need not resist attacks.
struct WordHasher(u64);

impl Hasher for WordHasher {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 ^= word;
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        // Source: the multiplier is 2^64 divided by the golden ratio.
        // The upper half of the product has the well-mixed bits.
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use profile::{FrameId, StackId, StackRow};

    use super::*;

    fn row(parent: Option<u32>, frame: u32) -> StackRow {
        StackRow { parent: parent.map(StackId::new), frame: FrameId::new(frame) }
    }

    #[test]
    fn what_came_lately_has_the_same_number() {
        let mut nodes = RecentValues::<StackRow, StackId>::with_capacity(64);
        let rows = [row(None, 1), row(Some(0), 1), row(None, 1), row(Some(0), 1), row(Some(1), 7)];
        let ids = rows.map(|row| nodes.number(row).index());
        assert_eq!(ids, [0, 1, 0, 1, 2]);
        assert_eq!(nodes.values(), [row(None, 1), row(Some(0), 1), row(Some(1), 7)]);
    }

    #[test]
    fn what_was_displaced_is_there_twice_and_equal() {
        // Three values take turns in two slots: two of them displace each other.
        let mut nodes = RecentValues::<StackRow, StackId>::with_capacity(1);
        let rows = [1, 2, 3, 1, 2, 3, 1, 2, 3].map(|frame| row(None, frame));
        let ids = rows.map(|row| nodes.number(row).index());
        assert_eq!(ids, [0, 1, 2, 3, 4, 2, 5, 6, 2]);
        assert_eq!(nodes.values(), [1, 2, 3, 1, 2, 1, 2].map(|frame| row(None, frame)));
    }

    #[test]
    fn without_room_for_any_all_are_new() {
        let mut nodes = RecentValues::<StackRow, StackId>::default();
        let ids = [1, 1, 2].map(|frame| nodes.number(row(None, frame)).index());
        assert_eq!(ids, [0, 1, 2]);
    }
}
