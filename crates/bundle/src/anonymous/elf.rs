//! ELF file that substitutes another one: its program headers, its build-id, and the names of the sampled functions. It
//! contains neither code nor data.
//!
//! Source: gABI, "Note Section".

use address::Svma;
use elf_writer::elf::{
    ELF_NOTE_GNU, ET_DYN, Machine, NT_GNU_BUILD_ID, PF_R, PF_W, PF_X, ProgramFlags, SHF_ALLOC,
    SHF_EXECINSTR, SHT_NOBITS, SHT_NOTE, SHT_PROGBITS,
};
use elf_writer::{ElfFile, FileHeader, ProgramHeader, SectionHeader, SymbolWriter, load};
use image_store::{Image, Segment};

use super::dwarf;
use super::files::NamedAddress;

/// Returns the substitute of `image`, with the names of sorted addresses.
pub(super) fn stand_in(image: &Image, addresses: &[NamedAddress]) -> Vec<u8> {
    let header = FileHeader {
        e_type: ET_DYN,
        e_machine: Machine(image.e_machine()),
        e_entry: image.entry().0,
        ..FileHeader::default()
    };
    let mut file = ElfFile::new(header, image.segments().len());
    code(image, &mut file);
    file.symbols(&symbols(image, addresses));
    if let Some(id) = image.build_id() {
        let header = SectionHeader { sh_type: SHT_NOTE, sh_addralign: 4, ..Default::default() };
        file.section(".note.gnu.build-id", &header, &note(id.as_bytes()));
    }
    dwarf::add(addresses, &mut file);
    let segments: Vec<_> = image.segments().iter().map(|it| segment(image, it)).collect();
    file.finish(&segments)
}

/// Adds a section for the code of each executable segment, without its bytes, and one byte of code after them. Without
/// that byte, readers would take the file for a separate debug file.
fn code(image: &Image, file: &mut ElfFile) {
    let at = |sh_type, sh_addr| SectionHeader {
        sh_type,
        sh_flags: SHF_ALLOC | SHF_EXECINSTR,
        sh_addr,
        sh_addralign: 1,
        ..SectionHeader::default()
    };
    for segment in executable(image) {
        let header = SectionHeader {
            sh_offset: offset(image, segment),
            sh_size: segment.file_size,
            ..at(SHT_NOBITS, segment.svma.0)
        };
        file.section_elsewhere(".text", header);
    }
    let ends = executable(image).map(|it| it.svma.0.saturating_add(it.mem_size));
    file.section(".text.end", &at(SHT_PROGBITS, ends.max().unwrap_or_default()), &[0]);
}

fn executable(image: &Image) -> impl Iterator<Item = &Segment> {
    image.segments().iter().filter(|segment| segment.executable)
}

/// Returns the offset of a segment in the file of the image, which can be an archive.
fn offset(image: &Image, segment: &Segment) -> u64 {
    segment.offset.0.wrapping_add(image.base().0)
}

/// Returns a symbol for each function, which ends after its last sampled address.
fn symbols(image: &Image, addresses: &[NamedAddress]) -> SymbolWriter {
    let mut symbols = SymbolWriter::default();
    let mut functions: Vec<(u64, &[u8], u64)> = Vec::new();
    for address in addresses {
        let (Some(start), Some(function)) = (address.start, address.functions.last()) else {
            continue;
        };
        functions.push((start, &function.name, address.svma + 1));
    }
    functions.sort_unstable();
    let same = |a: &(u64, &[u8], u64), b: &(u64, &[u8], u64)| (a.0, a.1) == (b.0, b.1);
    for group in functions.chunk_by(same) {
        let Some(&(start, name, end)) = group.last() else { continue };
        let mut segments = executable(image);
        let within = segments.position(|it| start.wrapping_sub(it.svma.0) < it.mem_size);
        let section = within.unwrap_or_default() as u32 + 1;
        if symbols.function(name, section, Svma(start), end.saturating_sub(start)).is_none() {
            break;
        }
    }
    symbols
}

/// Returns the note with a build-id.
fn note(id: &[u8]) -> Vec<u8> {
    let mut note = Vec::new();
    for word in [ELF_NOTE_GNU.len() as u32 + 1, id.len() as u32, NT_GNU_BUILD_ID.0] {
        note.extend(word.to_le_bytes());
    }
    note.extend(ELF_NOTE_GNU);
    note.push(0);
    note.extend(id);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

fn segment(image: &Image, segment: &Segment) -> ProgramHeader {
    let flag = |is_set, flag| if is_set { flag } else { ProgramFlags(0) };
    let flags = PF_R | flag(segment.executable, PF_X) | flag(segment.writable, PF_W);
    let Segment { file_size, mem_size, .. } = *segment;
    load(flags, offset(image, segment), segment.svma, file_size, mem_size, 0x1000)
}
