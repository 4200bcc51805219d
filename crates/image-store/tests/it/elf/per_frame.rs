//! Per-frame queries to a file have a constant cost: no decompression and no repeated scan.

use std::path::Path;

use address::Svma;
use image_store::{Image, is_within};
use synth::{ElfBuilder, Section, Symbol, elf_const};

use crate::files::builder;

fn image(elf: &ElfBuilder) -> Image {
    Image::from_vec(Path::new("app"), elf.build()).expect("an ELF file")
}

fn section(name: &str, bytes: Vec<u8>) -> Section {
    Section::new(name, elf_const::SHT_PROGBITS, bytes)
}

#[test]
fn ranges_of_symbols_are_merged_once() {
    let mut elf = builder(7);
    elf.symbols = vec![
        Symbol::function("a", 0x1600, 4),
        Symbol::function("b", 0x1602, 4),
        Symbol::function("none", 0x1608, 0),
        Symbol::function("c", 0x160a, 2),
    ];
    let ranges = image(&elf).symbol_ranges();
    assert_eq!(ranges, [(0x1600, 0x1606), (0x160a, 0x160c)]);
    let within: Vec<u64> = (0x15ff..0x160e).filter(|&svma| is_within(&ranges, svma)).collect();
    assert_eq!(within, [0x1600, 0x1601, 0x1602, 0x1603, 0x1604, 0x1605, 0x160a, 0x160b]);
    assert!(!is_within(&[], 0));
}

/// `section` returns the first section with a name that has bytes.
#[test]
fn sections_are_found_by_their_names() {
    let mut elf = builder(7);
    elf.sections.push(section(".debug_a", vec![]));
    elf.sections.push(section(".debug_a", vec![1]));
    elf.sections.push(section(".debug_a", vec![2]));
    elf.sections.push(section(".zdebug_b", b"ZLIB\0\0\0\0\0\0\0\x01x".to_vec()));
    let image = image(&elf);
    let data = |name| image.section_data(image.section(name)?).ok().map(|data| data.to_vec());
    assert_eq!(data(".debug_a"), Some(vec![1]));
    assert_eq!(image.section(".debug_b").map(|it| &*it.name), Some(&b".zdebug_b"[..]));
    assert!(image.section(".none").is_none());
}

/// A hash table with one bucket: all its symbols have the hash of `f`, and `others` of them have another name.
fn exported(others: u32) -> Option<Svma> {
    const FIRST: u32 = 1;
    let hash = 5381_u32.wrapping_mul(33).wrapping_add(u32::from(b'f'));
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut table = words(&[1, FIRST, 1, 0, 0, 0, FIRST]);
    table.extend((0..others).flat_map(|_| (hash & !1).to_le_bytes()));
    table.extend((hash | 1).to_le_bytes());
    let symbol = |name: u32| {
        let mut symbol = words(&[name]);
        symbol.extend([0x12, 0, 1, 0]);
        symbol.extend(0x1600_u64.to_le_bytes());
        symbol.extend(16_u64.to_le_bytes());
        symbol
    };
    let mut symbols = vec![0; 24];
    (0..others).for_each(|_| symbols.extend(symbol(3)));
    symbols.extend(symbol(1));
    let mut elf = builder(7);
    elf.sections.push(section(".dynsym", symbols));
    elf.sections.push(section(".dynstr", b"\0f\0g\0".to_vec()));
    elf.sections.push(section(".gnu.hash", table));
    image(&elf).exported_function(b"f")
}

#[test]
fn few_names_of_one_hash_are_compared() {
    assert_eq!(exported(0), Some(Svma(0x1600)));
    assert_eq!(exported(31), Some(Svma(0x1600)));
    assert_eq!(exported(32), None);
}

/// Tables of the dynamic loader are never compressed. If they are, they are not decompressed on each call.
#[test]
fn names_that_are_compressed_are_none() {
    let mut elf = builder(7);
    let mut packed = 1_u32.to_le_bytes().to_vec();
    packed.extend([0; 4]);
    packed.extend(5_u64.to_le_bytes());
    packed.extend(1_u64.to_le_bytes());
    // `zlib.compress(b"\0f\0g\0")` of Python.
    packed.extend([0x78, 0x9c, 0x63, 0x48, 0x63, 0x48, 0x67, 0, 0, 2, 0x9a, 0, 0xce]);
    const SHF_COMPRESSED: u64 = 0x800;
    let strings = Section { flags: SHF_COMPRESSED, ..section(".dynstr", packed) };
    let mut symbols = vec![0; 24];
    symbols.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
    symbols.extend([0; 16]);
    elf.sections.push(section(".dynsym", symbols.clone()));
    elf.sections.push(strings);
    assert_eq!(image(&elf).dynamic_name(1), None);
    elf.sections.pop();
    elf.sections.push(section(".dynstr", b"\0f\0g\0".to_vec()));
    assert_eq!(image(&elf).dynamic_name(1), Some(b"f".to_vec()));
}
