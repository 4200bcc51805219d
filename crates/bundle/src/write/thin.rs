//! Selection of a file's needed ranges: those that were read, and those that other programs need.

use std::ops::Range;

use image_store::{Image, Section};

use crate::journal::JournalContent;

/// Alignment of holes: the page size of most hosts that may map the bundle's files.
const PAGE: u64 = 4096;
/// Minimum size of a hole in bytes; a smaller one does not justify its entry.
pub(super) const FEWEST: u64 = 32 << 10;

/// Maximum number of holes in all files, since a reader of the bundle watches each of them.
pub(super) const fn most_holes() -> usize {
    8 << 10
}

/// Sections that are stored completely. Unwinding and symbolization read them at scattered addresses, and debuggers
/// read them first. They are small compared with code and debug information.
const SECTIONS: &[&[u8]] = &[
    b".eh_frame",
    b".eh_frame_hdr",
    b".debug_frame",
    b".debug_aranges",
    b".dynamic",
    b".dynsym",
    b".dynstr",
    b".symtab",
    b".strtab",
    b".shstrtab",
    b".gnu.version",
    b".gnu.version_d",
    b".gnu.version_r",
    b".plt",
    b".plt.sec",
    b".plt.got",
    b".got",
    b".got.plt",
    b".rela.plt",
    b".gopclntab",
    b".gnu_debuglink",
    b".gnu_debugaltlink",
    b".gnu_debugdata",
    b".note.gnu.build-id",
    b".note.gnu.property",
    b".note.go.buildid",
    b".interp",
];

/// Strings of debug information. This program takes some names from the symbols that other programs take from these
/// sections. They are stored completely if any debug information of the file was read, since they are small compared
/// with it.
const STRINGS: &[&[u8]] = &[b".debug_str", b".debug_line_str"];
/// Maximum size of such a section that is stored for other programs, in bytes.
const MOST_STRINGS: u64 = 32 << 20;

/// Returns the needed ranges of a file, unsorted; `None` for the complete file.
pub(super) fn needed(content: &JournalContent) -> Option<Vec<Range<u64>>> {
    let mut needed = content.reads.clone()?;
    let size = content.bytes.len() as u64;
    // The headers of the file and of its segments are at its start, those of its sections mostly at its end.
    needed.extend([0..PAGE.min(size), size.saturating_sub(PAGE)..size]);
    if let Ok(image) = Image::from_content(&content.path, content.bytes.clone()) {
        let base = image.base().0;
        let in_file = |section: &Section| {
            let range = section.in_file()?;
            Some(range.start.saturating_add(base)..range.end.saturating_add(base))
        };
        let sections = || image.sections().iter();
        let was_read = |range: &Range<u64>| {
            needed.iter().any(|read| read.start < range.end && range.start < read.end)
        };
        let has_debug_info = sections()
            .filter(|section| &*section.name == b".debug_info")
            .filter_map(in_file)
            .any(|range| was_read(&range));
        let strings = sections()
            .filter(|section| has_debug_info && STRINGS.contains(&&*section.name))
            .filter_map(in_file)
            .filter(|range| range.end - range.start <= MOST_STRINGS);
        let kept = sections().filter(|section| SECTIONS.contains(&&*section.name));
        let kept: Vec<_> = kept.filter_map(in_file).chain(strings).collect();
        needed.extend(kept);
    }
    Some(needed)
}

/// Returns the holes of a file of `size` bytes between the needed ranges, of at least `smallest` bytes each.
pub(super) fn holes(size: u64, needed: &[Range<u64>], smallest: u64) -> Vec<(u64, u64)> {
    let mut needed: Vec<_> = needed.iter().filter(|it| !it.is_empty() && it.start < size).collect();
    needed.sort_by_key(|it| it.start);
    let mut holes = Vec::new();
    let mut from = 0;
    for range in needed {
        let to = range.start / PAGE * PAGE;
        if to > from && to - from >= smallest {
            holes.push((from, to));
        }
        from = from.max(range.end.min(size).next_multiple_of(PAGE));
    }
    if size > from && size - from >= smallest {
        holes.push((from, size));
    }
    holes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_pages_that_nobody_needs() {
        let one = |size, needed: &[Range<u64>]| holes(size, needed, 2 * PAGE);
        assert_eq!(one(10 * PAGE, &[]), [(0, 10 * PAGE)]);
        let touched = [9 * PAGE..9 * PAGE + 1, 100..200, 4 * PAGE + 5..4 * PAGE + 9];
        assert_eq!(one(10 * PAGE, &touched), [(PAGE, 4 * PAGE), (5 * PAGE, 9 * PAGE)]);
        // One page is less than the minimum; an empty range needs no page.
        assert_eq!(one(5 * PAGE, &[0..PAGE, 2 * PAGE..5 * PAGE]), []);
        assert_eq!(one(5 * PAGE, &[0..99 * PAGE, 0..1]), []);
        assert_eq!(one(5 * PAGE + 7, &[0..1, 0..2]), [(PAGE, 5 * PAGE + 7)]);
        assert_eq!(one(0, &[]), []);
    }
}
