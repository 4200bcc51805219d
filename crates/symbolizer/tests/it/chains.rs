//! Tests of exact inline chains of small programs by several compilers. `testdata/README.md` says how the files were
//! made.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use address::Svma;
use host::{Origin, RealHost};
use image_store::Image;
use symbolizer::{
    Demangle, SplitFinder, SymbolFindingKind, SymbolRequest, SymbolSource, SymbolizeOptions,
    WhyNoName,
};

use crate::interned::{Interned, symbolize};

/// The file of all split units.
struct OneSplitFile(Image);

impl SplitFinder for OneSplitFile {
    fn find(&self, id: u64, directory: &[u8], name: &[u8]) -> Option<&Image> {
        assert_ne!(id, 0);
        assert!(!directory.is_empty());
        name.ends_with(b".dwo").then_some(&self.0)
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn image(name: &str) -> Image {
    Image::open(&RealHost, &path(name), Origin::User).expect("a test file")
}

/// Formats the frames of an address as `function file:line`, joined by `<`, innermost first.
fn chain(symbols: &Interned, request: usize, index: usize) -> String {
    let found = &symbols.addresses[request][index];
    let frames = &symbols.frames[found.frames.start as usize..found.frames.end as usize];
    let name = |id| symbols.text(id).unwrap_or_else(|| "??".to_owned());
    let show = |frame: &profile::InlineRow| {
        let path = name(frame.file);
        let file = path.strip_prefix("/src/").unwrap_or(&path);
        format!("{} {file}:{}", name(frame.function), frame.line)
    };
    assert!(frames.iter().rev().skip(1).all(|frame| frame.inlined));
    assert!(frames.last().is_none_or(|frame| !frame.inlined));
    frames.iter().map(show).collect::<Vec<_>>().join(" < ")
}

fn check_source(
    source: SymbolSource<'_>,
    options: &SymbolizeOptions<'_>,
    expected: &[(u64, &str)],
) -> Interned {
    let addresses: Vec<Svma> = expected.iter().map(|&(address, _)| Svma(address)).collect();
    let symbols = symbolize(&[SymbolRequest { source, addresses: &addresses }], options);
    for (index, (address, expected)) in expected.iter().enumerate() {
        assert_eq!(
            chain(&symbols, 0, index),
            *expected,
            "{} {address:#x}",
            source.image.path().display()
        );
    }
    symbols
}

fn check(name: &str, expected: &[(u64, &str)]) {
    let symbols =
        check_source(SymbolSource::of(&image(name)), &SymbolizeOptions::default(), expected);
    assert_eq!(symbols.findings, []);
}

const GCC: [(u64, &str); 12] = [
    (0x40_1001, "fail chain.c:32"),
    (0x40_1002, ""),
    (0x40_1011, "raw ??:0"),
    (0x40_1013, "label ??:0"),
    (0x40_1020, "add.0 chain.c:23"),
    (0x40_1033, "outer chain.c:15"),
    (0x40_1035, "leaf chain.c:6 < middle chain.c:10 < outer chain.c:17"),
    (0x40_1038, "sink chain.c:31 < leaf chain.c:6 < middle chain.c:10 < outer chain.c:17"),
    (0x40_103d, "middle chain.c:11 < outer chain.c:17"),
    (0x40_1043, "fail chain.c:32 < outer chain.c:16"),
    (0x40_1045, "?? chain.c:32"),
    (
        0x40_10a5,
        "sink chain.c:31 < leaf chain.c:6 < middle chain.c:11 < outer chain.c:17 < _start chain.c:30",
    ),
];

#[test]
fn gcc_of_three_dwarf_versions_and_compressed() {
    for name in ["gcc-dwarf5", "gcc-dwarf4", "gcc-dwarf3", "gcc-zlib"] {
        check(name, &GCC);
    }
}

/// Formats the declarations of the functions of an address as `file:line`, innermost first.
fn declarations(name: &str, address: u64, options: &SymbolizeOptions<'_>) -> String {
    let (image, addresses) = (image(name), [Svma(address)]);
    let split = path(name).with_extension("dwo");
    let split = split
        .exists()
        .then(|| OneSplitFile(Image::open(&RealHost, &split, Origin::User).expect("a split file")));
    let mut source = SymbolSource::of(&image);
    source.split = split.as_ref().map(|split| split as &dyn SplitFinder);
    let symbols = symbolize(&[SymbolRequest { source, addresses: &addresses }], options);
    let show = |frame: &profile::InlineRow| {
        let path = symbols.text(frame.declared_file).unwrap_or_else(|| "??".to_owned());
        let file = path.rsplit('/').next().unwrap_or(&path);
        format!("{file}:{}", frame.declared_line)
    };
    symbols.frames.iter().map(show).collect::<Vec<_>>().join(" < ")
}

#[test]
fn functions_have_the_place_of_their_declaration() {
    let chain = "chain.c:31 < chain.c:5 < chain.c:9 < chain.c:14";
    for name in ["gcc-dwarf5", "gcc-dwarf4", "gcc-dwarf3", "gcc-zlib"] {
        assert_eq!(declarations(name, 0x40_1038, &SymbolizeOptions::default()), chain, "{name}");
    }
    let without_lines = SymbolizeOptions { lines: false, ..SymbolizeOptions::default() };
    assert_eq!(declarations("gcc-dwarf5", 0x40_1038, &without_lines), chain);
    let outermost = SymbolizeOptions { inlines: false, ..SymbolizeOptions::default() };
    assert_eq!(declarations("gcc-dwarf5", 0x40_1038, &outermost), "??:0");
    // Hand-written code has no declaration.
    assert_eq!(declarations("gcc-dwarf5", 0x40_1011, &SymbolizeOptions::default()), "??:0");
    for name in ["clang-dwarf5", "clang-dwarf4"] {
        let found = declarations(name, 0x40_1026, &SymbolizeOptions::default());
        assert_eq!(found, "chain.c:5 < chain.c:9 < chain.c:14", "{name}");
    }
}

#[test]
fn clang_of_two_dwarf_versions() {
    for name in ["clang-dwarf5", "clang-dwarf4"] {
        check(
            name,
            &[
                (0x40_1020, "outer chain.c:15"),
                (0x40_1026, "leaf chain.c:6 < middle chain.c:10 < outer chain.c:17"),
                (0x40_1030, "middle chain.c:11 < outer chain.c:17"),
                (0x40_1040, "fail chain.c:32 < outer chain.c:16"),
                (
                    0x40_1055,
                    "sink chain.c:0 < leaf chain.c:6 < middle chain.c:10 < outer chain.c:17 < _start chain.c:30",
                ),
            ],
        );
    }
}

#[test]
fn cpp_names_and_lambdas() {
    let lambda =
        "app::Box<int>::get(int) const::{lambda(int)#1}::operator()(int) const chain.cpp:10";
    let get = "app::Box<int>::get(int) const chain.cpp:11";
    let twice = "app::Box<int>::twice() const chain.cpp:6";
    check(
        "cpp-gcc",
        &[
            (0x40_1030, twice),
            (0x40_1042, &format!("app::sink chain.cpp:16 < {twice} < {get}")),
            (0x40_1049, &format!("{lambda} < {get}")),
        ],
    );
    check(
        "cpp-clang",
        &[(0x40_1040, &format!("{twice} < {get}")), (0x40_1049, &format!("{lambda} < {get}"))],
    );
    let short = SymbolizeOptions { demangle: Demangle::Short, ..SymbolizeOptions::default() };
    let file = image("cpp-clang");
    check_source(
        SymbolSource::of(&file),
        &short,
        &[(0x40_1040, "app::Box::twice chain.cpp:6 < app::Box::get chain.cpp:11")],
    );
}

#[test]
fn rust_closures_and_generics() {
    let spread = "<chain::Wide>::spread::<chain::outer::{closure#0}> chain.rs:20";
    check(
        "rust",
        &[
            (0x20_11ef, "chain::sink chain.rs:13"),
            (
                0x20_11f1,
                &format!(
                    "chain::outer::{{closure#0}} chain.rs:28 < {spread} < chain::outer chain.rs:26"
                ),
            ),
            (0x20_1208, &format!("{spread} < chain::outer chain.rs:26")),
            (0x20_120b, "chain::outer chain.rs:30"),
            (0x20_120d, ""),
            (0x20_1221, "_start chain.rs:35"),
        ],
    );
}

#[test]
fn fewer_things_where_less_is_asked() {
    let file = image("gcc-dwarf5");
    let source = SymbolSource::of(&file);
    let inlines = SymbolizeOptions { inlines: false, ..SymbolizeOptions::default() };
    check_source(
        source,
        &inlines,
        &[(0x40_1020, "add.0 chain.c:23"), (0x40_1038, "outer chain.c:31")],
    );
    let lines = SymbolizeOptions { lines: false, ..SymbolizeOptions::default() };
    check_source(
        source,
        &lines,
        &[(0x40_1038, "sink ??:0 < leaf ??:0 < middle ??:0 < outer ??:0")],
    );
    let names = SymbolizeOptions { inlines: false, lines: false, ..SymbolizeOptions::default() };
    check_source(source, &names, &[(0x40_1038, "outer ??:0")]);
}

#[test]
fn separate_and_supplementary_debug_files() {
    let (stripped, debug) = (image("gcc-stripped"), image("gcc-dwarf5.debug"));
    let source = SymbolSource { debug: Some(&debug), ..SymbolSource::of(&stripped) };
    check_source(source, &SymbolizeOptions::default(), &GCC);
    let (file, alt) = (image("dwz-a"), image("dwz-alt"));
    let source = SymbolSource { alt: Some(&alt), ..SymbolSource::of(&file) };
    check_source(source, &SymbolizeOptions::default(), &GCC);
    // Without any of them there are no names, for this reason.
    let bare = symbolize(
        &[SymbolRequest { source: SymbolSource::of(&stripped), addresses: &[Svma(0x40_1038)] }],
        &SymbolizeOptions::default(),
    );
    assert_eq!(bare.addresses[0][0].reason, Some(WhyNoName::NoSymbols));
    assert_eq!(
        (bare.addresses[0][0].frames.clone(), bare.addresses[0][0].function_start),
        (0..0, None)
    );
}

#[test]
fn split_units_and_packages() {
    let expected = [
        (0x40_1000, "leaf split.c:3 < outer split.c:5"),
        (0x40_1003, "leaf split.c:3 < outer split.c:6"),
        (0x40_1006, "outer split.c:6"),
    ];
    for (file, split) in [
        ("split4", "split4.dwo"),
        ("split4", "split4.dwp"),
        ("split5", "split5.dwo"),
        ("clang-split5", "clang-split5.dwp"),
    ] {
        let (file, split) = (image(file), image(split));
        let loader = OneSplitFile(split);
        let source = SymbolSource { split: Some(&loader), ..SymbolSource::of(&file) };
        assert_eq!(check_source(source, &SymbolizeOptions::default(), &expected).findings, []);
    }
    let file = image("split5");
    let alone = check_source(
        SymbolSource::of(&file),
        &SymbolizeOptions::default(),
        &[(0x40_1003, "outer split.c:3")],
    );
    assert_eq!(
        alone.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(),
        [SymbolFindingKind::SplitUnitMissing]
    );
}

#[test]
fn stubs_have_the_names_of_what_they_jump_to() {
    let header = ".plt ??:0";
    let (first, second, third) = ("first@plt ??:0", "second@plt ??:0", "third@plt ??:0");
    check(
        "stubs-ibt.so",
        &[
            (0x1000, header),
            (0x1014, second),
            (0x102e, first),
            (0x1030, third),
            (0x104f, second),
            (0x1050, first),
        ],
    );
    check("stubs-lazy.so", &[(0x100c, header), (0x1010, second), (0x1026, first), (0x1037, third)]);
    check(
        "stubs-aarch64.so",
        &[(0x1_0474, header), (0x1_0490, third), (0x1_04a4, first), (0x1_04bc, second)],
    );
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let files =
        ["gcc-dwarf5", "gcc-dwarf4", "cpp-gcc", "clang-dwarf5", "rust", "stubs-ibt.so"].map(image);
    let addresses: Vec<Svma> = (0x40_0f00..0x40_1200).map(Svma).collect();
    let requests: Vec<SymbolRequest<'_>> = files
        .iter()
        .map(|file| SymbolRequest { source: SymbolSource::of(file), addresses: &addresses })
        .collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| symbolize(&requests, &SymbolizeOptions::default()))
    };
    let one = run(1);
    assert_eq!(one.addresses.len(), files.len());
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

#[test]
fn damaged_files_never_panic() {
    for name in ["gcc-dwarf5", "gcc-dwarf4", "cpp-clang", "clang-dwarf5", "rust", "stubs-lazy.so"] {
        let bytes = std::fs::read(path(name)).unwrap();
        let addresses: Vec<Svma> = (0x40_1000..0x40_10d0).chain(0x1000..0x1040).map(Svma).collect();
        let mut addresses = addresses;
        addresses.sort_unstable();
        let mut state = 88_172_645_463_325_252_u64;
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..8 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let at = 64 + (state as usize >> 8) % (bytes.len() - 64);
                damaged[at] = [state as u8, 0, 0xff, 0x7f][(state >> 60) as usize % 4];
            }
            let Ok(file) = Image::from_vec(Path::new(name), damaged) else { continue };
            let symbols = symbolize(
                &[SymbolRequest { source: SymbolSource::of(&file), addresses: &addresses }],
                &SymbolizeOptions::default(),
            );
            assert_eq!(symbols.addresses[0].len(), addresses.len());
        }
    }
}

/// Functions without linkage names get the scopes of their entries: namespaces, classes and functions.
#[test]
fn scopes_without_linkage_names() {
    let image = image("scopes-gcc");
    let addresses: Vec<Svma> = (0x40_1000..0x40_1200).map(Svma).collect();
    let request = SymbolRequest { source: SymbolSource::of(&image), addresses: &addresses };
    let symbols = symbolize(&[request], &SymbolizeOptions::default());
    let names = symbols.frames.iter().filter_map(|frame| symbols.text(frame.function));
    let names: BTreeSet<String> = names.collect();
    let lambda = "{lambda(unsigned long)#1}::operator()(unsigned long) const";
    let area = "geo::Shape::area(unsigned long) const";
    let expected = [
        "_start",
        "geo::(anonymous namespace)::Hidden::weigh",
        area,
        &format!("{area}::Local::side(unsigned long)"),
        &format!("{area}::{lambda}"),
        &format!("{area}::{lambda}::{lambda}"),
        "geo::apply<run(Number)::<lambda(Number)> >",
        "run",
        "run::(lambda at line 34)::operator()",
    ];
    assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
}
