//! Writer for 64-bit little-endian ELF files: consecutive sections, followed by the section headers.
//!
//! Source: gABI, "ELF Header", "Section Header", "Program Header".

use address::Svma;
use object::elf::{PT_LOAD, ProgramFlags, SHT_PROGBITS};
use object::write::elf::{FileHeader, FileHeaderLayout, ProgramHeader, SectionHeader};

use crate::symbols::{SymbolWriter, encoder};

/// Returns the header of a loaded segment.
#[must_use]
pub const fn load(
    p_flags: ProgramFlags,
    p_offset: u64,
    address: Svma,
    p_filesz: u64,
    p_memsz: u64,
    p_align: u64,
) -> ProgramHeader {
    let Svma(p_vaddr) = address;
    let (p_type, p_paddr) = (PT_LOAD, p_vaddr);
    ProgramHeader { p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align }
}

/// Builder for an ELF file.
#[derive(Debug)]
pub struct ElfFile {
    header: FileHeader,
    /// The file up to the last section; the headers at its start are written last.
    out: Vec<u8>,
    /// Headers of all sections except the empty first one.
    sections: Vec<SectionHeader>,
    names: Vec<u8>,
    n_segments: usize,
}

impl ElfFile {
    /// Creates a file without sections, with space for `n_segments` program headers.
    #[must_use]
    pub fn new(header: FileHeader, n_segments: usize) -> Self {
        let encoder = encoder();
        let head = encoder.file_header_size() as usize
            + n_segments * encoder.program_header_size() as usize;
        Self { header, out: vec![0; head], sections: Vec::new(), names: vec![0], n_segments }
    }

    /// Returns the offset of the next byte.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.out.len() as u64
    }

    /// Pads with zeros to a multiple of `align`.
    pub fn align(&mut self, align: usize) {
        self.out.resize(self.out.len().next_multiple_of(align.max(1)), 0);
    }

    /// Appends a section at the next multiple of its alignment. Sets name, offset and size in the header.
    pub fn section(&mut self, name: &str, header: &SectionHeader, bytes: &[u8]) {
        self.align(header.sh_addralign as usize);
        let (sh_offset, sh_size) = (self.offset(), bytes.len() as u64);
        self.out.extend_from_slice(bytes);
        self.section_elsewhere(name, SectionHeader { sh_offset, sh_size, ..header.clone() });
    }

    /// Adds a section without bytes in the file; the header states its offset and size.
    pub fn section_elsewhere(&mut self, name: &str, header: SectionHeader) {
        let sh_name = self.names.len() as u32;
        crate::push_text(&mut self.names, name.as_bytes());
        self.sections.push(SectionHeader { sh_name, ..header });
    }

    /// Appends a section that is not loaded.
    pub fn data(&mut self, name: &str, bytes: &[u8]) {
        let header = SectionHeader { sh_type: SHT_PROGBITS, sh_addralign: 1, ..Default::default() };
        self.section(name, &header, bytes);
    }

    /// Appends `.strtab` and `.symtab`.
    pub fn symbols(&mut self, symbols: &SymbolWriter) {
        self.section(".strtab", &encoder().strtab_section_header(), symbols.names());
        let strings = self.sections.len() as u32;
        // The empty symbol is the only local one.
        let header = encoder().symtab_section_header(strings, 1);
        self.section(".symtab", &header, symbols.entries());
    }

    /// Returns the bytes of the file. The number of segments must be that given to [`Self::new`].
    #[must_use]
    pub fn finish(mut self, segments: &[ProgramHeader]) -> Vec<u8> {
        debug_assert_eq!(segments.len(), self.n_segments);
        let encoder = encoder();
        // The section of names contains its own name.
        let mut names = self.names.clone();
        crate::push_text(&mut names, b".shstrtab");
        self.section(".shstrtab", &encoder.strtab_section_header(), &names);
        self.align(encoder.address_size() as usize);
        let layout = FileHeaderLayout {
            e_phoff: encoder.file_header_size(),
            segment_num: self.n_segments as u32,
            e_shoff: self.offset(),
            section_num: self.sections.len() as u32 + 1,
            shstrtab_index: self.sections.len() as u32,
        };
        encoder.null_section_header(&mut self.out, &layout);
        for header in &self.sections {
            encoder.section_header(&mut self.out, header);
        }
        let mut head = Vec::new();
        let written = encoder.file_header(&mut head, &self.header, &layout);
        debug_assert!(written.is_ok(), "only a file without sections can have too many segments");
        for segment in segments {
            encoder.program_header(&mut head, segment);
        }
        if let Some(room) = self.out.get_mut(..head.len()) {
            room.copy_from_slice(&head);
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use object::LittleEndian;
    use object::elf::{EM_AARCH64, ET_DYN, PF_R, SHT_NOBITS};
    use object::read::elf::ElfFile64;
    use object::read::{Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _};

    use super::*;

    #[test]
    fn files_are_read_as_they_were_written() {
        let header = FileHeader {
            e_type: ET_DYN,
            e_machine: EM_AARCH64,
            e_entry: 0x1004,
            ..FileHeader::default()
        };
        let mut file = ElfFile::new(header, 1);
        let elsewhere = SectionHeader {
            sh_type: SHT_NOBITS,
            sh_addr: 0x1000,
            sh_offset: 0x5000,
            sh_size: 0x20,
            ..SectionHeader::default()
        };
        file.section_elsewhere(".text", elsewhere);
        let mut symbols = SymbolWriter::default();
        symbols.function(b"f\0g", 1, Svma(0x1004), 8).expect("room");
        file.symbols(&symbols);
        file.data(".data", b"abc");
        let bytes = file.finish(&[load(PF_R, 0x5000, Svma(0x1000), 0x20, 0x20, 0x1000)]);
        let read = ElfFile64::<LittleEndian>::parse(&*bytes).expect("an ELF file");
        assert_eq!((read.architecture(), read.entry()), (object::Architecture::Aarch64, 0x1004));
        let sections: Vec<_> = read
            .sections()
            .map(|it| (it.name().expect("a name"), it.address(), it.size()))
            .collect();
        assert_eq!(
            sections,
            [
                (".text", 0x1000, 0x20),
                (".strtab", 0, 4),
                (".symtab", 0, 48),
                (".data", 0, 3),
                (".shstrtab", 0, 39),
            ]
        );
        assert_eq!(read.section_by_name_bytes(b".data").expect("data").data(), Ok(&b"abc"[..]));
        let symbols: Vec<_> = read
            .symbols()
            .map(|it| (it.name().expect("a name"), it.address(), it.size(), it.is_global()))
            .collect();
        assert_eq!(symbols, [("fg", 0x1004, 8, true)]);
        let segments: Vec<_> = read.segments().map(|it| (it.address(), it.file_range())).collect();
        assert_eq!(segments, [(0x1000, (0x5000, 0x20))]);
    }
}
