//! Tables that the dynamic section refers to: symbols with their names, relocations, and the global offset table.
//!
//! Source: gABI, "Dynamic Section"; `DT_GNU_HASH` and `DT_VERSYM` in `elf.h`.

use address::Svma;

use super::loaded::{LoadedFile, Part};
use super::{linkage, section, symbols};
use crate::elf::Section;

const DT_NULL: u64 = 0;
const DT_PLTRELSZ: u64 = 2;
const DT_PLTGOT: u64 = 3;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_STRSZ: u64 = 10;
const DT_SYMENT: u64 = 11;
const DT_REL: u64 = 17;
const DT_RELSZ: u64 = 18;
const DT_PLTREL: u64 = 20;
const DT_JMPREL: u64 = 23;
const DT_GNU_HASH: u64 = 0x6fff_fef5;
const DT_VERSYM: u64 = 0x6fff_fff0;

/// Addresses and sizes, in bytes, of the tables of a dynamic section.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct DynamicSection {
    pub(super) symbols: Option<Svma>,
    symbol_size: Option<u64>,
    pub(super) strings: Option<Svma>,
    strings_size: Option<u64>,
    pub(super) hash: Option<Svma>,
    pub(super) gnu_hash: Option<Svma>,
    versions: Option<Svma>,
    rel: Option<Svma>,
    rel_size: Option<u64>,
    rela: Option<Svma>,
    rela_size: Option<u64>,
    linkage: Option<Svma>,
    linkage_size: Option<u64>,
    linkage_kind: Option<u64>,
    slots: Option<Svma>,
}

impl DynamicSection {
    /// Reads the entries up to the first `DT_NULL`. As in the loader, the last of several entries with one tag is used.
    fn read(file: &LoadedFile<'_>, dynamic: &Part) -> Self {
        let mut tables = Self::default();
        let word = file.word_size();
        for entry in file.bytes_of(dynamic).chunks_exact(2 * word) {
            let value = file.number(entry, word, word);
            match file.number(entry, 0, word) {
                None | Some(DT_NULL) => break,
                Some(tag) => tables.set(tag, value),
            }
        }
        tables
    }

    fn set(&mut self, tag: u64, value: Option<u64>) {
        let address = value.map(Svma);
        match tag {
            DT_SYMTAB => self.symbols = address,
            DT_SYMENT => self.symbol_size = value,
            DT_STRTAB => self.strings = address,
            DT_STRSZ => self.strings_size = value,
            DT_HASH => self.hash = address,
            DT_GNU_HASH => self.gnu_hash = address,
            DT_VERSYM => self.versions = address,
            DT_REL => self.rel = address,
            DT_RELSZ => self.rel_size = value,
            DT_RELA => self.rela = address,
            DT_RELASZ => self.rela_size = value,
            DT_JMPREL => self.linkage = address,
            DT_PLTRELSZ => self.linkage_size = value,
            DT_PLTREL => self.linkage_kind = value,
            DT_PLTGOT => self.slots = address,
            _ => {}
        }
    }

    /// Returns the relocations of the procedure linkage table, and whether they state addends.
    pub(super) fn linkage(&self, file: &LoadedFile<'_>) -> Option<(Part, bool)> {
        let part = file.part(self.linkage?, self.linkage_size?)?;
        Some((part, self.linkage_kind == Some(DT_RELA)))
    }

    /// Returns the bytes from the symbols up to the next table. The end is not stated, but tables do not overlap.
    pub(super) fn symbols(&self, file: &LoadedFile<'_>) -> Option<Part> {
        let start = self.symbols?;
        let others = [
            self.strings,
            self.hash,
            self.gnu_hash,
            self.versions,
            self.rel,
            self.rela,
            self.linkage,
        ];
        let next = others.into_iter().flatten().filter(|&other| other > start).min();
        file.part(start, next.map_or(u64::MAX, |next| next.since(start)))
    }
}

/// Returns the tables as sections.
pub(super) fn sections(file: &LoadedFile<'_>, dynamic: &Part) -> Vec<Section> {
    let tables = DynamicSection::read(file, dynamic);
    let mut found: Vec<(&str, Option<Part>)> = Vec::new();
    let usual = symbols::entry_size(file) as u64;
    let word = file.word_size() as u64;
    let strings = tables.strings.zip(tables.strings_size);
    if tables.symbol_size.is_none_or(|size| size == usual) {
        found.push((".dynsym", symbols::find(file, &tables)));
        found.push((".dynstr", strings.and_then(|(start, size)| file.part(start, size))));
    }
    let rel = tables.rel.zip(tables.rel_size);
    found.push((".rel.dyn", rel.and_then(|(start, size)| file.part(start, size))));
    let rela = tables.rela.zip(tables.rela_size);
    found.push((".rela.dyn", rela.and_then(|(start, size)| file.part(start, size))));
    // Only the address is used.
    found.push((".got.plt", tables.slots.and_then(|slots| file.part(slots, word))));
    let mut stubs = Vec::new();
    if let Some((part, has_addends)) = tables.linkage(file) {
        stubs = linkage::find(file, &part, has_addends);
        found.push((if has_addends { ".rela.plt" } else { ".rel.plt" }, Some(part)));
    }
    let data = found.into_iter().filter_map(|(name, part)| Some(section(name, part?, false)));
    data.chain(stubs.into_iter().map(|(name, part)| section(name, part, true))).collect()
}
