//! Files without section headers: sections derived from program headers and the dynamic section.

use std::path::Path;

use address::Svma;
use image_store::{Image, ImageError, Section as Found, SlotValue};
use synth::{
    ByteWriter, CfiBuilder, CfiKind, CfiOps, Cie, DynamicTables, ElfBuilder, ElfClass, Endian, Fde,
    HashTables, Section, Segment, Symbol, SymbolSection, eh_frame_hdr, elf_const,
    gnu_build_id_note,
};

const TEXT: u64 = 0x1000;
const TABLES: u64 = 0x2000;
const HEADER: u64 = 0x3000;
const FRAMES: u64 = 0x3100;
const NOTE: u64 = 0x3800;

/// One imported function and two defined ones.
fn symbols() -> Vec<Symbol> {
    let imported =
        Symbol { section: SymbolSection::Undefined, ..Symbol::function("imported", 0, 0) };
    vec![imported, Symbol::function("inner", 0x1100, 0x40), Symbol::function("outer", 0x1140, 0x20)]
}

fn base(elf: ElfBuilder) -> ElfBuilder {
    ElfBuilder {
        section_headers: false,
        segments: vec![
            Segment::load_text(TEXT, TEXT, 0x1000),
            Segment::load_rodata(TABLES, TABLES, 0x2000),
        ],
        sections: vec![Section::text(TEXT, vec![0x90; 0x1000])],
        ..elf
    }
}

/// A file with tables for these symbols.
fn file(elf: ElfBuilder, hash: HashTables) -> ElfBuilder {
    let mut elf = base(elf);
    let tables = DynamicTables {
        class: elf.class,
        endian: elf.endian,
        e_machine: elf.e_machine,
        hash,
        ..DynamicTables::x86_64(TABLES, symbols())
    };
    let (sections, dynamic) = tables.build();
    elf.sections.extend(sections);
    elf.segments.push(dynamic);
    elf
}

fn open(elf: Vec<u8>) -> Image {
    Image::from_vec(Path::new("headerless"), elf).expect("an ELF file")
}

/// Returns name, address and size of each section.
fn shape(image: &Image) -> Vec<(String, u64, u64)> {
    let row = |section: &Found| {
        (String::from_utf8_lossy(&section.name).into_owned(), section.svma.0, section.size)
    };
    image.sections().iter().map(row).collect()
}

fn size_of(image: &Image, name: &str) -> Option<u64> {
    image.section(name).map(|section| section.size)
}

fn machines() -> Vec<(&'static str, ElfBuilder)> {
    let big = |e_machine| ElfBuilder { e_machine, endian: Endian::Big, ..ElfBuilder::x86_64() };
    vec![
        ("x86-64", ElfBuilder::x86_64()),
        ("aarch64", ElfBuilder::aarch64()),
        ("i386", ElfBuilder::x86()),
        ("arm", ElfBuilder::arm()),
        ("s390x", big(elf_const::EM_S390)),
        ("ppc64", big(elf_const::EM_PPC64)),
    ]
}

#[test]
fn symbols_are_counted_by_either_hash_table_on_every_machine() {
    for (name, elf) in machines() {
        let symbol = if elf.class == ElfClass::Elf64 { 24 } else { 16 };
        for hash in [HashTables::Gnu, HashTables::SysV] {
            let image = open(file(elf.clone(), hash).build());
            assert_eq!(size_of(&image, ".dynsym"), Some(4 * symbol), "{name} {hash:?}");
            let strings = image.section(".dynstr").expect("names");
            let strings = image.section_data(strings).expect("in the file");
            assert_eq!(&*strings, b"\0imported\0inner\0outer\0", "{name} {hash:?}");
            assert!(!image.is_stripped_of_code() && !image.has_lost_sections());
        }
        // The number of symbols is unknown.
        let image = open(file(elf, HashTables::Missing).build());
        assert_eq!(size_of(&image, ".dynsym"), None, "{name}");
    }
}

#[test]
fn sections_have_their_addresses_and_offsets() {
    let image = open(file(ElfBuilder::x86_64(), HashTables::Gnu).build());
    let expected = [
        (".text", TEXT, 0x1000),
        (".dynsym", 0x2028, 96),
        (".dynstr", 0x2088, 22),
        (".dynamic", 0x20a0, 96),
    ];
    assert_eq!(shape(&image), expected.map(|(name, at, size)| (name.to_owned(), at, size)));
    assert_eq!(image.section(".dynsym").map(|section| section.offset().0), Some(0x2028));
    assert!(image.sections()[0].executable && image.sections()[0].allocated);
}

