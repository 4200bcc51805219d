//! Interned byte strings: each distinct one is stored once, in one allocation, with a dense id.

use address::dangling;
use std::hash::BuildHasher as _;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

use crate::encoding::{Decoder, Encoding, encode_bytes};
use crate::id::{RowId as _, StringId};

/// Minimum number of strings per task when hashing in parallel.
const FEW: usize = 256;

/// Distinct byte strings, in order of first appearance. Names of functions and files are not always UTF-8.
#[derive(Debug, Clone, Default)]
pub struct Strings {
    bytes: Vec<u8>,
    /// By string: its end in `bytes`. It starts at the end of the previous one.
    ends: Vec<u32>,
    /// Hash and id, so that growing the table does not rehash strings.
    index: HashTable<(u64, StringId)>,
    hasher: StringHasher,
    /// Number of omitted strings.
    omitted: u64,
}

/// Maximum size of all strings in bytes, with space for [`OMITTED`].
const MOST_BYTES: usize = u32::MAX as usize - 64;

/// Substitute for strings that exceed the maximum size.
const OMITTED: &[u8] = b"[left out: more than 4 GiB of names]";

/// Hashes strings for one table. Each table has its own seed, so hashes are not valid for other tables.
///
/// Cloning is cheap, so that threads can hash names while the table is being filled.
#[derive(Debug, Clone, Default)]
pub struct StringHasher(DefaultHashBuilder);

impl StringHasher {
    /// Returns the hash for [`Strings::intern_hashed`].
    #[inline]
    #[must_use]
    pub fn hash(&self, string: &[u8]) -> u64 {
        self.0.hash_one(string)
    }
}

/// Maximum size, in bytes, of a name or path in formats that repeat it for each frame. Longer ones are truncated.
pub const LONGEST_REPEATED: usize = 4 << 10;
/// Maximum size, in bytes, of a name or path in tables, which contain it once.
pub const LONGEST_IN_TABLE: usize = 64 << 10;

impl Strings {
    /// Returns the id of `string`, adding it if it is new. If all strings together would exceed 4 GiB, returns the id
    /// of a substitute; [`Self::omitted`] counts these cases.
    pub fn intern(&mut self, string: &[u8]) -> StringId {
        self.intern_hashed(string, self.hasher.hash(string))
    }

    /// Returns the ids of many strings, in order. Equivalent to calling [`Self::intern`] for each, but hashes in
    /// parallel.
    pub fn intern_all(&mut self, strings: &[&[u8]]) -> Vec<StringId> {
        let Self { bytes, ends, index, hasher, .. } = self;
        bytes.reserve(strings.iter().map(|string| string.len()).sum());
        ends.reserve(strings.len());
        index.reserve(strings.len(), |&(hash, _)| hash);
        let strings = strings.par_iter().with_min_len(FEW);
        let hashed: Vec<_> = strings.map(|string| (*string, hasher.hash(string))).collect();
        hashed.into_iter().map(|(string, hash)| self.intern_hashed(string, hash)).collect()
    }

    /// Fills an empty index. Returns false if two strings are equal.
    fn rebuild_index(&mut self) -> bool {
        let Self { bytes, ends, index, hasher, omitted: _ } = self;
        let id = |at| StringId::from_index(at);
        let ids = (0..ends.len()).into_par_iter().with_min_len(FEW);
        let hashes: Vec<u64> = ids.map(|at| hasher.hash(slice(bytes, ends, id(at)))).collect();
        index.reserve(hashes.len(), |&(hash, _)| hash);
        for (at, hash) in hashes.into_iter().enumerate() {
            let string = slice(bytes, ends, id(at));
            let same = |&(known, other): &(u64, StringId)| {
                known == hash && slice(bytes, ends, other) == string
            };
            match index.entry(hash, same, |&(hash, _)| hash) {
                Entry::Vacant(entry) => entry.insert((hash, id(at))),
                Entry::Occupied(_) => return false,
            };
        }
        true
    }

    /// Returns a hasher for [`Self::intern_hashed`] of this table.
    #[must_use]
    pub fn hasher(&self) -> StringHasher {
        self.hasher.clone()
    }

    /// Returns the id of `string`, adding it if it is new. `hash` must be from [`Self::hasher`] of this table.
    /// Strings can thus be hashed in parallel and interned in an order that does not depend on threads.
    /// With any other hash, the same string can get a second id.
    pub fn intern_hashed(&mut self, string: &[u8], hash: u64) -> StringId {
        self.intern_within(string, hash, MOST_BYTES)
    }

