//! Interning: distinct values get dense ids in order of first appearance.
//!
//! One thread does that. So values come with their hashes, which all threads make.

use std::hash::{BuildHasher as _, Hash};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use profile::RowId;

/// A value with its hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashed<T> {
    pub(crate) value: T,
    pub(crate) hash: u32,
}

/// Makes the hashes of a replay, which nobody can foresee.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hashes(DefaultHashBuilder);

impl Hashes {
    /// A value that is hashed as itself.
    #[inline]
    pub(crate) fn hashed<T: Hash>(&self, value: T) -> Hashed<T> {
        let hash = self.0.hash_one(&value) as u32;
        Hashed { value, hash }
    }

    /// The hash of a chain, of the hash of the chain outside of its innermost frame (0 for none) and of that frame's. It
    /// does not depend on any ids.
    #[inline]
    pub(crate) fn of_chain(&self, outside: u32, frame: u32) -> u32 {
        self.0.hash_one(u64::from(outside) << 32 | u64::from(frame)) as u32
    }
}

/// The ids of distinct values.
#[derive(Debug)]
pub(crate) struct Index<T, I> {
    known: HashTable<Known<T, I>>,
}

/// A value and its id. They stand side by side: what is found here need not be looked at elsewhere.
#[derive(Clone, Copy, Debug)]
struct Known<T, I> {
    value: T,
    hash: u32,
    id: I,
}

impl<T, I> Default for Index<T, I> {
    fn default() -> Self {
        Self { known: HashTable::new() }
    }
}

impl<T: Copy + Eq, I: RowId> Index<T, I> {
    /// The id of a value; where it is new, the one that `add` gives it.
    #[inline]
    pub(crate) fn intern(&mut self, value: Hashed<T>, add: impl FnOnce() -> I) -> I {
        let Hashed { value, hash } = value;
        let is_same = |known: &Known<T, I>| known.value == value;
        match self.known.entry(spread(hash), is_same, |known| spread(known.hash)) {
            Entry::Occupied(known) => known.get().id,
            Entry::Vacant(free) => {
                let id = add();
                free.insert(Known { value, hash, id });
                id
            }
        }
    }

    /// What it takes, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.known.allocation_size()
    }
}

/// A hash whose upper bits differ, too: the table uses these to tell entries apart.
const fn spread(hash: u32) -> u64 {
    (hash as u64) << 32 | hash as u64
}

#[cfg(test)]
mod tests {
    use profile::StackId;

    use super::*;

    /// Values with the hashes that `hash` gives them have the ids of their first appearance, however the table grew.
    fn ids_are_those_of_first_appearance(hash: impl Fn(u64) -> u32) {
        let mut index = Index::<u64, StackId>::default();
        let mut n_ids = 0;
        for value in (0..3000_u64).map(|at| at * at % 1009 + at / 700 * 2000).chain(0..500) {
            let known = Hashed { value, hash: hash(value) };
            let mut is_new = false;
            let id = index.intern(known, || {
                is_new = true;
                n_ids += 1;
                StackId::from_index(n_ids - 1)
            });
            if is_new {
                assert_eq!(id.index(), n_ids - 1);
            }
            assert_eq!(
                index.intern(known, || unreachable!("{value} is known")).index(),
                id.index()
            );
        }
        assert_eq!(index.known.len(), n_ids);
    }

    #[test]
    fn values_are_found_again() {
        let hashes = Hashes::default();
        ids_are_those_of_first_appearance(|value| hashes.hashed(value).hash);
    }

    #[test]
    fn equal_hashes_are_no_equal_values() {
        ids_are_those_of_first_appearance(|value| value as u32 / 7);
        ids_are_those_of_first_appearance(|_| u32::MAX);
    }

    #[test]
    fn chains_have_the_hashes_of_their_frames_in_their_order() {
        let hashes = Hashes::default();
        let chain = |frames: &[u32]| frames.iter().fold(0, |it, frame| hashes.of_chain(it, *frame));
        assert_eq!(chain(&[3, 4, 5]), chain(&[3, 4, 5]));
        assert_ne!(chain(&[3, 4, 5]), chain(&[4, 3, 5]));
        assert_ne!(chain(&[3, 4]), chain(&[3]));
    }
}
