//! Tests of files without section headers, with names from the tables of the dynamic loader.

use std::path::Path;

use address::Svma;
use image_store::Image;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions, WhyNoName};
use synth::{
    ByteWriter, DynamicTables, ElfBuilder, ElfClass, Endian, HashTables, Section, Segment, Symbol,
    SymbolSection, elf_const,
};

use crate::interned::symbolize;

const TEXT: u64 = 0x1000;
const TABLES: u64 = 0x2000;
const SLOTS: u64 = 0x2f00;

/// Builds `inner`, `outer`, and a linkage table with a stub for `imported` if one is given.
fn file(elf: ElfBuilder, hash: HashTables, stub: &[u8]) -> Image {
    let imported =
        Symbol { section: SymbolSection::Undefined, ..Symbol::function("imported", 0, 0) };
    let symbols = vec![
        imported,
        Symbol::function("inner", 0x1100, 0x40),
        Symbol { kind: elf_const::STT_OBJECT, ..Symbol::function("table", 0x1180, 0x40) },
        Symbol::function("outer", 0x1140, 0x20),
    ];
    let word = if elf.class == ElfClass::Elf64 { 8 } else { 4 };
    let tables = DynamicTables {
        class: elf.class,
        endian: elf.endian,
        e_machine: elf.e_machine,
        hash,
        slots: Some(SLOTS),
        linkage: vec![(SLOTS + 3 * word as u64, "imported".to_owned())],
        ..DynamicTables::x86_64(TABLES, symbols)
    };
    let (mut sections, dynamic) = tables.build();
    let mut code = vec![0x90; 0x1000];
    code[0x20..0x20 + stub.len()].copy_from_slice(stub);
    sections.push(Section::text(TEXT, code));
    let mut slots = ByteWriter::new(elf.endian);
    slots.zeros(3 * word).uint(TEXT + 0x26, word);
    sections.push(Section::loaded(".got.plt", SLOTS, slots.into_bytes()));
    let elf = ElfBuilder {
        section_headers: false,
        segments: vec![
            Segment::load_text(TEXT, TEXT, 0x1000),
            Segment::load_rodata(TABLES, TABLES, 0x1000),
            dynamic,
        ],
        sections,
        ..elf
    };
    Image::from_vec(Path::new("headerless"), elf.build()).expect("an ELF file")
}

/// Returns name and start of the function at each address, or the reason that it has no name.
fn names(image: &Image, addresses: &[u64]) -> Vec<Result<(String, u64), WhyNoName>> {
    let addresses: Vec<Svma> = addresses.iter().copied().map(Svma).collect();
    let source = SymbolSource::of(image);
    let named =
        symbolize(&[SymbolRequest { source, addresses: &addresses }], &SymbolizeOptions::default());
    let name = |resolved: &symbolizer::ResolvedAddress| match resolved.reason {
        Some(reason) => Err(reason),
        None => {
            let row = named.frames.get(resolved.frames.end as usize - 1);
            let function = row.and_then(|row| named.text(row.function));
            let start = resolved.function_start.expect("a function's start");
            Ok((function.expect("a name"), start.0))
        }
    };
    named.addresses[0].iter().map(name).collect()
}

#[test]
fn exported_functions_of_every_machine() {
    let big = |e_machine| ElfBuilder { e_machine, endian: Endian::Big, ..ElfBuilder::x86_64() };
    let machines = [
        ElfBuilder::x86_64(),
        ElfBuilder::aarch64(),
        ElfBuilder::x86(),
        big(elf_const::EM_S390),
        big(elf_const::EM_PPC64),
    ];
    for elf in machines {
        for hash in [HashTables::Gnu, HashTables::SysV] {
            let image = file(elf.clone(), hash, &[]);
            let named = |name: &str, start| Ok((name.to_owned(), start));
            let (inner, outer) = (named("inner", 0x1100), named("outer", 0x1140));
            let expected = [inner.clone(), inner, outer, Err(WhyNoName::NotCovered)];
            let found = names(&image, &[0x1100, 0x113f, 0x1140, 0x1160]);
            assert_eq!(found, expected, "{:?} {hash:?}", image.arch());
        }
    }
}

#[test]
fn stubs_of_the_linkage_table() {
    // `jmp *slot(%rip)` at 0x1020, and `jmp *slot` of i386.
    let relative = (SLOTS + 24 - 0x1026) as u32;
    let absolute = (SLOTS + 12) as u32;
    let machines = [(ElfBuilder::x86_64(), relative), (ElfBuilder::x86(), absolute)];
    for (elf, number) in machines {
        let jump = [&[0xff, 0x25][..], &number.to_le_bytes(), &[0x68, 0, 0, 0, 0]].concat();
        let image = file(elf, HashTables::Gnu, &jump);
        let found = names(&image, &[0x1018, 0x1024, 0x1030]);
        let expected = [
            Ok((".plt".to_owned(), 0x1010)),
            Ok(("imported@plt".to_owned(), 0x1020)),
            Err(WhyNoName::NotCovered),
        ];
        assert_eq!(found, expected);
    }
}
