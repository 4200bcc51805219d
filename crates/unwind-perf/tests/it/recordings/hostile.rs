//! Names designed to control a terminal: no command writes any of their control characters.

use synth::{
    ElfBuilder, Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder,
    SampleId, Section, Segment, attr_flag, elf_const, sample_type,
};

use crate::support::mapped::{Map, Recording};
use crate::support::run::{empty_folder, run};

/// Sets the title of a terminal and its colour, ends a line, changes the direction of text.
const EVIL: &str = "/x\u{1b}]0;t\u{7}\u{1b}[31m\n\r\t\u{7f}\u{9b}31m\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}</title>&\"'";

/// Returns true if a terminal would show the character, or if it ends a line of the output itself.
fn is_shown(char: char) -> bool {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}'];
    matches!(char, '\n' | '\t')
        || !(char.is_control()
            || marks.contains(&char)
            || ('\u{2028}'..='\u{202e}').contains(&char)
            || ('\u{2066}'..='\u{2069}').contains(&char))
}

fn recording() -> Vec<u8> {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
    let flags = attr_flag::SAMPLE_ID_ALL;
    it.event(EVIL, EventAttr { sample_type, flags, ..EventAttr::default() }, &[1]);
    it.describe_events();
    it.feature(&Feature::Hostname(EVIL)).feature(&Feature::Arch("x86_64"));
    let comm = Record::Comm { pid: 7, tid: 7, comm: EVIL.as_bytes(), exec: false };
    it.record_at(&comm, SampleId::at(7, 7, 1));
    let map = Record::Mmap2 {
        pid: 7,
        tid: 7,
        addr: 0x40_0000,
        len: 0x1000,
        pgoff: 0,
        file: MmapFile::Inode { major: 1, minor: 1, inode: 1, generation: 1 },
        prot: 5,
        flags: 2,
        name: EVIL.as_bytes(),
    };
    it.record_at(&map, SampleId::at(7, 7, 2));
    it.sample(&SampleBuilder { misc: 2, ..SampleBuilder::at(0x40_0010, 7, 7, 3) });
    it.build()
}

/// Sections of linkage tables with the same addresses: an address belongs to one of them, and the others take no time.
#[test]
fn linkage_tables_that_overlap() {
    const SIZE: u64 = 0x8000;
    let folder = empty_folder("overlapping-linkage");
    let table = Section {
        flags: elf_const::SHF_ALLOC | elf_const::SHF_EXECINSTR,
        addr: 0x40_1000,
        stated_size: Some(SIZE),
        ..Section::new(".plt", elf_const::SHT_NOBITS, Vec::new())
    };
    let mut sections = vec![Section::text(0x40_1000, vec![0xc3; SIZE as usize])];
    sections.extend(vec![table; 9_000]);
    let segments = vec![Segment::load_text(0x1000, 0x40_1000, SIZE)];
    let program = ElfBuilder { segments, sections, ..ElfBuilder::x86_64() };
    std::fs::write(folder.join("program"), program.build()).expect("a file");
    let mut recording = Recording::new();
    recording.map(1, Map::code(0x40_1000, SIZE, 0x1000, "/program"));
    (0..4_000).for_each(|at| recording.sample(1, 0x40_1000 + 8 * at));
    recording.write(&folder);
    let limited = ["perf.data", "-f", "folded", "--sysroot", ".", "--max-memory", "256M", "-q"];
    let ran = run(&folder, &limited).expect_status(1);
    assert!(ran.text().contains(".plt"), "{}", ran.text());
}

/// The search for a mapping's bias does not visit all other mappings.
#[test]
fn maps_of_many_mappings() {
    const MAPPINGS: u64 = 20_000;
    let folder = empty_folder("many-mappings");
    let mut recording = Recording::new();
    for number in 0..MAPPINGS {
        recording.map(1, Map::code(0x40_0000 + number * 0x2000, 0x1000, 0, "/none"));
    }
    recording.write(&folder);
    let ran = run(&folder, &["maps", "--sysroot", ".", "perf.data"]).expect_status(0);
    let lines: Vec<&str> = ran.text().lines().collect();
    let line =
        |at: u64| format!("  {at:x}-{:x} r-xp 00000000 /none refused: file not found", at + 0x1000);
    assert_eq!((lines.len() as u64, lines[0]), (MAPPINGS + 1, "1 "));
    assert_eq!(lines[1], line(0x40_0000));
    assert_eq!(lines[MAPPINGS as usize], line(0x40_0000 + (MAPPINGS - 1) * 0x2000));
}

#[test]
fn nothing_acts_on_a_terminal() {
    let folder = empty_folder("hostile-names");
    std::fs::write(folder.join("perf.data"), recording()).expect("a file");
    let commands: [&[&str]; 17] = [
        &["info", "perf.data"],
        &["info", "--json", "perf.data"],
        &["maps", "perf.data"],
        &["maps", "--json", "perf.data"],
        &["buildid-list", "perf.data"],
        &["buildid-list", "--json", "perf.data"],
        &["dump", "perf.data"],
        &["dump", "--json", "perf.data"],
        &["-f", "folded", "perf.data"],
        &["-f", "perf-script", "perf.data"],
        &["-f", "json", "perf.data"],
        &["-f", "ndjson", "perf.data"],
        &["-f", "speedscope", "perf.data"],
        &["-f", "callgrind", "perf.data"],
        &["-f", "flamegraph", "perf.data"],
        &["-f", "page", "perf.data"],
        &["info", EVIL],
    ];
    for command in commands {
        let ran = run(&folder, command);
        for text in [ran.text(), &ran.stderr] {
            let acts: Vec<char> = text.chars().filter(|char| !is_shown(*char)).collect();
            assert_eq!(acts, [], "{command:?}: {text}");
        }
        let lines = ran.text().lines();
        assert_eq!(lines.filter(|line| line.starts_with("</title>")).count(), 0, "{command:?}");
    }
}
