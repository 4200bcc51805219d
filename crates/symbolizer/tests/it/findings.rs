//! Tests that damaged and missing parts are reported, with file and position.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]

use std::path::{Path, PathBuf};

use address::Svma;
use image_store::Image;
use symbolizer::{
    SplitFinder, SymbolFindingKind as Kind, SymbolRequest, SymbolSource, SymbolizeOptions,
};

use crate::interned::{Interned, symbolize};

/// The file of all split units.
struct OneSplitFile(Image);

impl SplitFinder for OneSplitFile {
    fn find(&self, _id: u64, _directory: &[u8], _name: &[u8]) -> Option<&Image> {
        Some(&self.0)
    }
}

fn bytes(name: &str) -> Vec<u8> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    std::fs::read(folder.join(name)).expect("a test file")
}

fn image(name: &str) -> Image {
    Image::from_vec(Path::new(name), bytes(name)).expect("an ELF file")
}

/// Returns the file with other bytes in a section, `skip` bytes after its start.
fn patched(name: &str, section: &str, skip: usize, new: &[u8]) -> Image {
    let mut bytes = bytes(name);
    let place = image(name).section(section).expect("such a section").offset().0 as usize + skip;
    bytes[place..place + new.len()].copy_from_slice(new);
    Image::from_vec(Path::new(name), bytes).expect("an ELF file")
}

fn ask(source: SymbolSource<'_>, options: &SymbolizeOptions<'_>, address: u64) -> Interned {
    symbolize(&[SymbolRequest { source, addresses: &[Svma(address)] }], options)
}

/// Returns the names of the frames, and the findings as kind and sentence.
fn found(symbols: &Interned) -> (Vec<String>, Vec<(Kind, String)>) {
    let names = symbols.frames.iter().map(|it| symbols.text(it.function).unwrap_or_default());
    let findings = symbols.findings.iter().map(|finding| (finding.kind, finding.to_string()));
    (names.collect(), findings.collect())
}

#[test]
fn a_split_file_that_is_missing_or_of_another_build() {
    let lost = "split5: split5.dwo, the split debug information of a unit, was not found; inlined \
        functions are missing";
    let expected = (vec!["outer".to_owned()], vec![(Kind::SplitUnitMissing, lost.to_owned())]);
    let file = image("split5");
    let source = SymbolSource::of(&file);
    assert_eq!(found(&ask(source, &SymbolizeOptions::default(), 0x40_1003)), expected);
    // In DWARF 5 the id is at byte 12 of the unit.
    let other = OneSplitFile(patched("split5.dwo", ".debug_info.dwo", 12, &[0; 8]));
    let source = SymbolSource { split: Some(&other), ..source };
    assert_eq!(found(&ask(source, &SymbolizeOptions::default(), 0x40_1003)), expected);
    // Nothing is lost if nothing of it was requested.
    let names = SymbolizeOptions { inlines: false, ..SymbolizeOptions::default() };
    assert_eq!(found(&ask(source, &names, 0x40_1003)), (vec!["outer".to_owned()], vec![]));
}

/// A zero ends a list of entries; after the last one, a unit may only have padding.
#[test]
fn entries_after_the_end_of_their_unit() {
    let file = patched("gcc-dwarf5", ".debug_info", 0x60, &[0; 8]);
    let symbols = ask(SymbolSource::of(&file), &SymbolizeOptions::default(), 0x40_1032);
    let (names, findings) = found(&symbols);
    let kinds: Vec<_> = findings.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!((names.len(), kinds), (1, vec![Kind::Entries]));
}

/// A unit with a length that ends before its root is reported, and its entries are not read.
#[test]
fn a_unit_that_ends_within_its_header() {
    let file = patched("gcc-dwarf5", ".debug_info", 0, &[4, 0, 0, 0]);
    let symbols = ask(SymbolSource::of(&file), &SymbolizeOptions::default(), 0x40_1032);
    let lost = "gcc-dwarf5: the unit at 0xc of .debug_info is unreadable; inlined functions and lines of \
        later units are missing";
    let own = "gcc-dwarf5: the unit at 0x0 of .debug_info is unreadable; its inlined functions and lines \
        are missing";
    let expected = vec![(Kind::UnitHeader, lost.to_owned()), (Kind::UnitRoot, own.to_owned())];
    assert_eq!(found(&symbols), (vec!["outer".to_owned()], expected));
}

#[test]
fn a_supplementary_file_that_is_missing() {
    let file = image("dwz-a");
    let symbols = ask(SymbolSource::of(&file), &SymbolizeOptions::default(), 0x40_1038);
    let lost = "dwz-a: dwz-alt, its shared debug information, was not \
        found; inlined functions are missing";
    assert_eq!(found(&symbols).1, [(Kind::AltFileMissing, lost.to_owned())]);
    assert_eq!((&symbols.findings[0].places[..], symbols.findings[0].request), (&[0][..], 0));
}

