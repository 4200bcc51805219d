//! Interning: distinct values get dense ids in order of first appearance.

use std::hash::{BuildHasher as _, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct values of a type by dense id.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    /// The values again, with their ids: what is found there need not be looked at elsewhere, which would be another
    /// line that is in no cache.
    index: HashTable<(T, u32)>,
    hasher: DefaultHashBuilder,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { values: Vec::new(), index: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// One that does not grow up to that number of values.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            values: Vec::with_capacity(capacity),
            index: HashTable::with_capacity(capacity),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The id of a value, which is added where it is new.
    #[inline]
    pub(crate) fn intern(&mut self, value: T) -> u32 {
        let Self { values, index, hasher } = self;
        let hash = hasher.hash_one(value);
        let entry =
            index.entry(hash, |(known, _)| *known == value, |(known, _)| hasher.hash_one(known));
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => known.get().1,
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = values.len() as u32;
                free.insert((value, id));
                values.push(value);
                id
            }
        }
    }

    /// What it takes, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>() + self.index.allocation_size()
    }

    /// All values in order of their ids.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// All values in order of their ids.
    pub(crate) fn into_values(self) -> Vec<T> {
        self.values
    }
}
