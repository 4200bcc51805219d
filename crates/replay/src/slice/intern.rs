//! Interning: distinct values get dense ids in order of first appearance. Hashes are randomly seeded, so unpredictable.

use std::hash::{BuildHasher as _, Hash};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use profile::RowId;

/// Ids of distinct values.
#[derive(Debug)]
pub(crate) struct InternTable<T, I> {
    hashes: DefaultHashBuilder,
    entries: HashTable<InternedValue<T, I>>,
}

/// A value and its id, side by side to avoid a second memory access.
#[derive(Clone, Copy, Debug)]
struct InternedValue<T, I> {
    value: T,
    hash: u32,
    id: I,
}

impl<T, I> Default for InternTable<T, I> {
    fn default() -> Self {
        Self { hashes: DefaultHashBuilder::default(), entries: HashTable::new() }
    }
}

impl<T: Copy + Eq + Hash, I: RowId> InternTable<T, I> {
    /// Returns the id of a value; a new value gets the id that `add` returns.
    #[inline]
    pub(crate) fn intern(&mut self, value: T, add: impl FnOnce() -> I) -> I {
        let hash = self.hashes.hash_one(value) as u32;
        let is_same = |entry: &InternedValue<T, I>| entry.value == value;
        match self.entries.entry(spread(hash), is_same, |entry| spread(entry.hash)) {
            Entry::Occupied(entry) => entry.get().id,
            Entry::Vacant(free) => {
                let id = add();
                free.insert(InternedValue { value, hash, id });
                id
            }
        }
    }

    /// Size of the table, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.entries.allocation_size()
    }
}

/// Copies a hash into the upper bits, which the table uses to tell entries apart.
const fn spread(hash: u32) -> u64 {
    (hash as u64) << 32 | hash as u64
}

#[cfg(test)]
mod tests {
    use profile::StackId;

    use super::*;

    #[test]
    fn ids_are_those_of_first_appearance() {
        let mut index = InternTable::<u64, StackId>::default();
        let mut n_ids = 0;
        for value in (0..3000_u64).map(|at| at * at % 1009 + at / 700 * 2000).chain(0..500) {
            let mut is_new = false;
            let id = index.intern(value, || {
                is_new = true;
                n_ids += 1;
                StackId::from_index(n_ids - 1)
            });
            if is_new {
                assert_eq!(id.index(), n_ids - 1);
            }
            assert_eq!(
                index.intern(value, || unreachable!("{value} is known")).index(),
                id.index()
            );
        }
        assert_eq!(index.entries.len(), n_ids);
    }
}
