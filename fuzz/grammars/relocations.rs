//! Files with relocations: kernel modules, which are laid out and linked, and shared objects with call slots, exported
//! functions and relative words.
//!
//! ```text
//!   1 byte     bit 0: a shared object, else a kernel module; bit 1: aarch64; bit 2: 32 bits; bit 3: no section headers
//!   1 byte     how many symbols; then each (see `symbol`)
//!   the rest   parts: a byte for the section, one for the kind, one for how many times, and what it is made of
//! ```
#![no_main]

#[path = "../fuzz_targets/cost.rs"]
mod cost;
#[path = "../fuzz_targets/input.rs"]
mod input;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{BuildId, Svma};
use host::MemoryHost;
use image_store::{FileOptions, Image, ImageStore, LoadError};
use input::Input;
use libfuzzer_sys::fuzz_target;
use profile::Strings;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions, symbolize};
use synth::{
    ByteWriter, DynamicTables, ElfBuilder, ElfClass, Endian, HashTables, Section, Segment, Symbol,
    SymbolSection, elf_const, gnu_build_id_note,
};

const FILE: &str = "/lib/modules/m.ko";
const NAMES: [&str; 10] = [
    ".text",
    ".init.text",
    ".data",
    ".eh_frame",
    ".debug_info",
    ".debug_line",
    ".got",
    ".got.plt",
    ".data.rel.ro",
    ".text.unlikely",
];
/// Kinds of relocations that have a meaning on some processor.
const KINDS: [u32; 14] = [1, 2, 4, 6, 7, 8, 10, 11, 24, 37, 257, 261, 1026, 1027];
const CONTENT: u64 = 0x1_0000;
const PLACE: u64 = 0x1000;
const MOST_SYMBOLS: u64 = 64;
/// Maximum number of relocations of one part, and of parts.
const MOST_TIMES: u64 = 4096;
const MOST_PARTS: usize = 300;

struct File {
    sections: Vec<Section>,
    /// Index of each relocation section, and of the section that it relocates.
    targets: Vec<(usize, usize)>,
    symbols: Vec<Symbol>,
}

fn symbol(input: &mut Input<'_>) -> Symbol {
    let len = input.number(1) as usize;
    let kind = input.number(1);
    let name = match kind & 7 {
        7 => "long_name_".repeat(len * 4),
        _ => String::from_utf8_lossy(input.bytes(len % 16)).replace('\0', "."),
    };
    let section = NAMES[input.number(1) as usize % NAMES.len()].to_owned();
    let value = input.number(2);
    let section = match kind >> 6 {
        0 => SymbolSection::Undefined,
        1 => SymbolSection::Absolute,
        _ => SymbolSection::Section(section),
    };
    Symbol {
        kind: (kind >> 3 & 7) as u8,
        section,
        ..Symbol::function(&name, value, input.number(1))
    }
}

/// Returns a table of relocations: places and symbols that increase, stay, or come from the input.
fn relocations(input: &mut Input<'_>) -> Vec<u8> {
    let kind = KINDS[input.number(1) as usize % KINDS.len()];
    let times = input.number(2) % MOST_TIMES;
    let (place, step) = (input.number(2), input.number(1));
    let (symbol, symbol_step) = (input.number(1), input.number(1) & 3);
    let addend = input.number(2);
    let mut table = ByteWriter::new(Endian::Little);
    for time in 0..times {
        let symbol = symbol + symbol_step * time;
        table.u64(place + step * time).u64(symbol << 32 | u64::from(kind)).u64(addend + time);
    }
    table.into_bytes()
}

/// Adds a part of the file: a section with content, or relocations of one.
fn part(input: &mut Input<'_>, file: &mut File) {
    let name = NAMES[input.number(1) as usize % NAMES.len()];
    let kind = input.number(1);
    let number = file.sections.len() as u64;
    let addr = CONTENT + number * PLACE;
    let is_code = name.contains("text");
    match kind % 4 {
        0 | 1 => {
            let times = 1 + input.number(1) as usize;
            let len = input.number(1) as usize;
            let content = input.bytes(len).repeat(times);
            let flags = elf_const::SHF_ALLOC | if is_code { elf_const::SHF_EXECINSTR } else { 0 };
            let stated_size = (kind & 0xf0 == 0xf0).then(|| input.number(8));
            let align = 1 << (kind >> 4 & 7);
            let section = Section::loaded(name, addr, content);
            file.sections.push(Section { flags, stated_size, align, ..section });
        }
        _ => {
            let name = match kind >> 2 & 3 {
                0 => ".rela.dyn".to_owned(),
                1 => ".rela.plt".to_owned(),
                2 => ".relr.dyn".to_owned(),
                _ => format!(".rela{name}"),
            };
            let table = relocations(input);
            let target = input.number(1) as usize;
            file.targets.push((file.sections.len(), target));
            let sh_type = if kind & 0x10 == 0 { 4 } else { 19 };
            file.sections.push(Section {
                addr,
                entsize: 24,
                ..Section::new(&name, sh_type, table)
            });
        }
    }
}

