//! Writes ELF files of 64 bits, little-endian: sections one after the other, then the headers that say where they are.
//!
//! Source: gABI, "ELF Header", "Section Header", "Program Header".

use object::elf::{
    ET_DYN, EV_CURRENT, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHT_PROGBITS, SHT_STRTAB, SHT_SYMTAB,
};

/// Sizes of `Elf64_Ehdr`, `Elf64_Phdr`, `Elf64_Shdr` and `Elf64_Sym`.
const FILE_HEADER: u16 = 64;
const PROGRAM_HEADER: u16 = 56;
const SECTION_HEADER: u16 = 64;
pub(super) const SYMBOL: usize = 24;

/// A `PT_LOAD` program header.
pub(super) struct LoadSegment {
    pub(super) flags: u32,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// A section header (`Elf64_Shdr`).
#[derive(Default)]
struct SectionHeader {
    /// Where its name is among the names.
    name: u32,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u32,
    info: u32,
    align: u64,
    entry_size: u64,
}

/// An ELF file in the making.
pub(super) struct Writer {
    pub(super) out: Vec<u8>,
    headers: Vec<SectionHeader>,
    names: Vec<u8>,
}

impl Writer {
    /// Leaves so much room for the headers, and has the empty section that is the first in every file.
    pub(super) fn new(room: usize) -> Self {
        Self { out: vec![0; room], headers: vec![SectionHeader::default()], names: vec![0] }
    }

    /// Fills up to a multiple of `align`.
    pub(super) fn align(&mut self, align: usize) {
        self.out.resize(self.out.len().next_multiple_of(align), 0);
    }

    /// Appends a section that is loaded, whose bytes begin right here.
    pub(super) fn loaded(&mut self, name: &str, flags: u64, address: u64, bytes: &[u8]) {
        let align = if flags & SHF_EXECINSTR.0 == 0 { 4 } else { 16 };
        let flags = flags | SHF_ALLOC.0;
        let kind = SHT_PROGBITS.0;
        self.section(
            name,
            bytes,
            SectionHeader { kind, flags, address, align, ..Default::default() },
        );
    }

    /// Appends a table of strings.
    pub(super) fn strings(&mut self, name: &str, bytes: &[u8]) {
        let kind = SHT_STRTAB.0;
        self.section(name, bytes, SectionHeader { kind, align: 1, ..Default::default() });
    }

    /// Appends a symbol table whose names are in the section of index `names`.
    pub(super) fn symbols(&mut self, name: &str, bytes: &[u8], names: u32) {
        const ALIGN: usize = 8;
        self.align(ALIGN);
        let header = SectionHeader {
            kind: SHT_SYMTAB.0,
            link: names,
            // The index of the first global symbol: the empty one before it is local.
            info: 1,
            align: ALIGN as u64,
            entry_size: SYMBOL as u64,
            ..Default::default()
        };
        self.section(name, bytes, header);
    }

    /// Appends a section that is not loaded.
    pub(super) fn data(&mut self, name: &str, bytes: &[u8]) {
        let kind = SHT_PROGBITS.0;
        self.section(name, bytes, SectionHeader { kind, align: 1, ..Default::default() });
    }

    fn section(&mut self, name: &str, bytes: &[u8], header: SectionHeader) {
        let (offset, size) = (self.out.len() as u64, bytes.len() as u64);
        let name_at = self.names.len() as u32;
        self.names.extend(name.as_bytes());
        self.names.push(0);
        self.out.extend(bytes);
        self.headers.push(SectionHeader { name: name_at, offset, size, ..header });
    }

    /// Adds the headers.
    pub(super) fn finish(mut self, e_machine: u16, segments: [LoadSegment; 2]) -> Vec<u8> {
        // The section of names has its own name in it.
        let mut names = std::mem::take(&mut self.names);
        let name = names.len() as u32;
        names.extend(b".shstrtab\0");
        let (offset, size) = (self.out.len() as u64, names.len() as u64);
        let kind = SHT_STRTAB.0;
        self.headers.push(SectionHeader {
            name,
            kind,
            offset,
            size,
            align: 1,
            ..Default::default()
        });
        self.out.extend(names);
        self.align(8);
        let at = self.out.len() as u64;
        for header in &self.headers {
            header.write(&mut self.out);
        }
        let head = head(e_machine, at, self.headers.len() as u16, &segments);
        if let Some(start) = self.out.get_mut(..head.len()) {
            start.copy_from_slice(&head);
        }
        self.out
    }
}

impl SectionHeader {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.name.to_le_bytes());
        out.extend(self.kind.to_le_bytes());
        for word in [self.flags, self.address, self.offset, self.size] {
            out.extend(word.to_le_bytes());
        }
        out.extend(self.link.to_le_bytes());
        out.extend(self.info.to_le_bytes());
        out.extend(self.align.to_le_bytes());
        out.extend(self.entry_size.to_le_bytes());
    }
}

/// The file header and the program headers.
fn head(e_machine: u16, sections: u64, n_sections: u16, segments: &[LoadSegment]) -> Vec<u8> {
    const ENTRY: u64 = 0;
    const PROCESSOR_FLAGS: u32 = 0;
    // 64-bit class, little-endian, version 1, no system's ABI; padding.
    let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    head.extend(ET_DYN.0.to_le_bytes());
    head.extend(e_machine.to_le_bytes());
    head.extend(u32::from(EV_CURRENT.0).to_le_bytes());
    for word in [ENTRY, u64::from(FILE_HEADER), sections] {
        head.extend(word.to_le_bytes());
    }
    head.extend(PROCESSOR_FLAGS.to_le_bytes());
    let n_segments = segments.len() as u16;
    let names_section = n_sections - 1;
    for half in [FILE_HEADER, PROGRAM_HEADER, n_segments, SECTION_HEADER, n_sections, names_section]
    {
        head.extend(half.to_le_bytes());
    }
    for LoadSegment { flags, offset, address, size } in segments {
        const ALIGN: u64 = 16;
        head.extend(PT_LOAD.0.to_le_bytes());
        head.extend(flags.to_le_bytes());
        for word in [*offset, *address, *address, *size, *size, ALIGN] {
            head.extend(word.to_le_bytes());
        }
    }
    head
}
