//! Tests of symbols with names that share a tail.

use std::path::Path;

use budget::Resource;
use image_store::Image;
use symbolizer::SymbolFindingKind::OverBudget;
use synth::{ElfBuilder, Section, Segment, Symbol};

use super::debug::{TEXT, TEXT_SIZE, ask, bytes, functions, kinds, section};

/// A file with these sections and symbols. Their names are suffixes of one string of 1,000 bytes.
fn file(mut sections: Vec<Section>, symbols: Vec<u8>) -> Image {
    let strings = [&b"\0"[..], &[b'A'; 1000], b"\0"].concat();
    sections.extend([section(".symtab", symbols), section(".strtab", strings)]);
    let segments = vec![Segment::load_text(0x1000, TEXT, TEXT_SIZE)];
    let elf = ElfBuilder { segments, sections, ..ElfBuilder::x86_64() };
    Image::from_vec(Path::new("hostile"), elf.build()).expect("an ELF file")
}

/// Functions of 16 bytes, with suffixes of one string as names; with `at_once` all have the same address.
fn image(functions: u32, at_once: bool) -> Image {
    let symbols = bytes(|it| {
        it.zeros(24);
        for number in 0..functions {
            let (start, size) = if at_once { (0, TEXT_SIZE) } else { (16 * u64::from(number), 16) };
            it.u32(number + 1).u8(0x12).u8(0).u16(1).u64(TEXT + start).u64(size);
        }
    });
    file(vec![Section::text(TEXT, vec![0x90; TEXT_SIZE as usize])], symbols)
}

#[test]
fn names_are_counted() {
    let addresses: Vec<u64> = (0..100).map(|at| 16 * at + 8).collect();
    let named = ask(&image(100, false), &addresses, &[(Resource::NameBytes, 5000)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::NameBytes)]);
    let names = functions(&named);
    // 1000 + 999 + 998 + 997 + 996.
    assert_eq!(names.iter().flatten().count(), 5);
    assert_eq!(names[4], Some("A".repeat(996)));
    // The same name twice counts once.
    let twice: Vec<u64> = (0..5).flat_map(|at| [16 * at + 7, 16 * at + 8]).collect();
    let named = ask(&image(100, false), &twice, &[(Resource::NameBytes, 5000)]);
    assert_eq!((kinds(&named), functions(&named).iter().flatten().count()), (vec![], 10));
}

/// Readable names are limited: those beyond the limit stay mangled.
#[test]
fn readable_names_are_counted() {
    let symbols = ["_ZN1a1bEv", "_ZN1a1cEv", "_ZN1a1dEv"];
    let symbols = (0..).zip(symbols).map(|(at, name)| Symbol::function(name, TEXT + 16 * at, 16));
    let elf = ElfBuilder {
        segments: vec![Segment::load_text(0x1000, TEXT, TEXT_SIZE)],
        sections: vec![Section::text(TEXT, vec![0x90; TEXT_SIZE as usize])],
        symbols: symbols.collect(),
        ..ElfBuilder::x86_64()
    };
    let image = Image::from_vec(Path::new("hostile"), elf.build()).expect("an ELF file");
    // Each has 6 bytes: `a::b()`.
    let named = ask(&image, &[8, 24, 40], &[(Resource::ReadableBytes, 13)]);
    let names = ["a::b()", "a::c()", "_ZN1a1dEv"].map(|name| Some(name.to_owned()));
    assert_eq!(functions(&named), names);
    assert_eq!(kinds(&named), [OverBudget(Resource::ReadableBytes)]);
    let named = ask(&image, &[8, 24, 40], &[(Resource::ReadableBytes, 18)]);
    assert_eq!(kinds(&named), []);
}

/// A file with 100 stubs in `.iplt`. One resolver with a name of 1,000 bytes fills all their slots.
fn indirect_stubs() -> Image {
    const RESOLVER: u64 = TEXT + 0x800;
    const SLOTS: u64 = 0x9000;
    let symbols = bytes(|it| {
        it.zeros(24).u32(1).u8(0x1a).u8(0).u16(1).u64(RESOLVER).u64(16);
    });
    let stubs = bytes(|it| {
        for number in 0..100_u64 {
            // Source: x86-64 psABI, "Procedure Linkage Table": `jmp *slot(%rip)`.
            let (stub, slot) = (TEXT + 16 * number, SLOTS + 8 * number);
            it.u8(0xff).u8(0x25).u32((slot - stub - 6) as u32).zeros(10);
        }
    });
    let relocations = bytes(|it| {
        const R_X86_64_IRELATIVE: u64 = 37;
        for number in 0..100 {
            it.u64(SLOTS + 8 * number).u64(R_X86_64_IRELATIVE).u64(RESOLVER);
        }
    });
    let stubs = Section { name: ".iplt".to_owned(), ..Section::text(TEXT, stubs) };
    file(vec![stubs, section(".rela.iplt", relocations)], symbols)
}

#[test]
fn names_of_stubs_with_one_resolver_are_counted() {
    let addresses: Vec<u64> = (0..100).map(|at| 16 * at + 8).collect();
    let full = format!("{}@plt", "A".repeat(1000));
    let named = ask(&indirect_stubs(), &addresses, &[]);
    assert_eq!(kinds(&named), []);
    assert!(functions(&named).iter().all(|name| name.as_ref() == Some(&full)));
    let named = ask(&indirect_stubs(), &addresses, &[(Resource::NameBytes, 5000)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::NameBytes)]);
    let names = functions(&named);
    // One is used for the resolver itself; the other stubs are named by their slots.
    assert_eq!(names.iter().filter(|name| name.as_ref() == Some(&full)).count(), 4);
    assert_eq!(names[99], Some("offset_0x9318@plt".to_owned()));
}

#[test]
fn names_of_one_address_are_read_for_their_order() {
    let named = ask(&image(100, true), &[8], &[]);
    assert_eq!((kinds(&named), functions(&named)), (vec![], vec![Some("A".repeat(1000))]));
    let named = ask(&image(100, true), &[8], &[(Resource::NameBytes, 5000)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::NameBytes)]);
}
