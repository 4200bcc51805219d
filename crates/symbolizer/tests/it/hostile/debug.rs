//! Writer of debug information: DWARF 4 with 64-bit addresses.

use std::path::Path;

use address::Svma;
use budget::{Budget, Limit, Resource};
use image_store::Image;
use symbolizer::{SymbolFindingKind, SymbolRequest, SymbolSource, SymbolizeOptions};
use synth::{ByteWriter, ElfBuilder, Endian, Section, Segment};

use crate::interned::{Interned, symbolize};

/// Address of the code, and its size.
pub(crate) const TEXT: u64 = 0x1000;
pub(crate) const TEXT_SIZE: u64 = 0x1000;

/// Sections with debug information.
#[derive(Default)]
pub(crate) struct Debug {
    pub(crate) info: Vec<u8>,
    pub(crate) abbrev: Vec<u8>,
    pub(crate) more: Vec<Section>,
}

/// Concatenates parts.
pub(crate) fn bytes(parts: impl FnOnce(&mut ByteWriter)) -> Vec<u8> {
    let mut writer = ByteWriter::new(Endian::Little);
    parts(&mut writer);
    writer.into_bytes()
}

/// Encodes an abbreviation: code, tag, presence of children, and attributes as names and forms.
pub(crate) fn abbrev(code: u64, tag: u64, children: bool, attributes: &[(u64, u64)]) -> Vec<u8> {
    bytes(|it| {
        it.uleb(code).uleb(tag).u8(children.into());
        attributes.iter().for_each(|&(name, form)| {
            it.uleb(name).uleb(form);
        });
        it.u16(0);
    })
}

/// A section of type `SHT_PROGBITS`.
pub(crate) fn section(name: &str, bytes: Vec<u8>) -> Section {
    const SHT_PROGBITS: u32 = 1;
    Section::new(name, SHT_PROGBITS, bytes)
}

impl Debug {
    /// Adds a unit with these entries and the abbreviations at an offset.
    pub(crate) fn unit(&mut self, abbrevs: u32, entries: &[u8]) {
        self.info.extend(bytes(|it| {
            it.u32(entries.len() as u32 + 7).u16(4).u32(abbrevs).u8(8).bytes(entries);
        }));
    }

    /// Builds the file.
    pub(crate) fn image(&self) -> Image {
        let mut sections = vec![Section::text(TEXT, vec![0x90; TEXT_SIZE as usize])];
        sections.push(section(".debug_info", self.info.clone()));
        sections.push(section(".debug_abbrev", self.abbrev.clone()));
        sections.extend(self.more.iter().cloned());
        let segments = vec![Segment::load_text(0x1000, TEXT, TEXT_SIZE)];
        let elf = ElfBuilder { segments, sections, ..ElfBuilder::x86_64() };
        Image::from_vec(Path::new("hostile"), elf.build()).expect("an ELF file")
    }

    /// Symbolizes addresses of the code, relative to its start, within limits.
    pub(crate) fn ask(&self, addresses: &[u64], limits: &[(Resource, u64)]) -> Interned {
        ask(&self.image(), addresses, limits)
    }
}

/// Symbolizes addresses of a file, in the same way.
pub(crate) fn ask(image: &Image, addresses: &[u64], limits: &[(Resource, u64)]) -> Interned {
    let fixed = |most| Limit { base: most, per_byte: 0, most };
    let budget = limits
        .iter()
        .fold(Budget::default(), |budget, &(resource, most)| budget.with(resource, fixed(most)));
    let addresses: Vec<Svma> = addresses.iter().map(|at| Svma(TEXT + at)).collect();
    let request = SymbolRequest { source: SymbolSource::of(image), addresses: &addresses };
    symbolize(&[request], &SymbolizeOptions { budget, ..SymbolizeOptions::default() })
}

/// Returns the kinds of findings.
pub(crate) fn kinds(named: &Interned) -> Vec<SymbolFindingKind> {
    named.findings.iter().map(|finding| finding.kind).collect()
}

/// Returns the name of the function that is not inlined at each address.
pub(crate) fn functions(named: &Interned) -> Vec<Option<String>> {
    let addresses = named.addresses.iter().flatten();
    addresses
        .map(|it| {
            let frame = it.frames.clone().next_back()?;
            named.text(named.frames.get(frame as usize)?.function)
        })
        .collect()
}
