//! Interning: distinct values get dense ids in order of first appearance.

use std::hash::{BuildHasher as _, Hash};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

/// The ids of distinct values. The values stand beside their ids: what is found here need not be looked at elsewhere,
/// which would be another line that is in no cache.
#[derive(Debug)]
pub(crate) struct Index<T, I> {
    index: HashTable<(T, I)>,
    hasher: DefaultHashBuilder,
}

impl<T, I> Default for Index<T, I> {
    fn default() -> Self {
        Self { index: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }
}

impl<T: Copy + Eq + Hash, I: Copy> Index<T, I> {
    /// The id of a value; where it is new, the one that `add` gives it.
    #[inline]
    pub(crate) fn intern(&mut self, value: T, add: impl FnOnce() -> I) -> I {
        let Self { index, hasher } = self;
        let hash = hasher.hash_one(value);
        let entry =
            index.entry(hash, |(known, _)| *known == value, |(known, _)| hasher.hash_one(known));
        match entry {
            Entry::Occupied(known) => known.get().1,
            Entry::Vacant(free) => {
                let id = add();
                free.insert((value, id));
                id
            }
        }
    }

    /// What it takes, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.index.allocation_size()
    }
}