#[test]
fn damage_in_each_section() {
    let cases = [
        (
            patched("gcc-zlib", ".debug_info", 0x40, &[0xff; 16]),
            Kind::Section,
            "gcc-zlib: the section at offset 0x12f0 is unreadable; names or lines are missing",
        ),
        (
            patched("gcc-dwarf5", ".debug_info", 0, &[0xf0, 0xff, 0xff, 0xf0]),
            Kind::UnitHeader,
            "gcc-dwarf5: the unit at 0x0 of .debug_info is unreadable; inlined functions and lines \
                of later units are missing",
        ),
        (
            patched("clang-dwarf5", ".debug_abbrev", second_abbreviation("clang-dwarf5"), &[0]),
            Kind::Entries,
            "clang-dwarf5: the entry at 0x2f of .debug_info is unreadable; inlined functions of its \
                unit are missing",
        ),
        (
            patched("gcc-dwarf5", ".debug_line", 0, &[0xf0, 0xff, 0xff, 0xf0]),
            Kind::LineProgram,
            "gcc-dwarf5: the line program at 0x0 of .debug_line is damaged; lines are \
                missing",
        ),
    ];
    for (file, kind, sentence) in cases {
        let symbols = ask(SymbolSource::of(&file), &SymbolizeOptions::default(), 0x40_1038);
        assert_eq!(found(&symbols).1, [(kind, sentence.to_owned())]);
    }
}

/// Returns the file with a section, or its second half, filled with a byte.
fn filled(name: &str, section: &str, from_half: bool, byte: u8) -> Image {
    let file = image(name);
    let len =
        file.section_data(file.section(section).expect("such a section")).expect("bytes").len();
    let skip = if from_half { len / 2 } else { 0 };
    patched(name, section, skip, &vec![byte; len - skip])
}

/// Overwritten sections, as by holes of a file, are reported, also those that entries and symbols only refer to.
#[test]
fn sections_that_were_overwritten() {
    let kinds = |section: &str, from_half: bool, byte: u8| {
        let file = filled("gcc-dwarf5", section, from_half, byte);
        let symbols = ask(SymbolSource::of(&file), &SymbolizeOptions::default(), 0x40_1038);
        symbols.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    for (section, from_half, byte, expected) in [
        (".debug_info", false, 0, &[Kind::Section][..]),
        (".debug_str", false, 0, &[Kind::Section, Kind::Reference]),
        (".debug_str", true, 0xff, &[Kind::Reference]),
        (".debug_line_str", false, 0, &[Kind::Section, Kind::Reference]),
        (".debug_line", true, 0, &[Kind::LineProgram]),
        (".symtab", false, 0, &[Kind::Section]),
        (".symtab", true, 0xff, &[Kind::Section]),
        (".strtab", false, 0, &[Kind::Section]),
        (".strtab", false, 0xff, &[Kind::Section]),
    ] {
        assert_eq!(kinds(section, from_half, byte), expected, "{section} {from_half} {byte:#x}");
    }
}

/// Returns the offset of the second abbreviation. The first ends with two zeros.
fn second_abbreviation(name: &str) -> usize {
    let file = image(name);
    let section = file.section(".debug_abbrev").expect("such a section");
    let data = file.section_data(section).expect("sound bytes");
    data.windows(2).position(|pair| pair == [0, 0]).expect("an end") + 2
}

#[test]
fn strings_of_symbols_outside_the_file() {
    const SHT_SYMTAB: u64 = 2;
    let mut bytes = bytes("gcc-dwarf5");
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // `e_shoff`, then headers of 64 bytes with `sh_type` at 4, `sh_size` at 32 and `sh_link` at 40.
    let first = word(&bytes, 0x28) as usize;
    let headers = (first..).step_by(64);
    let symbols = headers.clone().find(|&at| word(&bytes, at) >> 32 == SHT_SYMTAB).unwrap();
    let header = first + 64 * (word(&bytes, symbols + 40) & 0xffff_ffff) as usize;
    bytes[header + 32..header + 40].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    let file = Image::from_vec(Path::new("cut"), bytes).expect("an ELF file");
    let symbols = ask(SymbolSource::of(&file), &SymbolizeOptions::default(), 0x40_1038);
    let lost = "cut: the section at offset 0x1e80 is unreadable; names or lines are missing";
    // The debug information still has the names.
    let names = ["sink", "leaf", "middle", "outer"].map(str::to_owned).to_vec();
    assert_eq!(found(&symbols), (names, vec![(Kind::Section, lost.to_owned())]));
}
