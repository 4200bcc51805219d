//! An ELF file that stands for another one: its program headers, its build-id, and the names of the functions that were
//! asked for. It has no code and no data.
//!
//! Source: gABI, "ELF Header", "Program Header", "Section Header", "Symbol Table", "Note Section".

use module_map::{Image, Segment};

use super::dwarf;
use super::files::NamedAddress;

/// Sizes of `Elf64_Ehdr`, `Elf64_Phdr`, `Elf64_Shdr`.
const FILE_HEADER: u16 = 64;
const PROGRAM_HEADER: u16 = 56;
const SECTION_HEADER: u16 = 64;
/// Kinds of sections: program bits, symbols, strings, notes, none in the file.
const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const NOTE: u32 = 7;
const NOBITS: u32 = 8;
/// `SHF_ALLOC` and `SHF_EXECINSTR`.
const ALLOCATED: u64 = 2;
const EXECUTABLE: u64 = 4;

/// A section header, with the bytes of the section.
#[derive(Default)]
struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    /// Of what is not in the file.
    place: Option<(u64, u64)>,
    link: u32,
    info: u32,
    entry_size: u64,
    bytes: Vec<u8>,
}

/// The file that stands for `image`, with the names of these addresses, which are sorted.
pub(super) fn stand_in(image: &Image, addresses: &[NamedAddress]) -> Vec<u8> {
    let mut sections = vec![Section::default()];
    sections.extend(code(image));
    let (symbols, strings) = symbols(image, addresses);
    let link = sections.len() as u32 + 1;
    let (info, entry_size) = (1, 24);
    let kind = SYMTAB;
    let table = Section { name: ".symtab", kind, link, info, entry_size, ..Section::default() };
    sections.push(Section { bytes: symbols, ..table });
    sections.push(Section { name: ".strtab", kind: STRTAB, bytes: strings, ..Section::default() });
    if let Some(id) = image.build_id() {
        let bytes = note(id.as_bytes());
        let name = ".note.gnu.build-id";
        sections.push(Section { name, kind: NOTE, bytes, ..Section::default() });
    }
    let dwarf::Sections { info, abbrev, line } = dwarf::sections(addresses);
    for (name, bytes) in [(".debug_info", info), (".debug_abbrev", abbrev), (".debug_line", line)] {
        if !bytes.is_empty() {
            sections.push(Section { name, kind: PROGBITS, bytes, ..Section::default() });
        }
    }
    file(image, sections)
}

/// A section for the code of each executable segment, none of which is in the file; and one byte of code after them, or the
/// file would be taken for a separate debug file, which is not what was mapped.
fn code(image: &Image) -> Vec<Section> {
    let flags = ALLOCATED | EXECUTABLE;
    let section = |segment: &Segment| Section {
        name: ".text",
        kind: NOBITS,
        flags,
        address: segment.svma.0,
        place: Some((segment.offset.0.wrapping_add(image.base().0), segment.file_size)),
        ..Section::default()
    };
    let mut sections: Vec<Section> = executable(image).map(section).collect();
    let ends = executable(image).map(|it| it.svma.0.saturating_add(it.mem_size));
    let address = ends.max().unwrap_or_default();
    let (name, kind, bytes) = (".text.end", PROGBITS, vec![0]);
    sections.push(Section { name, kind, flags, address, bytes, ..Section::default() });
    sections
}

fn executable(image: &Image) -> impl Iterator<Item = &Segment> {
    image.segments().iter().filter(|segment| segment.executable)
}

/// A symbol for each function, up to the last address in it that was asked for, and their names.
fn symbols(image: &Image, addresses: &[NamedAddress]) -> (Vec<u8>, Vec<u8>) {
    // Global, a function.
    const INFO: u8 = 0x12;
    let (mut symbols, mut strings) = (vec![0; 24], vec![0]);
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
        symbols.extend((strings.len() as u32).to_le_bytes());
        let mut segments = executable(image);
        let within = segments.position(|it| start.wrapping_sub(it.svma.0) < it.mem_size);
        symbols.extend([INFO, 0]);
        symbols.extend((within.unwrap_or_default() as u16 + 1).to_le_bytes());
        symbols.extend(start.to_le_bytes());
        symbols.extend(end.saturating_sub(start).to_le_bytes());
        strings.extend(name.iter().filter(|&&byte| byte != 0));
        strings.push(0);
    }
    (symbols, strings)
}

/// The note with a build-id.
fn note(id: &[u8]) -> Vec<u8> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let mut note = Vec::new();
    for word in [4, id.len() as u32, NT_GNU_BUILD_ID] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"GNU\0");
    note.extend(id);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

fn file(image: &Image, mut sections: Vec<Section>) -> Vec<u8> {
    let n_segments = image.segments().len() as u16;
    let mut names = vec![0];
    sections.push(Section { name: ".shstrtab", kind: STRTAB, ..Section::default() });
    let mut name_places = Vec::new();
    for section in &sections {
        let is_none = section.name.is_empty();
        name_places.push(if is_none { 0 } else { names.len() as u32 });
        if !is_none {
            names.extend(section.name.as_bytes());
            names.push(0);
        }
    }
    if let Some(last) = sections.last_mut() {
        last.bytes = names;
    }
    let mut out = vec![0; usize::from(FILE_HEADER + PROGRAM_HEADER * n_segments)];
    let mut headers = Vec::new();
    for (section, name) in sections.iter().zip(name_places) {
        out.resize(out.len().next_multiple_of(8), 0);
        let (offset, size) =
            section.place.unwrap_or((out.len() as u64, section.bytes.len() as u64));
        out.extend(&section.bytes);
        headers.extend([name, section.kind].iter().flat_map(|it| it.to_le_bytes()));
        for word in [section.flags, section.address, offset, size] {
            headers.extend(word.to_le_bytes());
        }
        headers.extend([section.link, section.info].iter().flat_map(|it| it.to_le_bytes()));
        let align = if section.kind == NOTE { 4 } else { 8 };
        headers.extend([align, section.entry_size].iter().flat_map(|it: &u64| it.to_le_bytes()));
    }
    out.resize(out.len().next_multiple_of(8), 0);
    let head = head(image, out.len() as u64, sections.len() as u16);
    out.extend(headers);
    if let Some(start) = out.get_mut(..head.len()) {
        start.copy_from_slice(&head);
    }
    out
}

/// The file header and the program headers.
fn head(image: &Image, sections_at: u64, n_sections: u16) -> Vec<u8> {
    const ET_DYN: u16 = 3;
    let n_segments = image.segments().len() as u16;
    // 64 bits, little-endian, version 1.
    let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    head.extend(ET_DYN.to_le_bytes());
    head.extend(image.e_machine().to_le_bytes());
    head.extend(1_u32.to_le_bytes());
    for word in [image.entry().0, u64::from(FILE_HEADER), sections_at] {
        head.extend(word.to_le_bytes());
    }
    head.extend([0; 4]);
    for half in
        [FILE_HEADER, PROGRAM_HEADER, n_segments, SECTION_HEADER, n_sections, n_sections - 1]
    {
        head.extend(half.to_le_bytes());
    }
    for segment in image.segments() {
        const PT_LOAD: u32 = 1;
        let flags = 4 | u32::from(segment.executable) | u32::from(segment.writable) << 1;
        head.extend([PT_LOAD, flags].iter().flat_map(|it| it.to_le_bytes()));
        let (address, offset) = (segment.svma.0, segment.offset.0.wrapping_add(image.base().0));
        for word in [offset, address, address, segment.file_size, segment.mem_size, 0x1000] {
            head.extend(word.to_le_bytes());
        }
    }
    head
}
