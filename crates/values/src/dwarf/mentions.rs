//! Units that can name a function, found by their bytes: most units do not contain the name, and need no parsing.
//!
//! A unit names a function by a string of its own, or by the offset of one in a section of strings.

use std::ops::Range;

use gimli::{Reader, Section as _};
use memchr::memmem::{Finder, find_iter};

use super::sources::Sources;
use crate::error::Error;

/// Bits of the filter of offsets.
const FILTER: u32 = 1 << 12;
/// Offsets with one bit of the filter.
const OF_BIT: u32 = 64;

/// Places of words in the sections of strings.
pub(crate) struct Mentions {
    words: Vec<Finder<'static>>,
    offsets: StringOffsets,
}

/// Offsets of strings that contain a word, or end in one.
struct StringOffsets {
    /// Sorted and disjoint.
    ranges: Vec<Range<u32>>,
    filter: Vec<bool>,
}

impl Mentions {
    /// Searches the sections of strings. Returns `None` if units cannot be told apart by their bytes: a word is empty,
    /// or a section has 4 GiB.
    ///
    /// # Errors
    /// If the meter of `sources` is exhausted.
    pub(crate) fn of<'a, R: Reader<Offset = usize>>(
        sources: &Sources<'a, R>,
        words: &[String],
    ) -> Result<Option<Self>, Error> {
        if words.iter().any(String::is_empty) {
            return Ok(None);
        }
        let mut ranges = Vec::new();
        for dwarf in sources.plain_files() {
            for section in [dwarf.debug_str.reader(), dwarf.debug_line_str.reader()] {
                let text = section.to_slice()?;
                if u32::try_from(text.len()).is_err() {
                    return Ok(None);
                }
                sources.meter().steps(1 + text.len() as u64 / 64)?;
                for word in words {
                    for range in strings_with(&text, word.as_bytes()) {
                        sources.meter().hold(size_of::<Range<u32>>())?;
                        ranges.push(range);
                    }
                }
            }
        }
        let words = words.iter().map(|word| Finder::new(word).into_owned()).collect();
        Ok(Some(Self { words, offsets: StringOffsets::new(ranges) }))
    }

    /// Returns false if a unit, by its index, cannot name a function with one of the words.
    ///
    /// # Errors
    /// If the meter is exhausted, or the unit is damaged.
    pub(crate) fn may_be_in<'a, R: Reader<Offset = usize>>(
        &self,
        sources: &Sources<'a, R>,
        index: usize,
    ) -> Result<bool, Error> {
        let Some((bytes, is_big)) = sources.plain_unit(index)? else { return Ok(true) };
        let bytes = bytes.to_slice()?;
        sources.meter().steps(1 + bytes.len() as u64 / 8)?;
        let has_word = || self.words.iter().any(|word| word.find(&bytes).is_some());
        Ok(self.offsets.occur_in(&bytes, is_big) || has_word())
    }
}

impl StringOffsets {
    fn new(mut ranges: Vec<Range<u32>>) -> Self {
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut disjoint: Vec<Range<u32>> = Vec::new();
        for range in ranges {
            match disjoint.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => disjoint.push(range),
            }
        }
        let mut filter = vec![false; FILTER as usize];
        for range in &disjoint {
            let bits = range.start / OF_BIT..=range.end.saturating_sub(1) / OF_BIT;
            for bit in bits.take(FILTER as usize) {
                if let Some(set) = filter.get_mut((bit % FILTER) as usize) {
                    *set = true;
                }
            }
        }
        Self { ranges: disjoint, filter }
    }

    /// Returns true if one of the offsets occurs in bytes, at any place. The low half of an offset of 64 bits is one of
    /// 32.
    fn occur_in(&self, bytes: &[u8], is_big: bool) -> bool {
        if self.ranges.is_empty() {
            return false;
        }
        bytes.windows(4).any(|four| {
            let four = four.try_into().unwrap_or([0; 4]);
            let offset = if is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) };
            let bit = (offset / OF_BIT) % FILTER;
            self.filter.get(bit as usize) == Some(&true) && self.contains(offset)
        })
    }

    fn contains(&self, offset: u32) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= offset);
        let range = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.is_some_and(|range| range.contains(&offset))
    }
}

/// Returns the offsets of the strings of a section that contain a word, or that begin with it inside of another string.
fn strings_with<'t>(text: &'t [u8], word: &'t [u8]) -> impl Iterator<Item = Range<u32>> {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|&it| is_word_byte(it));
    find_iter(text, word).filter_map(move |at| {
        if is_part(text.get(at + word.len())) {
            return None;
        }
        let before = text.get(..at).unwrap_or_default();
        let start = match is_part(before.last()) {
            // Strings that end alike share their bytes.
            true => at,
            false => memchr::memrchr(0, before).map_or(0, |zero| zero + 1),
        };
        Some(u32::try_from(start).ok()?..u32::try_from(at + 1).ok()?)
    })
}

/// Returns true for bytes of identifiers.
pub(crate) const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_with_a_word_are_found() {
        let text = b"\0get\0budget\0get<int>\0getter\0A::get(int)\0";
        let found: Vec<_> = strings_with(text, b"get").collect();
        assert_eq!(found, [1..2, 8..9, 12..13, 28..32]);
    }

    #[test]
    fn offsets_are_found_at_any_place() {
        let offsets = StringOffsets::new(vec![28..32, 1..2, 70_000..70_010]);
        for (offset, is_there) in
            [(0, false), (1, true), (2, false), (28, true), (31, true), (32, false), (70_009, true)]
        {
            for at in 0..5 {
                let mut bytes = vec![0xee; at];
                bytes.extend(u32::to_le_bytes(offset));
                assert_eq!(offsets.occur_in(&bytes, false), is_there, "{offset} {at}");
                let mut bytes = vec![0xee; at];
                bytes.extend(u32::to_be_bytes(offset));
                assert_eq!(offsets.occur_in(&bytes, true), is_there, "{offset} {at}");
            }
        }
        assert!(!StringOffsets::new(Vec::new()).occur_in(&[0; 8], false));
    }
}
