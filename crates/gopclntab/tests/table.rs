//! Tests of tables of all versions, and of damaged ones.

use budget::{Budget, Limit, Meter, Resource};
use gopclntab::{BadGoTable, GoFunction, GoFunctions, GoTable, GoValueKind};
use image_store::Image;
use proptest::prelude::{ProptestConfig, any, proptest};
use synth::{
    ElfBuilder, GoFunctionSpec, GoTableBuilder, GoTableBytes, Section, Segment, elf_const,
};

const TEXT: u64 = 0x1000;
const TABLE: u64 = 0x5000;
const TREES: u64 = 0x6000;
const DATA: u64 = 0x7000;

/// Builds two functions: `main.outer` with a frame of 24 bytes and the inlined `main.inner`, and `runtime.goexit`.
fn builder(magic: u32, stated_text: u64) -> GoTableBuilder {
    let outer = GoFunctionSpec {
        name: "main.outer".to_owned(),
        start: 0x10,
        frame_sizes: vec![(4, 0), (0x1b, 24), (1, 0)],
        file: "/src/main.go".to_owned(),
        lines: vec![(8, 7), (8, 3), (0x10, 8)],
        inlined: vec![(8, -1), (8, 0), (0x10, -1)],
        calls: vec![("main.inner".to_owned(), 4)],
        ..GoFunctionSpec::default()
    };
    let goexit = GoFunctionSpec {
        name: "runtime.goexit".to_owned(),
        start: 0x40,
        flags: 5,
        ..GoFunctionSpec::default()
    };
    let builder = GoTableBuilder::new(TEXT, 0x100).function(outer).function(goexit);
    GoTableBuilder { magic, stated_text, ..builder }
}

/// A program with the table in a section.
fn program(section: &str, made: GoTableBytes, further: Vec<Section>) -> Image {
    let mut code = vec![0x90; 0x1000];
    code[0x3f] = 0xcc;
    let mut sections = vec![
        Section::text(TEXT, code),
        Section::loaded(section, TABLE, made.table),
        Section::loaded(".rodata", TREES, made.trees),
        Section::loaded(".noptrdata", DATA, made.module),
    ];
    sections.extend(further);
    let data = Segment::load_rodata(TABLE, TABLE, 0x2000);
    let writable = Segment {
        flags: elf_const::PF_R | elf_const::PF_W,
        ..Segment::load_rodata(DATA, DATA, 0x1000)
    };
    let segments = vec![Segment::load_text(TEXT, TEXT, 0x1000), data, writable];
    let elf = ElfBuilder { segments, sections, ..ElfBuilder::x86_64() };
    Image::from_vec("program".as_ref(), elf.build()).expect("an ELF file")
}

/// Finds the table of a file, with a step limit in proportion to the file.
fn find(image: &Image) -> Option<Result<GoTable, BadGoTable>> {
    let meter = Meter::new(&Budget::default(), image.bytes().len());
    GoTable::find(image, &|| meter.steps(1).is_ok())
}

fn pieces(function: &GoFunction<'_>, kind: GoValueKind) -> Vec<(u64, i32)> {
    function.values(kind).map(|piece| (piece.end, piece.value)).collect()
}

fn check(functions: &GoFunctions<'_>, has_calls: bool) {
    assert!(functions.at(0x100f).is_none());
    let outer = functions.at(0x1020).expect("a function");
    assert_eq!((outer.start, outer.end), (0x1010, 0x1040));
    assert_eq!(outer.name(), Some(&b"main.outer"[..]));
    assert_eq!((outer.is_top_frame(), outer.writes_sp()), (false, false));
    assert_eq!(pieces(&outer, GoValueKind::FrameSize), [(4, 0), (0x1f, 24), (0x20, 0)]);
    assert_eq!(pieces(&outer, GoValueKind::Line), [(8, 7), (16, 3), (32, 8)]);
    assert_eq!(pieces(&outer, GoValueKind::InlinedCall), [(8, -1), (16, 0), (32, -1)]);
    assert_eq!(outer.file(0), Some(&b"/src/main.go"[..]));
    let call = outer.inlined_call(0).map(|call| (call.name, call.position));
    assert_eq!(call, has_calls.then_some((&b"main.inner"[..], 4)));
    let goexit = functions.at(0x1040).expect("a function");
    assert_eq!(goexit.name(), Some(&b"runtime.goexit"[..]));
    assert!(goexit.is_top_frame() && goexit.is_assembly() && !goexit.writes_sp());
    assert_eq!(pieces(&goexit, GoValueKind::FrameSize), []);
    assert!(functions.at(0x1100).is_none());
}

