//! Interning: distinct values get dense ids in order of first appearance.

use std::hash::{BuildHasher as _, Hash};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use profile::RowId;

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
    fn with_capacity(capacity: usize) -> Self {
        Self { index: HashTable::with_capacity(capacity), hasher: DefaultHashBuilder::default() }
    }

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

/// Distinct values of a type by dense id.
#[derive(Debug)]
pub(crate) struct Interner<T, I> {
    values: Vec<T>,
    index: Index<T, I>,
}

impl<T, I> Default for Interner<T, I> {
    fn default() -> Self {
        Self { values: Vec::new(), index: Index::default() }
    }
}

impl<T: Copy + Eq + Hash, I: RowId> Interner<T, I> {
    /// One that does not grow up to that number of values.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { values: Vec::with_capacity(capacity), index: Index::with_capacity(capacity) }
    }

    /// The id of a value, which is added where it is new.
    #[inline]
    pub(crate) fn intern(&mut self, value: T) -> I {
        let Self { values, index } = self;
        index.intern(value, || {
            let id = I::from_index(values.len());
            values.push(value);
            id
        })
    }

    /// Adds a value that is not looked for later: the same one may be there.
    #[inline]
    pub(crate) fn push(&mut self, value: T) -> I {
        let id = I::from_index(self.values.len());
        self.values.push(value);
        id
    }

    /// What they take, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>() + self.index.heap_bytes()
    }

    /// All values in order of their ids.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}
