//! Puts the parts of an ELF file at their offsets.

use super::{ElfBuilder, ElfClass, Section, Segment, Symbol, SymbolSection, elf_const};
use crate::bytes::ByteWriter;

/// Larger (hostile) segments do not make the file longer, in bytes.
const MAX_FILL: u64 = 16 << 20;

/// A section with the numbers that the layout determines.
struct Placed {
    section: Section,
    offset: u64,
    link: u32,
    info: u32,
}

impl ElfBuilder {
    /// Returns the bytes of the file.
    ///
    /// Order: ELF header, program headers, segments and placed sections at their offsets, other sections, section
    /// headers. Headers overwrite sections placed on them.
    ///
    /// Source: System V ABI, chapters 4 and 5.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        let mut w = ByteWriter::new(self.endian);
        let headers = self.header_size() + self.segments.len() * self.phdr_size();
        w.zeros(headers);
        for segment in self.segments.iter().filter(|s| s.p_type == elf_const::PT_LOAD) {
            let end = segment.offset.saturating_add(segment.filesz);
            if end <= MAX_FILL && end as usize > w.len() {
                w.zeros(end as usize - w.len());
            }
        }
        let placed = self.place_sections(&mut w);
        let section_table = w.len().next_multiple_of(8);
        if self.section_headers {
            let mut rows = ByteWriter::new(self.endian);
            self.write_shdrs(&placed, &mut rows);
            w.align(8).bytes(rows.as_bytes());
        }
        let head = self.write_headers(section_table, placed.len());
        w.write_at(0, &head);
        w.into_bytes()
    }

    fn header_size(&self) -> usize {
        if self.class == ElfClass::Elf64 { 64 } else { 52 }
    }

    fn phdr_size(&self) -> usize {
        if self.class == ElfClass::Elf64 { 56 } else { 32 }
    }

    /// Appends an address, offset or size in the width of the class.
    fn word<'w>(&self, w: &'w mut ByteWriter, value: u64) -> &'w mut ByteWriter {
        w.uint(value, if self.class == ElfClass::Elf64 { 8 } else { 4 })
    }

    /// Places the given sections, the symbol tables, and `.shstrtab`. All except given sections with an offset go to
    /// the end of the file; they are omitted from a file without section headers.
    fn place_sections(&self, w: &mut ByteWriter) -> Vec<Placed> {
        let mut placed: Vec<Placed> = Vec::new();
        // Placed sections first: they may make the file longer.
        for section in &self.sections {
            let offset = section.offset.or_else(|| self.offset_of(section));
            if let Some(offset) = offset {
                w.write_at(offset as usize, &section.bytes);
            }
            let section = section.clone();
            placed.push(Placed { section, offset: offset.unwrap_or(u64::MAX), link: 0, info: 0 });
        }
        if !self.section_headers {
            return placed;
        }
        self.add_symbols(".symtab", ".strtab", elf_const::SHT_SYMTAB, &self.symbols, &mut placed);
        let dynamic = &self.dynamic_symbols;
        self.add_symbols(".dynsym", ".dynstr", elf_const::SHT_DYNSYM, dynamic, &mut placed);
        let names = Section::new(".shstrtab", elf_const::SHT_STRTAB, Vec::new());
        placed.push(Placed { section: names, offset: u64::MAX, link: 0, info: 0 });
        let names = string_table(placed.iter().map(|p| p.section.name.as_str())).0;
        if let Some(last) = placed.last_mut() {
            last.section.bytes = names;
        }
        for item in placed.iter_mut().filter(|item| item.offset == u64::MAX) {
            item.offset = w.align(item.section.align.max(1) as usize).len() as u64;
            w.bytes(&item.section.bytes);
        }
        placed
    }

    /// Returns the file offset of a loaded section by the segment that contains its address.
    fn offset_of(&self, section: &Section) -> Option<u64> {
        if section.flags & elf_const::SHF_ALLOC == 0 {
            return None;
        }
        let holds = |s: &&Segment| {
            s.p_type == elf_const::PT_LOAD
                && section.addr >= s.vaddr
                && section.addr - s.vaddr < s.memsz
        };
        let segment = self.segments.iter().find(holds)?;
        let offset = segment.offset.checked_add(section.addr - segment.vaddr)?;
        (offset < MAX_FILL).then_some(offset)
    }

    fn add_symbols(
        &self,
        name: &str,
        strings: &str,
        sh_type: u32,
        symbols: &[Symbol],
        placed: &mut Vec<Placed>,
    ) {
        if symbols.is_empty() {
            return;
        }
        // The ABI requires local symbols first.
        let mut sorted: Vec<&Symbol> = symbols.iter().collect();
        sorted.sort_by_key(|symbol| symbol.binding != elf_const::STB_LOCAL);
        let n_local = sorted.iter().filter(|s| s.binding == elf_const::STB_LOCAL).count();
        let (text, name_offsets) = string_table(sorted.iter().map(|s| s.name.as_str()));
        let entsize = if self.class == ElfClass::Elf64 { 24 } else { 16 };
        let mut table = ByteWriter::new(self.endian);
        table.zeros(entsize);
        for (symbol, name_offset) in sorted.iter().zip(name_offsets) {
            self.write_symbol(
                symbol,
                name_offset,
                section_index(&symbol.section, placed),
                &mut table,
            );
        }
        let mut section = Section::new(name, sh_type, table.into_bytes());
        section.align = 8;
        section.entsize = entsize as u64;
        // Index 0 is the null section, and the strings come right after the table.
        let link = placed.len() as u32 + 2;
        placed.push(Placed { section, offset: u64::MAX, link, info: n_local as u32 + 1 });
        let section = Section::new(strings, elf_const::SHT_STRTAB, text);
        placed.push(Placed { section, offset: u64::MAX, link: 0, info: 0 });
    }

    fn write_symbol(&self, symbol: &Symbol, name: u32, shndx: u16, w: &mut ByteWriter) {
        let info = symbol.binding << 4 | symbol.kind;
        w.u32(name);
        if self.class == ElfClass::Elf64 {
            w.u8(info).u8(symbol.other).u16(shndx).u64(symbol.value).u64(symbol.size);
        } else {
            w.u32(symbol.value as u32).u32(symbol.size as u32);
            w.u8(info).u8(symbol.other).u16(shndx);
        }
    }

    fn write_shdrs(&self, placed: &[Placed], w: &mut ByteWriter) {
        let names = string_table(placed.iter().map(|p| p.section.name.as_str())).1;
        w.zeros(self.shdr_size());
        for (item, name) in placed.iter().zip(names) {
            let section = &item.section;
            let size = section.stated_size.unwrap_or(section.bytes.len() as u64);
            w.u32(name).u32(section.sh_type);
            self.word(w, section.flags);
            self.word(w, section.addr);
            self.word(w, item.offset);
            self.word(w, size).u32(item.link).u32(item.info);
            self.word(w, section.align);
            self.word(w, section.entsize);
        }
    }

    fn shdr_size(&self) -> usize {
        if self.class == ElfClass::Elf64 { 64 } else { 40 }
    }

    fn write_headers(&self, section_table: usize, n_sections: usize) -> Vec<u8> {
        let mut w = ByteWriter::new(self.endian);
        let class = if self.class == ElfClass::Elf64 { 2 } else { 1 };
        let data = if self.endian == crate::bytes::Endian::Little { 1 } else { 2 };
        w.bytes(b"\x7fELF").u8(class).u8(data).u8(1).zeros(9);
        w.u16(self.e_type).u16(self.e_machine).u32(1);
        self.word(&mut w, self.e_entry);
        self.word(&mut w, if self.segments.is_empty() { 0 } else { self.header_size() as u64 });
        self.word(&mut w, if self.section_headers { section_table as u64 } else { 0 });
        w.u32(self.e_flags).u16(self.header_size() as u16);
        w.u16(self.phdr_size() as u16).u16(self.segments.len() as u16);
        // The null section comes first, `.shstrtab` last.
        let (n, names) = if self.section_headers { (n_sections + 1, n_sections) } else { (0, 0) };
        w.u16(self.shdr_size() as u16).u16(n as u16).u16(names as u16);
        for segment in &self.segments {
            self.write_phdr(segment, &mut w);
        }
        w.into_bytes()
    }

    fn write_phdr(&self, segment: &Segment, w: &mut ByteWriter) {
        w.u32(segment.p_type);
        if self.class == ElfClass::Elf64 {
            w.u32(segment.flags);
        }
        for value in [segment.offset, segment.vaddr, segment.vaddr, segment.filesz, segment.memsz] {
            self.word(w, value);
        }
        if self.class == ElfClass::Elf32 {
            w.u32(segment.flags);
        }
        self.word(w, segment.align);
    }
}

