//! Reading of answer files: everything is checked once, so that later lookups cannot go out of bounds.

use std::ops::Range;

use address::Svma;
use symbolizer::WhyNoName;

use super::{FrameRow, reason_of_number};
use crate::key::CacheKey;
use crate::layout::{
    FRAME_WORDS, HAS_START, HEAD, MAGIC, UNCHECKED, VERSION, checksum, u32_at, u64_at,
};

/// The answers for one file.
#[derive(Debug)]
pub(crate) struct Answers {
    bytes: Vec<u8>,
    addresses: usize,
    frames: usize,
    strings: usize,
    /// Offsets of the tables.
    at: AnswerTables,
}

/// Offsets of the tables.
#[derive(Clone, Copy, Debug)]
struct AnswerTables {
    starts: usize,
    ends: usize,
    replaced: usize,
    marks: usize,
    frames: usize,
    string_ends: usize,
    text: usize,
}

/// The answer for one address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AnswerRow {
    pub(crate) start: Option<Svma>,
    pub(crate) frames: Range<usize>,
    pub(crate) replaced: Option<u32>,
    pub(crate) reason: Option<WhyNoName>,
}

impl Answers {
    /// Parses the answers in a cache file; `None` if they are damaged, of another version, or stored under another key.
    pub(crate) fn read(bytes: Vec<u8>, key: &CacheKey) -> Option<Self> {
        let answers = Self::read_any(bytes)?;
        (answers.bytes.get(UNCHECKED..UNCHECKED + CacheKey::SIZE)? == key.0).then_some(answers)
    }

    /// The same, for any key.
    pub(crate) fn read_any(bytes: Vec<u8>) -> Option<Self> {
        if bytes.len() < HEAD || !bytes.starts_with(&MAGIC) || u32_at(&bytes, 8) != VERSION {
            return None;
        }
        if checksum(bytes.get(UNCHECKED..)?) != u64_at(&bytes, 16) {
            return None;
        }
        let number = |index: usize| u32_at(&bytes, UNCHECKED + CacheKey::SIZE + 4 * index) as usize;
        let [addresses, frames, strings, text_size] = [0, 1, 2, 3].map(number);
        let mut at = HEAD;
        let mut table = |rows: usize, size: usize| {
            let start = at;
            at = at.checked_add(rows.checked_mul(size)?)?;
            Some(start)
        };
        table(addresses, 8)?;
        let at = AnswerTables {
            starts: table(addresses, 8)?,
            ends: table(addresses, 4)?,
            replaced: table(addresses, 4)?,
            marks: table(addresses, 1)?,
            frames: table(frames, 4 * FRAME_WORDS)?,
            string_ends: table(strings, 4)?,
            text: table(text_size, 1)?,
        };
        if bytes.len() != at.text.checked_add(text_size)? {
            return None;
        }
        let answers = Self { bytes, addresses, frames, strings, at };
        answers.is_consistent(text_size).then_some(answers)
    }

    /// Returns true if addresses ascend and all references are valid.
    fn is_consistent(&self, text_size: usize) -> bool {
        let mut end = 0;
        let ends_ascend = (0..self.strings).all(|string| {
            let start = std::mem::replace(&mut end, self.string_end(string));
            start <= end
        });
        let is_string = |number: u32| number as usize <= self.strings;
        let frames_fit = (0..self.frames).all(|frame| {
            let word = |word: usize| u32_at(&self.bytes, self.frame_at(frame) + 4 * word);
            [0, 1, 5].into_iter().all(|at| is_string(word(at))) && word(4) <= 1
        });
        let (mut last_end, mut last) = (0, None);
        let rows_fit = (0..self.addresses).all(|row| {
            let (start, address) = (last_end, Some(self.address(row)));
            last_end = self.frames_end(row);
            let ascends = address > std::mem::replace(&mut last, address);
            let mark = self.mark(row) & !HAS_START;
            ascends
                && start <= last_end
                && is_string(u32_at(&self.bytes, self.at.replaced + 4 * row))
                && reason_of_number(mark).is_some()
        });
        ends_ascend && end == text_size && frames_fit && rows_fit && last_end == self.frames
    }

    /// Number of addresses with an answer.
    pub(crate) const fn len(&self) -> usize {
        self.addresses
    }

    /// Number of strings.
    pub(crate) const fn strings(&self) -> usize {
        self.strings
    }

    /// Size in memory, in bytes.
    pub(crate) const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the rows of ascending addresses; `None` for those without an answer.
    pub(crate) fn find(&self, addresses: &[Svma]) -> Vec<Option<u32>> {
        let mut from = 0;
        let find = |address: &Svma| {
            from = self.lower_bound(from, address.0);
            let is_known = from < self.addresses && self.address(from) == address.0;
            is_known.then_some(from as u32)
        };
        addresses.iter().map(find).collect()
    }

    /// Returns the last row with an address of at most `address`.
    pub(crate) fn last_up_to(&self, address: u64) -> Option<usize> {
        let row = self.lower_bound(0, address);
        let is_it = row < self.addresses && self.address(row) == address;
        if is_it { Some(row) } else { row.checked_sub(1) }
    }

    /// Returns the first row at or after `from` with an address of at least `address`.
    fn lower_bound(&self, from: usize, address: u64) -> usize {
        let (mut low, mut step) = (from, 1);
        // Consecutive lookups are mostly near each other.
        while low + step < self.addresses && self.address(low + step) < address {
            low += step;
            step *= 2;
        }
        let mut high = self.addresses.min(low + step);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.address(middle) < address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(crate) fn address(&self, row: usize) -> u64 {
        u64_at(&self.bytes, HEAD + 8 * row)
    }

    pub(crate) fn row(&self, row: usize) -> AnswerRow {
        let mark = self.mark(row);
        let start = Svma(u64_at(&self.bytes, self.at.starts + 8 * row));
        let first = row.checked_sub(1).map_or(0, |before| self.frames_end(before));
        AnswerRow {
            start: (mark & HAS_START != 0).then_some(start),
            frames: first..self.frames_end(row),
            replaced: u32_at(&self.bytes, self.at.replaced + 4 * row).checked_sub(1),
            reason: reason_of_number(mark & !HAS_START).flatten(),
        }
    }

    pub(crate) fn frame(&self, frame: usize) -> FrameRow {
        let word = |word: usize| u32_at(&self.bytes, self.frame_at(frame) + 4 * word);
        FrameRow {
            function: word(0).checked_sub(1),
            file: word(1).checked_sub(1),
            line: word(2),
            column: word(3),
            inlined: word(4) != 0,
            declared_file: word(5).checked_sub(1),
            declared_line: word(6),
        }
    }

    pub(crate) fn string(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.string_end(before));
        let end = self.string_end(number);
        self.bytes.get(self.at.text + start..self.at.text + end).unwrap_or_default()
    }

    const fn frame_at(&self, frame: usize) -> usize {
        self.at.frames + 4 * FRAME_WORDS * frame
    }

    fn frames_end(&self, row: usize) -> usize {
        u32_at(&self.bytes, self.at.ends + 4 * row) as usize
    }

    fn mark(&self, row: usize) -> u8 {
        self.bytes.get(self.at.marks + row).copied().unwrap_or(u8::MAX)
    }

    fn string_end(&self, number: usize) -> usize {
        u32_at(&self.bytes, self.at.string_ends + 4 * number) as usize
    }
}