    /// Like [`Self::intern_hashed`], with a limit of `most` bytes for all strings.
    fn intern_within(&mut self, string: &[u8], hash: u64, most: usize) -> StringId {
        let Self { bytes, ends, index, .. } = self;
        let same =
            |&(known, id): &(u64, StringId)| known == hash && slice(bytes, ends, id) == string;
        if let Some(&(_, id)) = index.find(hash, same) {
            return id;
        }
        if bytes.len().saturating_add(string.len()) > most && string != OMITTED {
            self.omitted += 1;
            return self.intern_within(OMITTED, self.hasher.hash(OMITTED), most);
        }
        let id = StringId::from_index(ends.len());
        bytes.extend_from_slice(string);
        ends.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        index.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// Number of omitted strings, including repeated ones.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the number of strings that may exceed [`LONGEST_REPEATED`] bytes when printed. A control character can
    /// have up to six bytes, a byte that is not ASCII three.
    #[must_use]
    pub fn long(&self) -> u64 {
        let printed = |byte: &u8| match byte {
            0..0x20 | 0x7f => 6,
            b'"' | b'\\' => 2,
            0x80.. => 3,
            _ => 1,
        };
        let may_be_long = |string: &&[u8]| string.len() > LONGEST_REPEATED / 6;
        let is_long = |string: &&[u8]| {
            string.len() > LONGEST_REPEATED
                || string.iter().map(printed).sum::<usize>() > LONGEST_REPEATED
        };
        self.iter().filter(may_be_long).filter(is_long).count() as u64
    }

    /// Returns the string of an id from this table. An unknown id is a bug of the caller: it panics in debug builds.
    /// In release builds it is counted ([`dangling`]), and the string is empty.
    #[must_use]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn get(&self, id: StringId) -> &[u8] {
        if id.index() >= self.ends.len() {
            dangling::<StringId>();
        }
        slice(&self.bytes, &self.ends, id)
    }

    /// Iterates over all strings in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.ids().map(|id| self.get(id))
    }

    /// Iterates over the ids of all strings.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = StringId> + use<> {
        (0..self.ends.len()).map(StringId::from_index)
    }

    /// Memory of the strings, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * size_of::<u32>()
            + self.index.allocation_size()
    }

    /// Number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl PartialEq for Strings {
    /// Compares the strings, but not the seeds of their hashes.
    fn eq(&self, other: &Self) -> bool {
        let Self { bytes, ends, omitted, index: _, hasher: _ } = self;
        (bytes, ends, omitted) == (&other.bytes, &other.ends, &other.omitted)
    }
}

impl Eq for Strings {}

impl Encoding for Strings {
    const BYTES: usize = u64::BYTES + Vec::<u32>::BYTES + u64::BYTES;
    const IS_FIXED: bool = false;

    fn encode(&self, out: &mut Vec<u8>) {
        let Self { bytes, ends, omitted, index: _, hasher: _ } = self;
        omitted.encode(out);
        ends.encode(out);
        encode_bytes(bytes, out);
    }

    /// Refuses equal strings, whose equal hashes would make the table of hashes slow.
    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let omitted = u64::decode(decoder)?;
        let ends = Vec::<u32>::decode(decoder)?;
        let bytes = decoder.bytes()?.to_vec();
        if !ends.is_sorted() || ends.last().map_or(0, |&end| end as usize) != bytes.len() {
            return None;
        }
        let mut strings = Self { bytes, ends, omitted, ..Self::default() };
        strings.rebuild_index().then_some(strings)
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[u32], id: StringId) -> &'a [u8] {
    let index = id.index();
    let start = if index == 0 { 0 } else { ends.get(index - 1).copied().unwrap_or(0) as usize };
    let end = ends.get(index).map_or(start, |&end| end as usize);
    bytes.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_an_id() {
        let mut strings = Strings::default();
        let texts = [&b"a"[..], b"", b"bc", b"a", b"", b"\xff"];
        let ids = texts.map(|text| strings.intern(text).index());
        assert_eq!(ids, [0, 1, 2, 0, 1, 3]);
        assert_eq!(strings.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bc", b"\xff"]);
    }

    #[test]
    fn strings_without_room_are_left_out() {
        let mut strings = Strings::default();
        let hasher = strings.hasher();
        let texts = [&b"abc"[..], b"defg", b"ab", b"abc", b"defg"];
        let ids = texts.map(|text| strings.intern_within(text, hasher.hash(text), 5).index());
        assert_eq!(ids, [0, 1, 1, 0, 1]);
        assert_eq!((strings.get(StringId::new(1)), strings.omitted()), (OMITTED, 3));
    }

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

    #[test]
    fn what_was_hashed_elsewhere_is_found() {
        let mut strings = Strings::default();
        let hasher = strings.hasher();
        let hashes = std::thread::spawn(move || [&b"x"[..], b"y"].map(|text| hasher.hash(text)));
        let [x, y] = hashes.join().expect("hashing does not panic");
        let first = strings.intern(b"x");
        assert_eq!(strings.intern_hashed(b"x", x), first);
        let second = strings.intern_hashed(b"y", y);
        assert_eq!(strings.intern(b"y"), second);
        assert_eq!(strings.len(), 2);
    }
}
