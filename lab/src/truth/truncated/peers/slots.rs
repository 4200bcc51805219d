//! Offsets of the registers that a function saved, by its call frame information: the words that libdw reads of its
//! frame.

use std::collections::BTreeMap;

use address::{ModuleId, Svma};
use gimli::{
    BaseAddresses, CommonInformationEntry, EhFrame, EhFrameHdr, EhFrameOffset, EndianSlice,
    LittleEndian, RegisterRule, UnwindContext, UnwindSection as _,
};
use image_store::Image;

/// Bytes of a section.
type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// Slots of code without call frame information: the return address and the frame pointer below it.
const WITHOUT: [i64; 2] = [-8, -16];

/// Cache of the slots of all requested frames.
#[derive(Default)]
pub(super) struct Slots {
    known: BTreeMap<(ModuleId, Svma), Vec<i64>>,
    context: UnwindContext<usize>,
}

impl Slots {
    /// Returns the slots of the frame of a function at that address of a file, in bytes from its CFA.
    pub(super) fn at(&mut self, module: ModuleId, image: &Image, svma: Svma) -> Vec<i64> {
        let Self { known, context } = self;
        let slots = || by_eh_frame(image, svma, context).unwrap_or_else(|| WITHOUT.to_vec());
        known.entry((module, svma)).or_insert_with(slots).clone()
    }

    /// Returns the slots of code without a file.
    pub(super) fn without_file() -> Vec<i64> {
        WITHOUT.to_vec()
    }
}

/// Returns the offsets from the CFA of the registers in the row of an address.
fn by_eh_frame(image: &Image, svma: Svma, context: &mut UnwindContext<usize>) -> Option<Vec<i64>> {
    let frame = image.section(".eh_frame")?;
    let mut bases = BaseAddresses::default().set_eh_frame(frame.svma.0);
    if let Some(text) = image.section(".text") {
        bases = bases.set_text(text.svma.0);
    }
    let bytes = image.section_data(frame).ok()?;
    let section = EhFrame::new(&bytes, LittleEndian);
    let header = image.section(".eh_frame_hdr");
    let header = header.and_then(|header| Some((header.svma, image.section_data(header).ok()?)));
    let fde = match &header {
        Some((header_svma, bytes)) => {
            bases = bases.set_eh_frame_hdr(header_svma.0);
            let header = EhFrameHdr::new(bytes, LittleEndian).parse(&bases, 8).ok()?;
            header.table()?.fde_for_address(&section, &bases, svma.0, cie)
        }
        None => section.fde_for_address(&bases, svma.0, cie),
    };
    let fde = fde.ok()?;
    let row = fde.unwind_info_for_address(&section, &bases, context, svma.0).ok()?;
    let at = |rule: &RegisterRule<usize>| match rule {
        RegisterRule::Offset(offset) => Some(*offset),
        _ => None,
    };
    Some(row.registers().filter_map(|(_, rule)| at(rule)).collect())
}

/// Returns the common information entry at an offset of `.eh_frame`.
fn cie<'a>(
    section: &EhFrame<Bytes<'a>>,
    bases: &BaseAddresses,
    offset: EhFrameOffset<usize>,
) -> gimli::Result<CommonInformationEntry<Bytes<'a>>> {
    section.cie_from_offset(bases, offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use synth::{
        CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, Segment, eh_frame_hdr,
    };

    /// Returns a file with code at 0x1000 that saves rbp and, two words below it, rbx.
    fn image(with_header: bool) -> Image {
        let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, 0x3000);
        let cie = cfi.cie(&Cie::x86_64());
        let ops = CfiOps::new(Endian::Little).def_cfa_offset(48).offset(6, 2).offset(3, 4);
        let instructions = ops.into_bytes();
        cfi.fde(cie, &Fde { pc_begin: 0x1000, pc_range: 0x100, lsda: 0, instructions });
        let built = cfi.terminator().build();
        let header = eh_frame_hdr(Endian::Little, 0x4000, 0x3000, &built.fdes);
        let mut sections = vec![
            Section::text(0x1000, vec![0x90; 0x1000]),
            Section::loaded(".eh_frame", 0x3000, built.bytes),
        ];
        if with_header {
            sections.push(Section::loaded(".eh_frame_hdr", 0x4000, header));
        }
        let segments = vec![Segment::load_text(0x1000, 0x1000, 0x1000)];
        let elf = ElfBuilder { segments, sections, ..ElfBuilder::x86_64() };
        Image::from_vec("/bin/a".as_ref(), elf.build()).unwrap()
    }

    #[test]
    fn what_the_row_has_at_an_offset_from_the_cfa() {
        for with_header in [false, true] {
            let image = image(with_header);
            let mut slots = Slots::default();
            let mut at = |svma| {
                let mut found = slots.at(ModuleId(0), &image, Svma(svma));
                found.sort_unstable();
                found
            };
            assert_eq!(at(0x1010), [-32, -16, -8]);
            assert_eq!(at(0x1200), [-16, -8], "without call frame information");
        }
    }
}
