//! The table of distinct byte strings.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Index of a string in [`NameTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameId(pub u32);

/// Distinct byte strings, numbered in the order in which they were first seen. They need not be UTF-8.
#[derive(Default)]
pub struct NameTable {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Hash and id, so that no string is hashed again when the table grows.
    index: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
}

impl NameTable {
    /// The string; empty where there is no such id.
    #[must_use]
    pub fn get(&self, id: NameId) -> &[u8] {
        slice(&self.bytes, &self.ends, id.0)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| slice(&self.bytes, &self.ends, index as u32))
    }

    /// The id of `name`, which is added where it is new.
    pub(crate) fn intern(&mut self, name: &[u8]) -> NameId {
        self.intern_hashed(name, self.hash(name))
    }

    /// The hash that [`Self::intern_hashed`] wants.
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        self.hasher.hash_one(name)
    }

    /// The id of a name whose hash is known.
    pub(crate) fn intern_hashed(&mut self, name: &[u8], hash: u64) -> NameId {
        let Self { bytes, ends, index, .. } = self;
        let same = |&(known, id): &(u64, u32)| known == hash && slice(bytes, ends, id) == name;
        if let Some(&(_, found)) = index.find(hash, same) {
            return NameId(found);
        }
        let id = ends.len() as u32;
        bytes.extend_from_slice(name);
        ends.push(bytes.len());
        index.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        NameId(id)
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let index = id as usize;
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    ends.get(index).and_then(|&end| bytes.get(start..end)).unwrap_or(&[])
}

impl std::fmt::Debug for NameTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(String::from_utf8_lossy)).finish()
    }
}

impl PartialEq for NameTable {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.ends == other.ends
    }
}

impl Eq for NameTable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_an_id() {
        let mut names = NameTable::default();
        let ids = [&b"a"[..], b"", b"bc", b"a", b"", b"\xff"].map(|name| names.intern(name).0);
        assert_eq!(ids, [0, 1, 2, 0, 1, 3]);
        assert_eq!(names.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bc", b"\xff"]);
        assert_eq!(names.get(NameId(9)), b"");
    }
}