/// Returns a leading NUL and the strings, with the offset of each.
fn string_table<'s>(strings: impl Iterator<Item = &'s str>) -> (Vec<u8>, Vec<u32>) {
    let mut bytes = vec![0];
    let mut offsets = Vec::new();
    for text in strings {
        offsets.push(if text.is_empty() { 0 } else { bytes.len() as u32 });
        if !text.is_empty() {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        }
    }
    (bytes, offsets)
}

/// Returns the header index of a symbol's section; an unknown name counts as undefined.
fn section_index(place: &SymbolSection, placed: &[Placed]) -> u16 {
    match place {
        SymbolSection::Undefined => 0,
        SymbolSection::Absolute => 0xfff1,
        SymbolSection::Section(name) => placed
            .iter()
            .position(|item| item.section.name == *name)
            .map_or(0, |position| position as u16 + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Endian;

    fn u64_at(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn lld_layout_places_sections_by_address() {
        let elf = ElfBuilder {
            segments: vec![Segment::load_text(0x600, 0x1600, 0x20)],
            sections: vec![Section::text(0x1608, vec![0xc3; 4])],
            symbols: vec![Symbol::function("f", 0x1608, 4)],
            ..ElfBuilder::x86_64()
        };
        let bytes = elf.build();
        assert_eq!(bytes[..20], *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0");
        assert_eq!(bytes[64..72], [1, 0, 0, 0, 5, 0, 0, 0]);
        assert_eq!((u64_at(&bytes, 72), u64_at(&bytes, 80)), (0x600, 0x1600));
        assert_eq!(bytes[0x607..0x60d], [0, 0xc3, 0xc3, 0xc3, 0xc3, 0]);
        // The first section header after the null one is .text.
        let text = u64_at(&bytes, 0x28) as usize + 64;
        assert_eq!((u64_at(&bytes, text + 16), u64_at(&bytes, text + 24)), (0x1608, 0x608));
        // null, .text, .symtab, .strtab, .shstrtab
        assert_eq!(bytes[0x3c..0x40], [5, 0, 4, 0]);
        let symtab = text + 64;
        let symbols = u64_at(&bytes, symtab + 24) as usize;
        assert_eq!(bytes[symbols + 24..symbols + 32], [1, 0, 0, 0, 0x12, 0, 1, 0]);
        assert_eq!(u64_at(&bytes, symbols + 32), 0x1608);
    }

    #[test]
    fn elf32_big_endian_headers() {
        let elf = ElfBuilder {
            class: ElfClass::Elf32,
            endian: Endian::Big,
            segments: vec![Segment::load_text(0, 0x1_0000, 0x60)],
            section_headers: false,
            ..ElfBuilder::x86_64()
        };
        let bytes = elf.build();
        assert_eq!(bytes.len(), 0x60);
        assert_eq!(bytes[4..6], [1, 2]);
        let words: Vec<u32> = bytes[52..84]
            .chunks(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words, [1, 0, 0x1_0000, 0x1_0000, 0x60, 0x60, 5, 0x1000]);
    }

    #[test]
    fn hostile_segments_do_not_make_the_file_large() {
        let elf = ElfBuilder {
            segments: vec![Segment::load_text(u64::MAX - 1, 0, u64::MAX)],
            sections: vec![Section::text(0x10, vec![1])],
            ..ElfBuilder::x86_64()
        };
        // Headers, one byte of text, the names, alignment and three section headers.
        assert_eq!(elf.build().len(), 144 + 192);
    }
}
