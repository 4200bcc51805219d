//! Detection of memory without a file that is code of the file mapped before and after it.
//!
//! A program that copies its text to huge pages maps memory without a file over the text (iodlr, BOLT's hugify, HHVM).
//! If the recorder attached later, no record states the file of that range.
//! The mappings around it show the file: they are parts of it with one bias, and with this bias
//! the range between them is an executable segment.

use address::{Avma, FileOffset};
use module_map::{MappedKind, Mapping, Module, Space};

use crate::elf::{Image, Segment};

/// Maximum number of mappings in a hole, and of segments of the compared file.
const MOST: usize = 64;

/// Page sizes, in bytes, that loaders use to align segments.
const PAGES: [u64; 3] = [0x1000, 0x4000, 0x1_0000];

/// Returns true if a module has no build-id and its file cannot be opened by name.
/// This includes anonymous memory, memfd and `/dev/hugepages`, and deleted files, such as those of hugetlbfs.
#[inline]
pub(super) fn lacks_file(module: &Module) -> bool {
    let is_nameless = match module.kind {
        MappedKind::Anonymous | MappedKind::Unopened => true,
        MappedKind::File => module.is_deleted(),
        MappedKind::Vdso
        | MappedKind::KernelPage
        | MappedKind::Kernel
        | MappedKind::GuestKernel
        | MappedKind::GuestUser
        | MappedKind::Hypervisor => false,
    };
    is_nameless && module.identity.build_id.is_none()
}

/// Executable memory without a file, between mappings of one other module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hole {
    start: Avma,
    end: Avma,
    before: Mapping,
    after: Mapping,
}

impl Hole {
    /// Returns the hole around a mapping, merged from adjacent mappings. `None` unless the mappings before and
    /// after it are of one module that can have a file.
    pub(crate) fn around(mapping: &Mapping, space: &Space) -> Option<Self> {
        let is_part = |other: &Mapping| {
            let module = space.module(other).filter(|module| lacks_file(module));
            other.executable
                && module.is_some_and(|module| {
                    // A deleted program has no file, too: only memory of the same deleted file is merged.
                    module.kind != MappedKind::File || other.module == mapping.module
                })
        };
        if !is_part(mapping) {
            return None;
        }
        let (mut start, mut end) = (mapping.start, mapping.end);
        for _ in 0..MOST {
            let before = space.last_before(start)?;
            if before.end == start && is_part(&before) {
                start = before.start;
                continue;
            }
            let after = space.overlapping(end, Avma(u64::MAX)).next()?;
            if after.start == end && is_part(&after) {
                end = after.end;
                continue;
            }
            let is_file = space.module(&after).is_some_and(|module| {
                matches!(module.kind, MappedKind::File | MappedKind::Unopened)
            });
            let is_one = before.module == after.module && after.module != mapping.module;
            return (is_one && is_file).then_some(Self { start, end, before, after });
        }
        None
    }

    /// Mapping after the hole, which is of the surrounding module.
    pub(crate) const fn after(&self) -> &Mapping {
        &self.after
    }

    /// Returns the hole as a mapping of the surrounding file. `None` unless it is an executable segment, or a part of
    /// one between other parts of it, with the bias of the mappings before and after it.
    pub(crate) fn filled(&self, image: &Image) -> Option<Mapping> {
        let segments = image.segments();
        if segments.len() > MOST {
            return None;
        }
        segments.iter().find_map(|of| {
            let bias = bias_of(&self.after, of, image)?;
            segments.iter().find_map(|text| self.filled_by(text, bias, image))
        })
    }

    fn filled_by(&self, text: &Segment, bias: u64, image: &Image) -> Option<Mapping> {
        let first = Avma(text.svma.0.wrapping_add(bias));
        let last = Avma(first.0.checked_add(text.file_size.checked_sub(1)?)?);
        if !text.executable || self.start > last || self.end <= first {
            return None;
        }
        let fits = |mapping: &Mapping, is_same: bool| {
            image.segments().iter().any(|other| {
                (other == text) == is_same
                    && other.executable == mapping.executable
                    && bias_of(mapping, other, image) == Some(bias)
            })
        };
        let is_whole = |page: &u64| {
            if (text.svma.0 ^ text.offset.0) & (page - 1) != 0 {
                return false;
            }
            let (start, end) = (first.0 & !(page - 1), last.0 | (page - 1));
            let is_piece = |mapping: &Mapping, adjacent: bool| adjacent && fits(mapping, true);
            let starts = if self.start.0 == start {
                fits(&self.before, false)
            } else {
                self.start.0 > start && is_piece(&self.before, self.before.end == self.start)
            };
            let ends = if self.end.0.wrapping_sub(1) == end {
                fits(&self.after, false)
            } else {
                self.end.0 <= end && is_piece(&self.after, self.after.start == self.end)
            };
            starts && ends
        };
        let offset = text.offset.0.wrapping_add(self.start.0.wrapping_sub(first.0));
        let offset = offset.checked_add(image.base().0)?;
        PAGES.iter().any(is_whole).then_some(Mapping {
            start: self.start,
            end: self.end,
            offset: FileOffset(offset),
            module: self.after.module,
            executable: true,
            writable: text.writable,
        })
    }
}

/// Returns the bias of a mapping if it contains bytes of a segment.
fn bias_of(mapping: &Mapping, segment: &Segment, image: &Image) -> Option<u64> {
    let offset = mapping.offset.0.checked_sub(image.base().0)?;
    let end = offset.checked_add(mapping.end.since(mapping.start))?;
    let segment_end = segment.offset.0.checked_add(segment.file_size)?;
    let has_bytes = offset < segment_end && segment.offset.0 < end;
    has_bytes.then(|| {
        let svma = segment.svma.0.wrapping_add(offset.wrapping_sub(segment.offset.0));
        mapping.start.0.wrapping_sub(svma)
    })
}
