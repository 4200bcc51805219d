//! Tests of names, inlined calls and lines from the table of Go's linker.

use std::path::Path;

use address::Svma;
use image_store::Image;
use profile::Strings;
use symbolizer::{
    SymbolFindingKind, SymbolRequest, SymbolSource, SymbolizeOptions, Symbols, symbolize,
};
use synth::{ElfBuilder, GoFunctionSpec, GoTableBuilder, Section, Segment, Symbol, elf_const};

/// Builds `main.outer`, with `main.inner` inlined in its second half.
fn elf(magic: u32) -> ElfBuilder {
    let outer = GoFunctionSpec {
        name: "main.outer".to_owned(),
        start: 0x10,
        file: "/src/main.go".to_owned(),
        lines: vec![(8, 7), (8, 3)],
        inlined: vec![(8, -1), (8, 0)],
        calls: vec![("main.inner".to_owned(), 4)],
        ..GoFunctionSpec::default()
    };
    let made = GoTableBuilder::new(0x1000, 0x100).function(outer);
    let made = GoTableBuilder { magic, ..made }.build(0x5000, 0x6000);
    let writable = Segment {
        flags: elf_const::PF_R | elf_const::PF_W,
        ..Segment::load_rodata(0x7000, 0x7000, 0x1000)
    };
    ElfBuilder {
        segments: vec![
            Segment::load_text(0x1000, 0x1000, 0x1000),
            Segment::load_rodata(0x5000, 0x5000, 0x2000),
            writable,
        ],
        sections: vec![
            Section::text(0x1000, vec![0x90; 0x1000]),
            Section::loaded(".gopclntab", 0x5000, made.table),
            Section::loaded(".rodata", 0x6000, made.trees),
            Section::loaded(".noptrdata", 0x7000, made.module),
        ],
        ..ElfBuilder::x86_64()
    }
}

fn names(elf: &ElfBuilder, options: &SymbolizeOptions<'_>) -> (Vec<String>, Symbols) {
    let image = Image::from_vec(Path::new("program"), elf.build()).expect("an ELF file");
    let addresses = [Svma(0x1000), Svma(0x1014), Svma(0x1019)];
    let request = SymbolRequest { source: SymbolSource::of(&image), addresses: &addresses };
    let mut strings = Strings::default();
    let symbols = symbolize(&[request], options, &mut strings);
    let text = |id| String::from_utf8_lossy(strings.get(id)).into_owned();
    let frame = |frame: &profile::InlineRow| {
        let name = frame.function.map_or_else(|| "?".to_owned(), text);
        let file = frame.file.map(text).unwrap_or_default();
        format!("{name} {file}:{}{}", frame.line, if frame.inlined { " inlined" } else { "" })
    };
    let shown = symbols.addresses[0].iter().map(|address| {
        let frames = &symbols.frames[address.frames.start as usize..address.frames.end as usize];
        frames.iter().map(frame).collect::<Vec<_>>().join(", ")
    });
    (shown.collect(), symbols)
}

const OUTER: &str = "main.outer /src/main.go:7";

#[test]
fn a_stripped_program_has_names_and_lines() {
    for magic in [0xffff_fff0, 0xffff_fff1] {
        let (shown, symbols) = names(&elf(magic), &SymbolizeOptions::default());
        let inner = format!("main.inner /src/main.go:3 inlined, {OUTER}");
        assert_eq!(shown, [String::new(), OUTER.to_owned(), inner]);
        assert_eq!(symbols.addresses[0][1].function_start, Some(Svma(0x1010)));
        assert_eq!(symbols.findings, []);
    }
    let options = SymbolizeOptions { inlines: false, lines: false, ..SymbolizeOptions::default() };
    let (shown, _) = names(&elf(0xffff_fff1), &options);
    assert_eq!(shown, ["", "main.outer :0", "main.outer :0"]);
}

#[test]
fn symbols_name_what_they_cover() {
    let symbols = vec![Symbol::function("main.outer.abi0", 0x1010, 8)];
    let elf = ElfBuilder { symbols, ..elf(0xffff_fff1) };
    let (shown, _) = names(&elf, &SymbolizeOptions::default());
    assert_eq!(shown[1], "main.outer.abi0 /src/main.go:7");
    assert!(shown[2].ends_with(OUTER));
}

#[test]
fn a_damaged_table_is_found() {
    let mut elf = elf(0xffff_fff1);
    let table = Section::loaded(".gopclntab", 0x5000, vec![0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8]);
    elf.sections[1] = table;
    let (shown, symbols) = names(&elf, &SymbolizeOptions::default());
    assert_eq!(shown, ["", "", ""]);
    let kinds: Vec<_> = symbols.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [SymbolFindingKind::Section]);
}
