//! Interned byte strings: each distinct one is kept once, in one allocation, under a dense id.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

/// Strings that are not worth being hashed by several threads.
const FEW: usize = 256;

/// An index into [`Strings`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StringId(pub u32);

/// Distinct byte strings (names of functions and files are not always UTF-8), in order of first appearance.
#[derive(Debug, Default)]
pub struct Strings {
    bytes: Vec<u8>,
    /// Where string `i` ends in `bytes`; it begins where the one before ends.
    ends: Vec<u32>,
    /// Hash and id, so that no string is hashed again when the table grows.
    index: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
}

impl Strings {
    /// The id of `string`, which is added where it is new.
    ///
    /// # Panics
    /// Where all strings together pass 4 GiB.
    pub fn intern(&mut self, string: &[u8]) -> StringId {
        self.intern_hashed(string, self.hasher.hash_one(string))
    }

    /// The ids of many strings, in their order; like one [`Self::intern`] after the other, with less waiting.
    ///
    /// # Panics
    /// Where all strings together pass 4 GiB.
    pub fn intern_all(&mut self, strings: &[&[u8]]) -> Vec<StringId> {
        let Self { bytes, ends, index, hasher } = self;
        bytes.reserve(strings.iter().map(|string| string.len()).sum());
        ends.reserve(strings.len());
        index.reserve(strings.len(), |&(hash, _)| hash);
        let strings = strings.par_iter().with_min_len(FEW);
        let hashed: Vec<_> = strings.map(|string| (*string, hasher.hash_one(string))).collect();
        hashed.into_iter().map(|(string, hash)| self.intern_hashed(string, hash)).collect()
    }

    fn intern_hashed(&mut self, string: &[u8], hash: u64) -> StringId {
        let Self { bytes, ends, index, .. } = self;
        let same = |&(known, id): &(u64, u32)| known == hash && slice(bytes, ends, id) == string;
        if let Some(&(_, id)) = index.find(hash, same) {
            return StringId(id);
        }
        let id = u32::try_from(ends.len()).expect("fewer strings than bytes");
        bytes.extend_from_slice(string);
        ends.push(u32::try_from(bytes.len()).expect("names of a recording fit into 4 GiB"));
        index.insert_unique(hash, (hash, id), |&(hash, _)| hash);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_are_as_one_after_the_other() {
        let texts: Vec<String> = (0..2_000).map(|number| format!("{}", number % 701)).collect();
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let [mut one, mut all] = [Strings::default(), Strings::default()];
        assert_eq!(one.intern(b"700"), all.intern(b"700"));
        let ids: Vec<StringId> = texts.iter().map(|text| one.intern(text)).collect();
        assert_eq!(all.intern_all(&texts), ids);
        assert_eq!(all.len(), 701);
        assert_eq!(all.iter().collect::<Vec<_>>(), one.iter().collect::<Vec<_>>());
        assert_eq!(all.intern_all(&[]), []);
    }
}
