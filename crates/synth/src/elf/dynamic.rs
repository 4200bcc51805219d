//! Input of the dynamic loader: the dynamic section with its tables of symbols, names, hashes and relocations.

use super::{ElfClass, Section, Segment, Symbol, SymbolSection, elf_const};
use crate::bytes::{ByteWriter, Endian};

/// Hash table that determines the number of dynamic symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashTables {
    /// `DT_HASH`.
    SysV,
    /// `DT_GNU_HASH`.
    Gnu,
    /// None.
    Missing,
}

/// The dynamic section of a file and its tables, as consecutive sections.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of headers are those of the file")]
pub struct DynamicTables {
    pub class: ElfClass,
    pub endian: Endian,
    pub e_machine: u16,
    /// Address of the first section.
    pub addr: u64,
    pub symbols: Vec<Symbol>,
    /// Slots of the linkage table, with the names of their symbols.
    pub linkage: Vec<(u64, String)>,
    /// `r_type` of the linkage table's relocations.
    pub linkage_type: u32,
    /// Address of the global offset table, `DT_PLTGOT`.
    pub slots: Option<u64>,
    pub hash: HashTables,
}

impl DynamicTables {
    /// Tables of an x86-64 file with `DT_GNU_HASH` and no linkage table.
    #[must_use]
    pub fn x86_64(addr: u64, symbols: Vec<Symbol>) -> Self {
        Self {
            class: ElfClass::Elf64,
            endian: Endian::Little,
            e_machine: elf_const::EM_X86_64,
            addr,
            symbols,
            linkage: Vec::new(),
            linkage_type: 7,
            slots: None,
            hash: HashTables::Gnu,
        }
    }

    /// Returns the sections, at their addresses in the file, and `PT_DYNAMIC`.
    ///
    /// Source: gABI, "Dynamic Section", "Hash Table"; s390x has hash tables of words of 8 bytes.
    #[must_use]
    pub fn build(&self) -> (Vec<Section>, Segment) {
        let word = self.word();
        let mut sections = Vec::new();
        let mut entries: Vec<(u64, u64)> = Vec::new();
        let mut at = self.addr;
        let mut add = |name: &str, bytes: Vec<u8>| {
            let start = at;
            at = (at + bytes.len() as u64).next_multiple_of(8);
            sections.push(Section::loaded(name, start, bytes));
            start
        };
        match self.hash {
            HashTables::SysV => entries.push((4, add(".hash", self.sysv()))),
            HashTables::Gnu => entries.push((0x6fff_fef5, add(".gnu.hash", self.gnu()))),
            HashTables::Missing => {}
        }
        let (symbols, strings) = self.tables();
        entries.push((6, add(".dynsym", symbols)));
        entries.push((11, if word == 8 { 24 } else { 16 }));
        entries.push((10, strings.len() as u64));
        entries.push((5, add(".dynstr", strings)));
        if !self.linkage.is_empty() {
            let relocations = self.relocations();
            entries.push((2, relocations.len() as u64));
            entries.push((20, if self.has_addends() { 7 } else { 17 }));
            let name = if self.has_addends() { ".rela.plt" } else { ".rel.plt" };
            entries.push((23, add(name, relocations)));
        }
        entries.extend(self.slots.map(|slots| (3, slots)));
        entries.push((0, 0));
        let mut dynamic = ByteWriter::new(self.endian);
        for (tag, value) in entries {
            dynamic.uint(tag, word).uint(value, word);
        }
        let size = dynamic.len() as u64;
        let start = add(".dynamic", dynamic.into_bytes());
        let segment = Segment {
            p_type: elf_const::PT_DYNAMIC,
            align: 8,
            ..Segment::load_rodata(start, start, size)
        };
        (sections, segment)
    }

    fn word(&self) -> usize {
        if self.class == ElfClass::Elf64 { 8 } else { 4 }
    }

    fn has_addends(&self) -> bool {
        self.class == ElfClass::Elf64
    }

    /// Returns `.dynsym` and `.dynstr`.
    fn tables(&self) -> (Vec<u8>, Vec<u8>) {
        let mut strings = vec![0];
        let mut table = ByteWriter::new(self.endian);
        table.zeros(if self.word() == 8 { 24 } else { 16 });
        for symbol in &self.symbols {
            let section = if symbol.section == SymbolSection::Undefined { 0 } else { 1 };
            let info = symbol.binding << 4 | symbol.kind;
            table.u32(strings.len() as u32);
            if self.word() == 8 {
                table.u8(info).u8(symbol.other).u16(section).u64(symbol.value).u64(symbol.size);
            } else {
                table.u32(symbol.value as u32).u32(symbol.size as u32);
                table.u8(info).u8(symbol.other).u16(section);
            }
            strings.extend_from_slice(symbol.name.as_bytes());
            strings.push(0);
        }
        (table.into_bytes(), strings)
    }

    /// Returns `DT_HASH` with one chain of all symbols.
    fn sysv(&self) -> Vec<u8> {
        let word = if self.e_machine == elf_const::EM_S390 && self.word() == 8 { 8 } else { 4 };
        let count = self.symbols.len() as u64 + 1;
        let mut table = ByteWriter::new(self.endian);
        table.uint(1, word).uint(count, word).uint(1, word).uint(0, word);
        for symbol in 1..count {
            table.uint(if symbol + 1 < count { symbol + 1 } else { 0 }, word);
        }
        table.into_bytes()
    }

    /// Returns `DT_GNU_HASH` with one chain of the defined symbols, which come last.
    fn gnu(&self) -> Vec<u8> {
        let is_undefined = |symbol: &&Symbol| symbol.section == SymbolSection::Undefined;
        let first = 1 + self.symbols.iter().take_while(is_undefined).count() as u32;
        let defined = self.symbols.len() as u32 + 1 - first;
        let mut table = ByteWriter::new(self.endian);
        table.u32(1).u32(first).u32(1).u32(6).uint(u64::MAX, self.word());
        table.u32(if defined > 0 { first } else { 0 });
        for number in 0..defined {
            table.u32(u32::from(number + 1 == defined));
        }
        table.into_bytes()
    }

    fn relocations(&self) -> Vec<u8> {
        let mut table = ByteWriter::new(self.endian);
        for (slot, name) in &self.linkage {
            let place = self.symbols.iter().position(|symbol| symbol.name == *name);
            let symbol = place.map_or(0, |place| place as u64 + 1);
            let kind = u64::from(self.linkage_type);
            if self.has_addends() {
                table.u64(*slot).u64(symbol << 32 | kind).u64(0);
            } else {
                table.u32(*slot as u32).u32((symbol << 8 | kind) as u32);
            }
        }
        table.into_bytes()
    }
}