/// Writes the symbol table and the target section of each relocation section.
fn link(bytes: &mut [u8], file: &File) {
    const HEADER: usize = 64;
    let table = u64::from_le_bytes(bytes[40..48].try_into().expect("eight bytes")) as usize;
    let symbols = file.sections.len() as u32 + 1;
    for &(section, target) in &file.targets {
        let at = table + (section + 1) * HEADER;
        let target = target as u32 % (symbols + 2);
        if let Some(header) = bytes.get_mut(at..at + HEADER) {
            header[40..44].copy_from_slice(&symbols.to_le_bytes());
            header[44..48].copy_from_slice(&target.to_le_bytes());
        }
    }
}

fn build(input: &mut Input<'_>, flags: u64) -> Vec<u8> {
    let symbols = (0..input.number(1) % MOST_SYMBOLS).map(|_| symbol(input)).collect();
    let mut file = File { sections: Vec::new(), targets: Vec::new(), symbols };
    file.sections.push(Section::text(PLACE, vec![0xe8; 0x200]));
    let note = gnu_build_id_note(Endian::Little, &[1; 20]);
    file.sections.push(Section {
        sh_type: elf_const::SHT_NOTE,
        ..Section::loaded(".note.gnu.build-id", 0x2000, note)
    });
    while !input.0.is_empty() && file.sections.len() < MOST_PARTS {
        part(input, &mut file);
    }
    let is_shared = flags & 1 != 0;
    let empty = if flags & 2 != 0 { ElfBuilder::aarch64() } else { ElfBuilder::x86_64() };
    let mut elf = ElfBuilder { symbols: file.symbols.clone(), ..empty };
    if is_shared {
        let hash = [HashTables::Gnu, HashTables::SysV][(flags >> 4 & 1) as usize];
        let tables = DynamicTables {
            hash,
            linkage: file.symbols.iter().map(|it| (CONTENT, it.name.clone())).collect(),
            ..DynamicTables::x86_64(0x20_0000, file.symbols.clone())
        };
        let (sections, dynamic) = tables.build();
        file.sections.extend(sections);
        elf.segments = vec![
            Segment::load_text(PLACE, PLACE, 0x200),
            Segment::load_rodata(0x2000, 0x2000, 0x2000),
            dynamic,
        ];
        elf.section_headers = flags & 8 == 0;
        elf.sections = file.sections;
        if flags & 4 != 0 {
            elf = ElfBuilder { class: ElfClass::Elf32, e_machine: elf_const::EM_ARM, ..elf };
        }
        return elf.build();
    }
    elf.e_type = 1;
    elf.sections.clone_from(&file.sections);
    let mut bytes = elf.build();
    link(&mut bytes, &file);
    bytes
}

fn name(image: &Image) {
    let places = image.segments().iter().take(8).map(|it| (it.svma, it.file_size));
    let mut addresses: Vec<Svma> =
        places.flat_map(|(start, len)| (0..16).map(move |at| start.add(len / 16 * at))).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let request = SymbolRequest { source: SymbolSource::of(image), addresses: &addresses };
    let symbols = symbolize(&[request], &SymbolizeOptions::default(), &mut Strings::default());
    assert_eq!(symbols.addresses[0].len(), addresses.len());
}

/// Reads the dynamic loader's results in three ways.
fn slots(image: &Image, names: &[Symbol]) {
    let hash =
        |name: &[u8]| name.iter().fold(7_u64, |hash, &it| hash.wrapping_mul(31) ^ u64::from(it));
    let slots = image.call_slots();
    assert!(slots.is_sorted_by_key(|&(slot, _)| slot));
    assert!(image.linked_slots(&hash).is_sorted_by_key(|&(slot, _)| slot));
    assert!(image.relative_words().is_sorted_by_key(|&(word, _)| word));
    let functions = image.exported_functions(&hash);
    assert!(functions.is_sorted_by_key(|&(name, _)| name));
    let _ = (image.exports_functions(), image.thumb_code(), image.function_ranges());
    for symbol in names {
        let _ = image.exported_function(symbol.name.as_bytes());
    }
    for number in 0..8 {
        let _ = image.dynamic_name(number);
    }
}

/// Returns the symbols of an input, and its file.
fn make(bytes: &[u8]) -> (Vec<Symbol>, Vec<u8>) {
    let mut input = Input(bytes);
    let flags = input.number(1);
    let names = {
        let mut input = Input(input.0);
        (0..input.number(1) % MOST_SYMBOLS).map(|_| symbol(&mut input)).collect()
    };
    (names, build(&mut input, flags))
}

fn run(names: &[Symbol], elf: Vec<u8>) -> u64 {
    let mut len = elf.len() as u64;
    if let Ok(image) = Image::from_vec(Path::new(FILE), elf.clone()) {
        slots(&image, names);
        name(&image);
    }
    let host = Arc::new(MemoryHost::new());
    host.insert(FILE, elf);
    let options =
        FileOptions { host, modules: vec![PathBuf::from(FILE)], ..FileOptions::default() };
    let store = ImageStore::new(options);
    let any = BuildId::new(&[1; 20]).expect("a build-id");
    // It states no build-id: the error has the one computed from its bytes.
    let loaded = match store.kernel_file(b"[m]", any) {
        Err(LoadError::BuildId { found: Some(found), .. }) => store.kernel_file(b"[m]", found),
        other => other,
    };
    if let Ok(loaded) = loaded {
        len += loaded.image().bytes().len() as u64;
        name(loaded.image());
    }
    len
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded_of(bytes, || make(bytes), |(names, elf)| run(&names, elf));
});