#[test]
fn all_versions_say_the_same() {
    for (magic, has_calls) in [(0xffff_fffa, false), (0xffff_fff0, true), (0xffff_fff1, true)] {
        let made = builder(magic, TEXT).build(TABLE, TREES);
        let image = program(".gopclntab", made, Vec::new());
        let table = find(&image).expect("a table").expect("a good one");
        check(&table.functions(&image), has_calls);
    }
}

#[test]
fn the_module_says_where_the_code_is() {
    let made = builder(0xffff_fff1, 0).build(TABLE, TREES);
    let image = program(".gopclntab", made.clone(), Vec::new());
    let table = find(&image).expect("a table").expect("a good one");
    check(&table.functions(&image), true);
    // Without it, functions have no addresses.
    let made = GoTableBytes { module: vec![0; 0x180], ..made };
    let image = program(".gopclntab", made, Vec::new());
    assert_eq!(find(&image).map(|found| found.is_ok()), Some(false));
}

#[test]
fn a_table_without_a_section_of_its_own() {
    let mut made = builder(0xffff_fff0, TEXT).build(TABLE + 0x40, TREES);
    made.table.splice(0..0, [1; 0x40]);
    let image = program(".data.rel.ro", made.clone(), Vec::new());
    assert!(find(&image).is_none(), "nothing says that it is a Go program");
    let mark = Section::loaded(".go.buildinfo", DATA + 0x800, vec![1; 16]);
    let image = program(".data.rel.ro", made, vec![mark]);
    let table = find(&image).expect("a table").expect("a good one");
    check(&table.functions(&image), true);
}

#[test]
fn what_fills_the_gap_before_a_function_is_of_that() {
    let made = builder(0xffff_fff1, TEXT).build(TABLE, TREES);
    let image = program(".gopclntab", made, Vec::new());
    let table = find(&image).expect("a table").expect("a good one");
    let functions = table.functions(&image);
    let meant = |svma: u64| {
        let (function, meant) = functions.returned_to(svma).expect("a function");
        (function.start, meant)
    };
    assert_eq!(meant(0x103e), (0x1010, 0x103e));
    // The code of the program is `nop`, except for the byte before 0x1040.
    assert_eq!(meant(0x103f), (0x1040, 0x1040));
    assert_eq!(meant(0x10ff), (0x1040, 0x10ff));
}

#[test]
fn what_is_too_old_is_no_table() {
    let mut made = builder(0xffff_fff0, TEXT).build(TABLE, TREES);
    made.table[0] = 0xfb;
    made.table[1..4].fill(0xff);
    assert!(find(&program(".gopclntab", made, Vec::new())).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_no_panic(at in any::<proptest::sample::Index>(), to in any::<[u8; 4]>(), magic in 0_usize..3) {
        let magic = [0xffff_fffa, 0xffff_fff0, 0xffff_fff1][magic];
        let mut made = builder(magic, TEXT).build(TABLE, TREES);
        let at = at.index(made.table.len() - 4);
        made.table[at..at + 4].copy_from_slice(&to);
        let image = program(".gopclntab", made, Vec::new());
        if let Some(Ok(table)) = find(&image) {
            let functions = table.functions(&image);
            for svma in (0x1000..0x1110).step_by(8) {
                let Some(function) = functions.at(svma) else { continue };
                let _ = (function.name(), function.file(0), function.inlined_call(0));
                for kind in [GoValueKind::FrameSize, GoValueKind::InlinedCall, GoValueKind::Line] {
                    assert!(function.values(kind).count() <= made_len());
                }
            }
        }
    }
}

/// More steps than any of these tables can have.
const fn made_len() -> usize {
    0x1000
}

/// A word is looked up in each segment, so the step limit must allow for the number of segments.
#[test]
fn looking_for_the_module_is_charged() {
    let made = builder(0xffff_fff1, 0).build(TABLE, TREES);
    let image = program(".gopclntab", made.clone(), Vec::new());
    let limit = |base| Limit { base, per_byte: 0, most: base };
    let found = |steps| {
        let budget = Budget::default().with(Resource::Steps, limit(steps));
        let meter = Meter::new(&budget, image.bytes().len());
        let found = GoTable::find(&image, &|| meter.steps(1).is_ok()).expect("a table");
        (found.map(drop), meter.used().0)
    };
    let (whole, steps) = found(1 << 20);
    assert_eq!((whole, steps), (Ok(()), 41));
    let offset = image.section(".gopclntab").expect("a section").offset().0;
    assert_eq!(found(8), (Err(BadGoTable { offset, is_out_of_steps: true }), 8));
}
