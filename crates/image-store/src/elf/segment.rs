//! `PT_LOAD` program headers: file ranges and their addresses.

use std::ops::Range;

use address::{FileOffset, Svma};
use object::{ObjectSegment as _, ReadRef, SegmentFlags, elf};

/// A `PT_LOAD` program header.
///
/// Source: gABI, "Program Header".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// `p_offset`: start of the segment's bytes in the file.
    pub offset: FileOffset,
    /// `p_filesz`: number of its bytes in the file.
    pub file_size: u64,
    /// `p_vaddr`: stated address of its first byte.
    pub svma: Svma,
    /// `p_memsz`: size in memory; the excess over `file_size` is zero and not in the file.
    pub mem_size: u64,
    /// `PF_X`.
    pub executable: bool,
    /// `PF_W`.
    pub writable: bool,
}

impl Segment {
    /// Converts a parsed program header.
    pub(super) fn of<'d, R: ReadRef<'d>>(segment: &object::Segment<'d, '_, R>) -> Self {
        let (offset, file_size) = segment.file_range();
        let flags = match segment.flags() {
            SegmentFlags::Elf { p_flags, .. } => p_flags.0,
            _ => 0,
        };
        Self {
            offset: FileOffset(offset),
            file_size,
            svma: Svma(segment.address()),
            mem_size: segment.size(),
            executable: flags & elf::PF_X.0 != 0,
            writable: flags & elf::PF_W.0 != 0,
        }
    }

    /// Returns true if the byte at `offset` of the file belongs to this segment itself.
    pub(super) fn holds(&self, offset: FileOffset) -> bool {
        offset.since(self.offset) < self.file_size
    }

    /// Returns true if the byte at `offset` is in a page that the loader maps for this segment: in the segment's
    /// own bytes or the padding before and after them.
    pub(super) fn maps(&self, offset: FileOffset) -> bool {
        self.page_range().contains(&offset.0)
    }

    /// Returns the file offsets of the pages that the loader maps for this segment.
    pub(super) fn page_range(&self) -> Range<u64> {
        const PAGE: u64 = 0x1000;
        let end =
            self.offset.0.saturating_add(self.file_size).saturating_add(PAGE - 1) & !(PAGE - 1);
        self.offset.0 & !(PAGE - 1)..end
    }
}
