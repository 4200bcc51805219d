//! The head of the table: which version it is, and where its parts are.
//!
//! Source: `pcHeader` in src/runtime/symtab.go of Go, `parsePclnTab` in src/debug/gosym/pclntab.go.

use crate::bytes::{u32_at, u64_at};

/// The versions that are read, by the release of Go that they came with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Version {
    /// 1.16 and 1.17: addresses of functions are words.
    Go116,
    /// 1.18 and 1.19: they are distances from the first byte of the code.
    Go118,
    /// 1.20 and later: functions state their first line.
    Go120,
}

/// Where the parts of a table are, as offsets in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    pub(crate) version: Version,
    /// Bytes of the shortest instruction, in which distances in code are counted.
    pub(crate) quantum: u64,
    /// How many functions there are.
    pub(crate) functions: usize,
    /// Where the code begins; 0 where that is not stated.
    pub(crate) text: u64,
    /// Names of functions.
    pub(crate) names: usize,
    /// Which files the units have, by their own numbers.
    pub(crate) units: usize,
    /// Names of files.
    pub(crate) files: usize,
    /// Values by address.
    pub(crate) values: usize,
    /// The list of functions by address, and what is known of each.
    pub(crate) records: usize,
}

/// Bytes of the head of the newest version: 8, and eight words.
const HEAD: usize = 8 + 8 * 8;

impl Layout {
    /// The head at the beginning of some bytes, in little-endian order and with words of 8 bytes; `None` where none is, or
    /// where a part of the table is outside of the bytes.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let version = match u32_at(bytes, 0)? {
            0xffff_fffa => Version::Go116,
            0xffff_fff0 => Version::Go118,
            0xffff_fff1 => Version::Go120,
            _ => return None,
        };
        let &[0, 0, quantum @ (1 | 2 | 4), 8] = bytes.get(4..8)? else { return None };
        let word = |index: usize| u64_at(bytes, 8 + 8 * index);
        let offset = |index: usize| {
            let offset = usize::try_from(word(index)?).ok()?;
            (HEAD - 8..=bytes.len()).contains(&offset).then_some(offset)
        };
        let (text, first) = match version {
            Version::Go116 => (0, 2),
            Version::Go118 | Version::Go120 => (word(2)?, 3),
        };
        let layout = Self {
            version,
            quantum: quantum.into(),
            functions: usize::try_from(word(0)?).ok()?,
            text,
            names: offset(first)?,
            units: offset(first + 1)?,
            files: offset(first + 2)?,
            values: offset(first + 3)?,
            records: offset(first + 4)?,
        };
        let list = layout.functions.checked_mul(2)?.checked_add(1)?;
        let list = list.checked_mul(layout.entry_word())?;
        (layout.records.checked_add(list)? <= bytes.len()).then_some(layout)
    }

    /// Bytes of a word of the list of functions, in which each has two.
    pub(crate) const fn entry_word(&self) -> usize {
        match self.version {
            Version::Go116 => 8,
            Version::Go118 | Version::Go120 => 4,
        }
    }
}
