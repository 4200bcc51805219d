//! Access to the bytes of a file by the addresses of its segments.

use std::ops::Range;

use address::{Arch, Svma};

use super::ProgramHeader;
use crate::elf::Segment;

/// A file with its segments.
#[derive(Clone, Copy)]
pub(in crate::elf) struct LoadedFile<'f> {
    pub(in crate::elf) bytes: &'f [u8],
    pub(in crate::elf) segments: &'f [Segment],
    pub(in crate::elf) arch: Option<Arch>,
    pub(in crate::elf) is_wide: bool,
    pub(in crate::elf) little_endian: bool,
}

/// Bytes of the file at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// Address of the first byte, as stated in the file.
    pub(super) svma: Svma,
    /// Range in the file.
    pub(super) range: Range<usize>,
}

impl<'f> LoadedFile<'f> {
    /// Size of a word in bytes: of an address, an offset or a size.
    pub(super) const fn word_size(&self) -> usize {
        if self.is_wide { 8 } else { 4 }
    }

    /// Returns the code of each executable segment.
    pub(super) fn code(&self) -> impl Iterator<Item = Part> {
        let segments = self.segments.iter().filter(|segment| segment.executable);
        segments.filter_map(|segment| self.rest_of(segment, segment.svma))
    }

    /// Returns the part of the bytes stated in a program header that is in the file.
    pub(super) fn stated(&self, header: &ProgramHeader) -> Option<Part> {
        let start = usize::try_from(header.offset).ok()?;
        let size = usize::try_from(header.file_size).unwrap_or(usize::MAX);
        let range = start..start.saturating_add(size).min(self.bytes.len());
        (range.start < range.end).then_some(Part { svma: header.svma, range })
    }

    /// Returns the bytes from an address up to the end of its segment.
    pub(super) fn rest(&self, svma: Svma) -> Option<Part> {
        let segment = self.segments.iter().find(|it| svma.since(it.svma) < it.file_size)?;
        self.rest_of(segment, svma)
    }

    fn rest_of(&self, segment: &Segment, svma: Svma) -> Option<Part> {
        let within = svma.since(segment.svma);
        let start = usize::try_from(segment.offset.0.checked_add(within)?).ok()?;
        let size = usize::try_from(segment.file_size.checked_sub(within)?).unwrap_or(usize::MAX);
        let range = start..start.saturating_add(size).min(self.bytes.len());
        (range.start < range.end).then_some(Part { svma, range })
    }

    /// Returns up to `size` bytes from an address on.
    pub(super) fn part(&self, svma: Svma, size: u64) -> Option<Part> {
        let mut part = self.rest(svma)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        part.range.end = part.range.end.min(part.range.start.saturating_add(size));
        (!part.range.is_empty()).then_some(part)
    }

    /// Returns the bytes of a part.
    pub(super) fn bytes_of(&self, part: &Part) -> &'f [u8] {
        self.bytes.get(part.range.clone()).unwrap_or_default()
    }

    /// Reads a number of `size` bytes, at most 8, at an offset in `bytes`.
    pub(super) fn number(&self, bytes: &[u8], at: usize, size: usize) -> Option<u64> {
        let stored = bytes.get(at..at.checked_add(size)?)?;
        let fold = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        Some(if self.little_endian {
            stored.iter().rev().fold(0, fold)
        } else {
            stored.iter().fold(0, fold)
        })
    }

    /// Reads a four-byte number.
    pub(super) fn u32(&self, bytes: &[u8], at: usize) -> Option<u32> {
        self.number(bytes, at, 4).map(|number| number as u32)
    }
}