/// In a program that exports nothing, relocations give a lower bound for the number of symbols.
#[test]
fn imports_are_counted_by_the_relocations_of_the_linkage_table() {
    for elf in [ElfBuilder::x86_64(), ElfBuilder::x86()] {
        let symbol = if elf.class == ElfClass::Elf64 { 24 } else { 16 };
        let mut elf = base(elf);
        let import = |name: &str| Symbol {
            section: SymbolSection::Undefined,
            ..Symbol::function(name, 0, 0)
        };
        let tables = DynamicTables {
            class: elf.class,
            linkage: vec![(0x3ff0, "two".to_owned())],
            ..DynamicTables::x86_64(TABLES, vec![import("one"), import("two"), import("three")])
        };
        let (sections, dynamic) = tables.build();
        elf.sections.extend(sections);
        elf.segments.push(dynamic);
        // The empty hash table states that hashed symbols start after all three.
        let image = open(elf.build());
        assert_eq!(size_of(&image, ".dynsym"), Some(4 * symbol));
        // A table that states them to start at symbol 1.
        let first = elf.sections.iter_mut().find(|it| it.name == ".gnu.hash").expect("a table");
        first.bytes[4] = 1;
        let image = open(elf.build());
        assert_eq!(size_of(&image, ".dynsym"), Some(3 * symbol));
    }
}

/// Two descriptions, followed by other bytes.
fn with_frames(terminator: bool, change: impl Fn(&mut Vec<u8>)) -> Image {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, FRAMES);
    let cie = cfi.cie(&Cie::x86_64());
    for pc_begin in [0x1100, 0x1140] {
        let instructions = CfiOps::new(Endian::Little).def_cfa_offset(16).into_bytes();
        cfi.fde(cie, &Fde { pc_begin, pc_range: 0x20, lsda: 0, instructions });
    }
    if terminator {
        cfi.terminator();
    }
    let built = cfi.build();
    let mut header = eh_frame_hdr(Endian::Little, HEADER, FRAMES, &built.fdes);
    change(&mut header);
    let after = Section::loaded(".rest", FRAMES + built.bytes.len() as u64, vec![0x11; 0x40]);
    let size = header.len() as u64;
    let mut elf = base(ElfBuilder::x86_64());
    elf.sections.extend([
        Section::loaded(".eh_frame", FRAMES, built.bytes),
        after,
        Section::loaded(".eh_frame_hdr", HEADER, header),
    ]);
    elf.segments.push(Segment {
        p_type: elf_const::PT_GNU_EH_FRAME,
        ..Segment::load_rodata(HEADER, HEADER, size)
    });
    open(elf.build())
}

#[test]
fn call_frame_information_ends_with_its_last_description() {
    let image = with_frames(false, |_| {});
    let frames = image.section(".eh_frame").expect("by the header");
    assert_eq!((frames.svma, frames.size), (Svma(FRAMES), 0x48));
    assert_eq!(size_of(&image, ".eh_frame_hdr"), Some(12 + 2 * 8));
    // Without a table, the terminator ends it.
    let image = with_frames(true, |header| header[3] = 0xff);
    assert_eq!(size_of(&image, ".eh_frame"), Some(0x48));
    // Without either, entries are followed as long as their lengths are valid.
    let image = with_frames(false, |header| header[3] = 0xff);
    assert_eq!(size_of(&image, ".eh_frame"), Some(0x48));
}

#[test]
fn pointers_to_call_frame_information_in_other_encodings() {
    let absolute = FRAMES as u32;
    let from_header = (FRAMES - HEADER) as u32;
    for (encoding, value) in [(0x03, absolute), (0x0b, absolute), (0x3b, from_header)] {
        let image = with_frames(false, |header| {
            header[1] = encoding;
            header[4..8].copy_from_slice(&value.to_le_bytes());
        });
        let frames = image.section(".eh_frame").map(|section| (section.svma, section.size));
        assert_eq!(frames, Some((Svma(FRAMES), 0x48)), "{encoding:#x}");
    }
    for encoding in [0xff, 0x01, 0x20, 0x50] {
        let image = with_frames(false, |header| header[1] = encoding);
        assert_eq!(size_of(&image, ".eh_frame"), None, "{encoding:#x}");
    }
}

