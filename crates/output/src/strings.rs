//! Interned byte strings: each distinct one is kept once, in one allocation, under a dense id.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

/// An index into [`Strings`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StringId(pub u32);

/// Distinct byte strings (names of functions and files are not always UTF-8), in order of first appearance.
#[derive(Debug, Default)]
pub struct Strings {
    bytes: Vec<u8>,
    /// Where string `i` ends in `bytes`; it begins where the one before ends.
    ends: Vec<u32>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Strings {
    /// The id of `string`, which is added where it is new.
    ///
    /// # Panics
    /// Where all strings together pass 4 GiB.
    pub fn intern(&mut self, string: &[u8]) -> StringId {
        let hash = self.hasher.hash_one(string);
        if let Some(&id) = self.index.find(hash, |&id| self.get(StringId(id)) == string) {
            return StringId(id);
        }
        let id = u32::try_from(self.ends.len()).expect("fewer strings than bytes");
        self.bytes.extend_from_slice(string);
        self.ends
            .push(u32::try_from(self.bytes.len()).expect("names of a recording fit into 4 GiB"));
        let Self { bytes, ends, index, hasher } = self;
        index.insert_unique(hash, id, |&id| hasher.hash_one(slice(bytes, ends, id)));
        StringId(id)
    }

    /// The string with that id; empty where there is none.
    #[must_use]
    pub fn get(&self, id: StringId) -> &[u8] {
        slice(&self.bytes, &self.ends, id.0)
    }

    /// All strings in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len() as u32).map(|id| slice(&self.bytes, &self.ends, id))
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
}

fn slice<'a>(bytes: &'a [u8], ends: &[u32], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends.get(id - 1).copied().unwrap_or(0) as usize };
    let end = ends.get(id).map_or(start, |&end| end as usize);
    bytes.get(start..end).unwrap_or_default()
}
