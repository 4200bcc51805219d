//! The header of the table: its version, and the offsets of its parts.
//!
//! Source: `pcHeader` in src/runtime/symtab.go of Go, `parsePclnTab` in src/debug/gosym/pclntab.go.

use crate::bytes::{u32_at, u64_at};

/// The supported versions, named after their first Go release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Version {
    /// 1.16 and 1.17: addresses of functions are words.
    Go116,
    /// 1.18 and 1.19: they are offsets from the first byte of the code.
    Go118,
    /// 1.20 and later: functions state their first line.
    Go120,
}

/// Offsets of a table's parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TableLayout {
    pub(crate) version: Version,
    /// Length of the shortest instruction in bytes, which is the unit of distances in code.
    pub(crate) quantum: u64,
    /// Number of functions.
    pub(crate) functions: usize,
    /// Start of the code; 0 if it is not stated.
    pub(crate) text: u64,
    /// Names of functions.
    pub(crate) names: usize,
    /// The files of each unit, by number in the unit.
    pub(crate) units: usize,
    /// Names of files.
    pub(crate) files: usize,
    /// Values by address.
    pub(crate) values: usize,
    /// The list of functions by address, and their records.
    pub(crate) records: usize,
}

/// Size of the newest version's header in bytes: 8, and eight words.
const HEAD: usize = 8 + 8 * 8;

impl TableLayout {
    /// Reads a header in little-endian order with words of 8 bytes; `None` if there is none, or if a part of the table
    /// is outside the bytes.
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

    /// Size of a word in the list of functions, in bytes. Each function has two.
    pub(crate) const fn entry_word(&self) -> usize {
        match self.version {
            Version::Go116 => 8,
            Version::Go118 | Version::Go120 => 4,
        }
    }
}