#[test]
fn the_exception_table_of_arm() {
    let mut elf = base(ElfBuilder::arm());
    elf.segments.push(Segment {
        p_type: elf_const::PT_ARM_EXIDX,
        ..Segment::load_rodata(HEADER, HEADER, 0x20)
    });
    assert_eq!(size_of(&open(elf.build()), ".ARM.exidx"), Some(0x20));
    // The number has another meaning for other machines.
    elf.e_machine = elf_const::EM_AARCH64;
    assert_eq!(size_of(&open(elf.build()), ".ARM.exidx"), None);
}

#[test]
fn build_ids_need_no_sections() {
    let note = gnu_build_id_note(Endian::Little, &[0xab; 20]);
    let mut elf = file(ElfBuilder::x86_64(), HashTables::Gnu);
    elf.segments.push(Segment {
        p_type: elf_const::PT_NOTE,
        align: 4,
        ..Segment::load_rodata(NOTE, NOTE, note.len() as u64)
    });
    elf.sections.push(Section::loaded(".note.gnu.build-id", NOTE, note));
    let id = open(elf.build()).build_id().map(|id| id.to_string());
    assert_eq!(id.as_deref(), Some(&*"ab".repeat(20)));
}

/// Packers write invalid section headers, which the loader ignores.
#[test]
fn section_headers_that_cannot_be_read() {
    let mut elf = file(ElfBuilder::x86_64(), HashTables::Gnu);
    elf.section_headers = true;
    let whole = elf.build();
    let cut = whole.len() - 8;
    // Offset, number, and index of the section of names.
    let places = [0x28..0x30, 0x3c..0x3e, 0x3e..0x40];
    for place in places {
        let mut damaged = whole.clone();
        damaged[place.clone()].fill(0xee);
        let image = open(damaged);
        assert!(image.has_lost_sections(), "{place:?}");
        assert_eq!(size_of(&image, ".dynsym"), Some(96), "{place:?}");
    }
    let image = open(whole[..cut].to_vec());
    assert!(image.has_lost_sections());
    // A file truncated within its segments is unusable.
    let cut = Image::from_vec(Path::new("cut"), whole[..0x2800].to_vec());
    assert!(matches!(cut, Err(ImageError::Damaged { .. })), "{cut:?}");
}

/// Sections lie inside the file regardless of the tables, and no table is read far beyond its end.
#[test]
fn hostile_tables() {
    for (name, elf) in machines() {
        for hash in [HashTables::Gnu, HashTables::SysV] {
            let whole = file(elf.clone(), hash).build();
            let end = 0x2100;
            for at in (TABLES as usize..end).step_by(4) {
                for value in [0, 1, 0x7fff_ffff, 0xffff_fffe, u32::MAX] {
                    let mut damaged = whole.clone();
                    damaged[at..at + 4].copy_from_slice(&value.to_ne_bytes());
                    let image = open(damaged);
                    for section in image.sections() {
                        let inside = section.end().is_some_and(|end| end <= whole.len() as u64);
                        assert!(inside, "{name} {at:#x} {value:#x} {section:?}");
                    }
                    // Symbols end before the names.
                    let symbols = image.section(".dynsym").map_or(0, |section| section.size);
                    let strings = image.section(".dynstr").map(|section| section.svma);
                    if strings == open(whole.clone()).section(".dynstr").map(|it| it.svma) {
                        assert!(symbols <= 0x1000, "{name} {at:#x} {value:#x}: {symbols}");
                    }
                }
            }
        }
    }
}

/// Slots of the linkage table lead to symbols, with and without section headers.
#[test]
fn linked_slots_without_section_headers() {
    let length = |name: &[u8]| name.len() as u64;
    for elf in [ElfBuilder::x86_64(), ElfBuilder::x86()] {
        let image = linked(elf, &[0x1036, 0x1046], &[]);
        let word = if image.bytes()[4] == 2 { 8 } else { 4 };
        let value = SlotValue::Symbol("imported".len() as u64);
        let expected = [(0x3e18, value), (0x3e18 + word, value)];
        assert_eq!(image.linked_slots(&length), expected);
        assert_eq!(image.exported_functions(&length), []);
        let by_first = |name: &[u8]| name.first().map_or(0, |&first| u64::from(first));
        let functions = [(u64::from(b'i'), Svma(0x1100)), (u64::from(b'o'), Svma(0x1140))];
        assert_eq!(image.exported_functions(&by_first), functions);
        assert!(image.exports_functions());
    }
}

