//! Tests of the extent of symbols without a size, as in assembly.

use std::path::Path;

use address::Svma;
use image_store::Image;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions};
use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, Segment, Symbol,
    eh_frame_hdr,
};

use crate::interned::symbolize;

const TEXT: u64 = 0x1000;
const FRAMES: u64 = 0x3000;
const HEADER: u64 = 0x3800;

/// Functions without a size, with or without a description, and described functions without a symbol.
///
/// ```text
///   1000 a      described up to 1020
///   1100        described, no symbol
///   1300 b
///   1380        described, no symbol
///   1400 c      in the range described from 13f0 up to 1440
///   1500 d      states a size of 16
///   1600 e      up to the end of the section, 2000
/// ```
fn elf(with_header: bool) -> Vec<u8> {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, FRAMES);
    let cie = cfi.cie(&Cie::x86_64());
    for (pc_begin, pc_range) in [(0x1000, 0x20), (0x1100, 0x100), (0x1380, 0x10), (0x13f0, 0x50)] {
        let instructions = CfiOps::new(Endian::Little).def_cfa_offset(16).into_bytes();
        cfi.fde(cie, &Fde { pc_begin, pc_range, lsda: 0, instructions });
    }
    let built = cfi.terminator().build();
    let header = eh_frame_hdr(Endian::Little, HEADER, FRAMES, &built.fdes);
    let mut sections = vec![
        Section::text(TEXT, vec![0x90; 0x1000]),
        Section::loaded(".eh_frame", FRAMES, built.bytes),
    ];
    if with_header {
        sections.push(Section::loaded(".eh_frame_hdr", HEADER, header));
    }
    let functions = [("a", 0x1000, 0), ("b", 0x1300, 0), ("c", 0x1400, 0), ("d", 0x1500, 16)];
    let functions = functions.into_iter().chain([("e", 0x1600, 0)]);
    let elf = ElfBuilder {
        segments: vec![
            Segment::load_text(TEXT, TEXT, 0x1000),
            Segment::load_rodata(FRAMES, FRAMES, 0x1000),
        ],
        sections,
        symbols: functions.map(|(name, at, size)| Symbol::function(name, at, size)).collect(),
        ..ElfBuilder::x86_64()
    };
    elf.build()
}

/// Returns the names of addresses; `-` if there is none.
fn names(elf: Vec<u8>, addresses: &[u64]) -> String {
    let image = Image::from_vec(Path::new("assembly"), elf).expect("an ELF file");
    let addresses: Vec<Svma> = addresses.iter().copied().map(Svma).collect();
    let source = SymbolSource::of(&image);
    let named =
        symbolize(&[SymbolRequest { source, addresses: &addresses }], &SymbolizeOptions::default());
    let name = |resolved: &symbolizer::ResolvedAddress| {
        let row = named.frames.get(resolved.frames.start as usize..resolved.frames.end as usize);
        let function = row.and_then(<[_]>::last).and_then(|row| named.text(row.function));
        function.unwrap_or_else(|| "-".to_owned())
    };
    named.addresses[0].iter().map(name).collect()
}

#[test]
fn they_end_where_another_function_is_described() {
    let inside = [0x1000, 0x101f, 0x1300, 0x137f, 0x1400, 0x143f, 0x150f, 0x1600, 0x1fff];
    let outside = [0x1020, 0x10ff, 0x1100, 0x1250, 0x1380, 0x13a0, 0x1440, 0x1510];
    assert_eq!(names(elf(true), &inside), "aabbccdee");
    assert_eq!(names(elf(true), &outside), "--------");
    // Without the table, only the next symbol and the section bound them.
    assert_eq!(names(elf(false), &outside), "aaaabbc-");
}

#[test]
fn damaged_descriptions_do_no_harm() {
    let elf = elf(true);
    for at in FRAMES as usize..HEADER as usize + 48 {
        for value in [0, 0x7f, 0xff] {
            let mut damaged = elf.clone();
            let Some(byte) = damaged.get_mut(at) else { continue };
            *byte = value;
            let names = names(damaged, &[0x1000, 0x1400, 0x1508]);
            assert!(names.starts_with('a') && names.ends_with('d'), "{at:#x} {value:#x}: {names}");
        }
    }
}
