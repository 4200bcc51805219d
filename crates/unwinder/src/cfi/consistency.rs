//! Consistency of a file: its sections with its segments, its table of descriptions with these, and described pushes
//! with the code. If bytes were lost, inserted or overwritten, neither stacks nor names of the file can be trusted. A
//! sample of descriptions is checked, once for each file.

use address::Svma;
use gimli::{CfaRule, EhFrame, RegisterRule};
use image_store::{Image, Section};

use crate::arch::Processor;
use crate::cfi::compile::CfiScratch;
use crate::cfi::fde::{CfiBytes, Fde, fde_at};
use crate::cfi::sections::CfiSections;

/// Number of descriptions to check, at equal distances in the table.
const SAMPLED: usize = 128;
/// Minimum number of wrong ones, and their minimum share: one in `OF`.
const FEWEST_WRONG: usize = 3;
const OF: usize = 32;

/// Maximum number of sections to check: each is searched among the segments. Linkers write some forty.
const MOST_SECTIONS: usize = 1 << 10;

/// Describes a contradiction in a file; `None` if there is none.
pub(super) fn contradiction_in(sections: &CfiSections) -> Option<String> {
    let image = sections.file.image();
    if image.is_relocatable() || image.is_stripped_of_code() {
        return None;
    }
    layout(image).or_else(|| header(image)).or_else(|| descriptions(sections, image))
}

/// Describes a section with bytes that is not at its segment's position.
fn layout(image: &Image) -> Option<String> {
    let len = image.bytes().len() as u64;
    let base = image.base();
    let short = image.segments().iter().find(|segment| {
        segment.offset.0.checked_add(segment.file_size).is_none_or(|end| end > len)
    });
    if let Some(segment) = short {
        return Some(format!(
            "its program headers state {:#x} bytes, the file has {len:#x}",
            segment.offset.0.saturating_add(segment.file_size)
        ));
    }
    let loaded = image.sections().iter().filter(|section| is_loaded(section)).take(MOST_SECTIONS);
    loaded.into_iter().find_map(|section| {
        let range = section.in_file()?;
        let name = String::from_utf8_lossy(&section.name);
        if range.end > len {
            return Some(format!(
                "its section {name} ends at {:#x}, the file has {len:#x} bytes",
                range.end
            ));
        }
        let stated = image.offset_of_svma(section.svma)?.sub(base.0);
        (stated.0 != range.start).then(|| {
            format!(
                "its section {name} is at offset {:#x}, but the program headers load its address from {:#x}",
                range.start, stated.0
            )
        })
    })
}

/// Returns true if a segment loads bytes of a section.
fn is_loaded(section: &Section) -> bool {
    section.allocated && section.has_bytes() && !section.is_compressed() && section.svma.0 != 0
}

/// Describes an invalid header of call frame information.
fn header(image: &Image) -> Option<String> {
    let section = image.section(".eh_frame_hdr").filter(|section| !section.is_compressed())?;
    let at = usize::try_from(section.offset().0).ok()?;
    let version = *image.bytes().get(at)?;
    (version != 1).then(|| {
        format!("the header of its call frame information, at offset {at:#x}, has the unknown version {version}")
    })
}

/// Describes the contradictions of a sample of the descriptions.
fn descriptions(sections: &CfiSections, image: &Image) -> Option<String> {
    let (arch, section) = (sections.arch?, sections.eh_section()?);
    let (mut looked_at, mut wrong, mut first) = (0, 0, None);
    let mut scratch = CfiScratch::new();
    for (listed, offset) in sample(sections, image) {
        let fde = fde_at(&section, sections.bases(), offset);
        let said = match (&fde, listed) {
            (Err(_), None) => continue,
            (Err(_), Some(start)) => Some(format!(
                "the table of its call frame information lists an unreadable FDE for {:#x}",
                start.0
            )),
            (Ok(fde), Some(start)) if fde.initial_address() != start.0 => Some(format!(
                "the table of its call frame information lists an FDE for {:#x}, but it is for {:#x}",
                start.0,
                fde.initial_address()
            )),
            (Ok(fde), _) => match push_of(fde, &section, sections, arch, &mut scratch) {
                None => continue,
                Some((at, push)) => push.mismatch(image, at, arch),
            },
        };
        looked_at += 1;
        if said.is_some() {
            wrong += 1;
            first = first.or(said);
        }
    }
    let first = first.filter(|_| wrong >= FEWEST_WRONG && wrong * OF >= looked_at)?;
    Some(format!("{first}; {wrong} of {looked_at} FDEs contradict the file"))
}

/// Returns descriptions at equal distances: the address that the header's table lists, and the offset in `.eh_frame`.
/// Without a table, these are entries of any kind.
fn sample(sections: &CfiSections, image: &Image) -> Vec<(Option<Svma>, usize)> {
    if let Some(header) = sections.header() {
        let step = (header.len() / SAMPLED).max(1);
        let listed = (0..header.len()).step_by(step);
        let listed = listed.filter_map(|index| header.entry(image.bytes(), index));
        return listed.map(|(start, offset)| (Some(start), offset)).collect();
    }
    let all: Vec<usize> = sections.eh_entries().collect();
    let step = (all.len() / SAMPLED).max(1);
    all.into_iter().step_by(step).map(|offset| (None, offset)).collect()
}

/// The first instruction that moves the stack pointer, as a description states it.
struct Push {
    /// Distance that it moves the stack pointer, in bytes.
    bytes: i64,
    /// DWARF number of the register that it stores at the new stack pointer.
    register: Option<u8>,
}

/// Returns a function's first instruction that moves the stack pointer, as its description states it, and the address
/// after it. `None` if the description states nothing that the instruction can confirm.
fn push_of<'a>(
    fde: &Fde<'a>,
    section: &EhFrame<CfiBytes<'a>>,
    sections: &CfiSections,
    arch: Processor,
    scratch: &mut CfiScratch,
) -> Option<(Svma, Push)> {
    let mut rows = fde.rows(section, sections.bases(), &mut scratch.context).ok()?;
    let offset_of = |cfa: &CfaRule<usize>| match cfa {
        CfaRule::RegisterAndOffset { register, offset }
            if arch.register(register.0) == Some(arch.sp) =>
        {
            Some(*offset)
        }
        _ => None,
    };
    let before = offset_of(rows.next_row().ok()??.cfa())?;
    let row = rows.next_row().ok()??;
    let after = offset_of(row.cfa())?;
    let stored = row.registers().find_map(|(register, rule)| {
        let is_on_top =
            matches!(rule, RegisterRule::Offset(offset) if offset.checked_neg() == Some(after));
        arch.register(register.0).filter(|_| is_on_top)
    });
    let push = Push { bytes: after.checked_sub(before)?, register: stored };
    Some((Svma(row.start_address()), push))
}

impl Push {
    /// Describes the mismatch, if the code before an address is another instruction.
    fn mismatch(&self, image: &Image, next: Svma, arch: Processor) -> Option<String> {
        let len = arch.longest_push();
        let code = image.read_only_bytes(Svma(next.0.wrapping_sub(len as u64)), len)?;
        let fits = arch.moves_stack_pointer(code, self.bytes, self.register)?;
        (!fits).then(|| {
            format!(
                "its call frame information states that the instruction before {:#x} moves the stack pointer by {}, which its code does not",
                next.0, self.bytes
            )
        })
    }
}