/// The cost per relocation does not depend on the number of segments; the limit allows some hundreds.
#[test]
fn many_segments_and_many_relocations() {
    const SLOTS: u64 = 0x3e00;
    let mut elf = base(ElfBuilder::x86_64());
    let slot = |number: u64| (SLOTS + 8 * (number % 16), "imported".to_owned());
    elf.segments = vec![Segment::load_text(0x40_0000, 0x40_0000, 0x10); 200];
    elf.segments.push(Segment::load_rodata(TABLES, TABLES, 0x50_0000));
    let tables = DynamicTables {
        linkage: (0..150_000).map(slot).collect(),
        ..DynamicTables::x86_64(0x60_0000, symbols())
    };
    let (sections, dynamic) = tables.build();
    elf.segments.push(Segment::load_rodata(0x60_0000, 0x60_0000, 0x50_0000));
    elf.sections = sections;
    elf.segments.push(dynamic);
    let elf = elf.build();
    let start = std::time::Instant::now();
    let image = open(elf);
    assert_eq!(size_of(&image, ".rela.plt"), Some(150_000 * 24));
    assert_eq!(stubs(&image), []);
    // It takes some milliseconds.
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// A file with linkage tables; the slots contain addresses in their stubs.
fn linked(elf: ElfBuilder, slots: &[u64], code: &[u8]) -> Image {
    const GOT: u64 = 0x3e00;
    let mut elf = base(elf);
    let word = if elf.class == ElfClass::Elf64 { 8 } else { 4 };
    let places = (0..).map(|number| GOT + 24 + number * word as u64);
    let linkage = places.zip(slots).map(|(place, _)| (place, "imported".to_owned())).collect();
    let tables = DynamicTables {
        class: elf.class,
        e_machine: elf.e_machine,
        linkage,
        slots: Some(GOT),
        ..DynamicTables::x86_64(TABLES, symbols())
    };
    let (sections, dynamic) = tables.build();
    let mut got = ByteWriter::new(Endian::Little);
    got.zeros(24);
    slots.iter().for_each(|&slot| {
        got.uint(slot, word);
    });
    elf.sections[0].bytes[..code.len()].copy_from_slice(code);
    elf.sections.extend(sections);
    elf.sections.push(Section::loaded(".got.plt", GOT, got.into_bytes()));
    elf.segments.push(dynamic);
    open(elf.build())
}

fn stubs(image: &Image) -> Vec<(String, u64, u64)> {
    let mut found = shape(image);
    found.retain(|(name, ..)| name.starts_with(".plt"));
    found
}

#[test]
fn linkage_tables_are_found_by_the_words_of_their_slots() {
    let plt = |start: u64, size: u64| (".plt".to_owned(), start, size);
    for elf in [ElfBuilder::x86_64(), ElfBuilder::x86()] {
        let image = linked(elf.clone(), &[0x1036, 0x1046], &[]);
        assert_eq!(stubs(&image), [plt(0x1020, 0x30)]);
        assert_eq!(image.section(".got.plt").map(|section| section.svma), Some(Svma(0x3e00)));
        // With IBT, calls use a second table.
        let jump = [&[0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25][..], &[0; 9]].concat();
        let code = [&[0x90; 0x30][..], &jump, &jump].concat();
        let image = linked(elf.clone(), &[0x1010, 0x1020], &code);
        let second = (".plt.sec".to_owned(), 0x1030, 0x20);
        assert_eq!(stubs(&image), [plt(0x1000, 0x30), second]);
        // Words that do not point into stubs of one table.
        assert_eq!(stubs(&linked(elf.clone(), &[0x1036, 0x1e46], &[])), []);
        assert_eq!(stubs(&linked(elf, &[0, u64::MAX], &[])), []);
    }
    let long = [&[0; 32][..], &0xd503_245f_u32.to_le_bytes()].concat();
    let short = [&[0; 44][..], &0xd61f_0220_u32.to_le_bytes()].concat();
    for (code, size) in [(long, 32 + 3 * 24), (short, 32 + 3 * 16)] {
        let image = linked(ElfBuilder::aarch64(), &[0x1000; 3], &code);
        assert_eq!(stubs(&image), [plt(0x1000, size)]);
    }
}
