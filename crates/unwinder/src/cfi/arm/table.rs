//! `.ARM.exidx` and `.ARM.extab`: the program that describes a function's frame, by address.

use std::ops::Range;

use address::Svma;
use image_store::{Image, LoadedImage};

use crate::cfi::arm::code;
use crate::cfi::arm::program::{ProgramError, run};
use crate::cfi::compile::{CompiledRow, RowKey};
use crate::rule::Rule;

/// Index of a file's functions in the order of their addresses, two words each.
#[derive(Debug)]
pub(crate) struct ArmTable {
    /// Range in the file.
    entries: Range<usize>,
    /// Address that the file states for it.
    svma: u64,
}

/// The table's entry for a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unwinding {
    /// The function cannot be unwound: the first code of a process or a thread, or code without information.
    Refused,
    Program(Vec<u8>),
    Damaged,
}

/// A function of the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ArmFunction {
    pub(super) start: u64,
    /// Start of the next one; `None` for the last one, which has no stated end.
    pub(super) end: Option<u64>,
    pub(super) unwinding: Unwinding,
    /// Offset of its entry in the file.
    at: usize,
}

const ENTRY: usize = 8;
/// Maximum number of bytes of a function's code to analyse.
const LONGEST: u64 = 1 << 16;

impl ArmTable {
    pub(crate) fn new(image: &Image) -> Option<Self> {
        let section = image.section(".ARM.exidx")?;
        let start = usize::try_from(section.offset().0).ok()?;
        let size = usize::try_from(section.size).ok()?;
        let end = start.checked_add(size - size % ENTRY)?;
        let is_there = image.is_little_endian() && end <= image.bytes().len();
        is_there.then_some(Self { entries: start..end, svma: section.svma.0 })
    }

    /// Returns the function that covers an address.
    pub(super) fn find(&self, image: &Image, svma: Svma) -> Option<ArmFunction> {
        let entries = image.bytes().get(self.entries.clone())?;
        let start_of = |index: usize| self.address_at(word(entries, index * ENTRY)?, index * ENTRY);
        let (mut low, mut high) = (0, entries.len() / ENTRY);
        while low < high {
            let middle = low + (high - low) / 2;
            if start_of(middle)? <= svma.0 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let index = low.checked_sub(1)?;
        let start = start_of(index)?;
        let at = index * ENTRY + 4;
        let unwinding = self.unwinding(image, word(entries, at)?, at);
        let unwinding = unwinding.unwrap_or(Unwinding::Damaged);
        let at = self.entries.start + at;
        (start <= svma.0).then(|| ArmFunction { start, end: start_of(low), unwinding, at })
    }

    /// Source: EHABI32, section 6, "Index table entries", and section 7, "Exception handling table entries".
    fn unwinding(&self, image: &Image, value: u32, at: usize) -> Option<Unwinding> {
        const CANNOT_UNWIND: u32 = 1;
        const COMPACT: u32 = 1 << 31;
        if value == CANNOT_UNWIND {
            return Some(Unwinding::Refused);
        }
        if value & COMPACT != 0 {
            // Only the first of the compact models fits into the index.
            let program = value.to_be_bytes().get(1..)?.to_vec();
            return (value >> 24 == 0x80).then_some(Unwinding::Program(program));
        }
        let table = self.address_at(value, at)?;
        let word = |index: u64| {
            let bytes = image.read_only_bytes(Svma(table.checked_add(4 * index)?), 4)?;
            Some(u32::from_le_bytes(*bytes.first_chunk()?))
        };
        let first = word(0)?;
        let (head, at, more) = match first >> 24 {
            0x80 => (first << 8, 1, 0),
            0x81 | 0x82 => (first << 16, 1, first >> 16 & 0xff),
            model if model & 0x80 != 0 => return None,
            // After the address of a routine, GNU tables have the bytes of the first compact model, and a count of
            // words.
            _ => (word(1)? << 8, 2, word(1)? >> 24),
        };
        let n_bytes = if first >> 24 == 0x80 || first & COMPACT == 0 { 3 } else { 2 };
        let mut program = head.to_be_bytes().get(..n_bytes)?.to_vec();
        for index in 0..u64::from(more) {
            program.extend(word(at + index)?.to_be_bytes());
        }
        Some(Unwinding::Program(program))
    }

    /// Returns the address that a word of the index states, as a distance of 31 bits from itself.
    fn address_at(&self, value: u32, at: usize) -> Option<u64> {
        let distance = i64::from((value << 1).cast_signed() >> 1);
        let address = self.svma.checked_add(at as u64)?.wrapping_add_signed(distance);
        Some(address & 0xffff_ffff)
    }

    /// Returns true if the table describes the frame of the function at an address.
    pub(crate) fn describes(&self, image: &Image, svma: Svma) -> bool {
        let found = self.find(image, svma);
        found.is_some_and(|found| matches!(found.unwinding, Unwinding::Program(_)))
    }

    /// Returns the start of the function at an address.
    pub(crate) fn start(&self, image: &Image, svma: Svma) -> Option<u64> {
        self.find(image, svma).map(|found| found.start)
    }

    /// Returns the rule of an address of a file; `None` if the table does not describe it.
    pub(crate) fn rule(&self, file: &LoadedImage, svma: Svma) -> Option<CompiledRow> {
        let image = file.image();
        let found = self.find(image, svma)?;
        let program = match &found.unwinding {
            Unwinding::Refused => return None,
            Unwinding::Damaged => return Some(CompiledRow::Rule(Rule::Damaged)),
            Unwinding::Program(program) => program,
        };
        let by_code = || {
            let len = found.end?.checked_sub(found.start)?.min(LONGEST);
            let code = image.read_only_bytes(Svma(found.start), usize::try_from(len).ok()?)?;
            let at = usize::try_from(svma.0.checked_sub(found.start)?).ok()?;
            code::layout(code, found.start, at)
        };
        let is_call = !svma.0.is_multiple_of(2);
        let start = if is_call { found.start } else { svma.0 };
        let section = image.bytes().as_ptr() as usize;
        let key = RowKey { file: file.serial, section, fde: found.at, start };
        let layout = if is_call { None } else { by_code() };
        match layout.map_or_else(|| run(program), Ok) {
            Ok(layout) => Some(layout.compiled(key)),
            Err(ProgramError::Refused) => None,
            Err(ProgramError::Bad) => Some(CompiledRow::Rule(Rule::Damaged)),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
