//! Writing of answer files.

use hashbrown::HashMap;
use profile::Strings;

use super::read::{AnswerRow, Answers};
use super::{FrameRow, number_of_reason};
use crate::key::CacheKey;
use crate::layout::{FRAME_WORDS, HAS_START, HEAD, MAGIC, UNCHECKED, VERSION, checksum};

/// Builder of an answer file, by ascending addresses.
#[derive(Default)]
pub(crate) struct Writer {
    addresses: Vec<u8>,
    starts: Vec<u8>,
    ends: Vec<u8>,
    replaced: Vec<u8>,
    marks: Vec<u8>,
    frames: Vec<u8>,
    strings: Strings,
}

/// New numbers of the strings of one source.
#[derive(Default)]
pub(crate) struct Renumbered(HashMap<u32, u32>);

impl Renumbered {
    fn number<'s>(
        &mut self,
        string: Option<u32>,
        text: impl Fn(u32) -> &'s [u8],
        strings: &mut Strings,
    ) -> u32 {
        let Some(string) = string else { return 0 };
        *self.0.entry(string).or_insert_with(|| strings.intern(text(string)).as_u32() + 1)
    }
}

impl Writer {
    /// Copies an answer from an older file.
    pub(crate) fn add_old(&mut self, old: &Answers, row: usize, numbers: &mut Renumbered) {
        let address = old.address(row);
        let row = old.row(row);
        let frames = row.frames.clone().map(|frame| old.frame(frame));
        self.add(address, &row, frames, numbers, |number| old.string(number));
    }

    /// Adds an answer with its frames and the texts of its strings. Does not read the frame range in `row`.
    pub(crate) fn add<'s>(
        &mut self,
        address: u64,
        row: &AnswerRow,
        frames: impl Iterator<Item = FrameRow>,
        numbers: &mut Renumbered,
        text: impl Fn(u32) -> &'s [u8],
    ) {
        let AnswerRow { start, replaced, reason, .. } = *row;
        // Reasons that are not stored never get here.
        let mark = number_of_reason(reason).unwrap_or(0);
        self.marks.push(mark | if start.is_some() { HAS_START } else { 0 });
        self.addresses.extend_from_slice(&address.to_le_bytes());
        self.starts.extend_from_slice(&start.map_or(0, |start| start.0).to_le_bytes());
        let strings = &mut self.strings;
        for frame in frames {
            let mut number = |string| numbers.number(string, &text, strings);
            let (function, file) = (number(frame.function), number(frame.file));
            let declared_file = number(frame.declared_file);
            let FrameRow { line, column, inlined, declared_line, .. } = frame;
            let inlined = u32::from(inlined);
            for word in [function, file, line, column, inlined, declared_file, declared_line] {
                self.frames.extend_from_slice(&word.to_le_bytes());
            }
        }
        let replaced = numbers.number(replaced, &text, strings);
        self.replaced.extend_from_slice(&replaced.to_le_bytes());
        let end = self.frames.len() / (4 * FRAME_WORDS);
        self.ends.extend_from_slice(&(end as u32).to_le_bytes());
    }

    /// Returns the file; `None` if the content exceeds its layout or `most` bytes.
    pub(crate) fn finish(self, key: &CacheKey, most: u64) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut text_ends = Vec::new();
        for string in self.strings.iter() {
            text.extend_from_slice(string);
            text_ends.extend_from_slice(&u32::try_from(text.len()).ok()?.to_le_bytes());
        }
        let numbers = [
            self.marks.len(),
            self.frames.len() / (4 * FRAME_WORDS),
            self.strings.len(),
            text.len(),
        ];
        let tables = [
            &self.addresses,
            &self.starts,
            &self.ends,
            &self.replaced,
            &self.marks,
            &self.frames,
            &text_ends,
            &text,
        ];
        let size = HEAD + tables.iter().map(|table| table.len()).sum::<usize>();
        if size as u64 > most || self.strings.omitted() > 0 {
            return None;
        }
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.resize(UNCHECKED, 0);
        bytes.extend_from_slice(&key.0);
        for number in numbers {
            bytes.extend_from_slice(&u32::try_from(number).ok()?.to_le_bytes());
        }
        tables.iter().for_each(|table| bytes.extend_from_slice(table));
        let sum = checksum(bytes.get(UNCHECKED..)?).to_le_bytes();
        bytes.get_mut(UNCHECKED - sum.len()..UNCHECKED)?.copy_from_slice(&sum);
        Some(bytes)
    }
}
