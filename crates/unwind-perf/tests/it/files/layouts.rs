//! Every layout of linkers, mapped in every way of loaders: the address in the file, and so the name, is correct. The
//! files are real ones; each has a function `known`.

use std::fs;

use serde_json::{Value, json};
use synth::{ElfBuilder, Section, Symbol, stored_zip};

use crate::support::cases::sysroot;
use crate::support::mapped::{Map, Recording, innermost, layout_files, samples};
use crate::support::run::{empty_folder, run};

/// Kind, offset, stated address, size in the file.
type Segment = (char, u64, u64, u64);

/// A file, the stated address of `known`, and its segments, executable (`x`) or not (`r`, `w`): offset and stated
/// address of their first bytes, size in the file. From `readelf -l` and `nm`.
const FILES: &[(&str, u64, &[Segment])] = &[
    ("bfd-nopie", 0x40_1000, &[('r', 0, 0x40_0000, 0x1b4), ('x', 0x1000, 0x40_1000, 0x1a)]),
    ("bfd-noseparate", 0x298, &[('x', 0, 0, 0x2c8), ('w', 0xf00, 0x1f00, 0x108)]),
    (
        "bfd-separate",
        0x1000,
        &[
            ('r', 0, 0, 0x308),
            ('x', 0x1000, 0x1000, 0x1d),
            ('r', 0x2000, 0x2000, 0x10),
            ('w', 0x2f00, 0x3f00, 0x108),
        ],
    ),
    ("bfd-static", 0x40_1000, &[('r', 0, 0x40_0000, 0x1b4), ('x', 0x1000, 0x40_1000, 0x1d)]),
    (
        "bfd-static-pie",
        0x1000,
        &[('r', 0, 0, 0x280), ('x', 0x1000, 0x1000, 0x1d), ('w', 0x2f00, 0x3f00, 0x108)],
    ),
    ("gold-pie", 0x298, &[('x', 0, 0, 0x2c1), ('w', 0xef0, 0x1ef0, 0x118)]),
    (
        "lld-nopie",
        0x20_1220,
        &[('r', 0, 0x20_0000, 0x211), ('x', 0x220, 0x20_1220, 0x2a), ('w', 0x250, 0x20_2250, 8)],
    ),
    (
        "lld-norosegment",
        0x2f0,
        &[('x', 0, 0, 0x31a), ('w', 0x320, 0x1320, 0xd0), ('w', 0x3f0, 0x23f0, 8)],
    ),
    (
        "lld-pie",
        0x1320,
        &[
            ('r', 0, 0, 0x319),
            ('x', 0x320, 0x1320, 0x2a),
            ('w', 0x350, 0x2350, 0xd0),
            ('w', 0x420, 0x3420, 8),
        ],
    ),
    (
        "mold-pie",
        0x1370,
        &[('r', 0, 0, 0x365), ('x', 0x370, 0x1370, 0x2a), ('w', 0x3a0, 0x23a0, 0x128)],
    ),
    (
        "prelinked",
        0x30_0000_1020,
        &[
            ('r', 0, 0x30_0000_0000, 0x358),
            ('x', 0x1000, 0x30_0000_1000, 0x57),
            ('w', 0x2eb8, 0x30_0000_3eb8, 0x158),
        ],
    ),
];

const PAGE: u64 = 0x1000;
const LIBC: &str = "/usr/lib/x86_64-linux-gnu/libc.so.6";

/// Way of mapping a file's segments.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Segment by segment, as the kernel maps a program.
    Segments,
    /// Only code is recorded, as without `perf record -d`.
    CodeOnly,
    /// As `ld.so` maps a library: all of it with the rights of the first segment, then the others over it. If the first
    /// segment is executable, its record is longer than the code.
    WholeFirst,
    /// After a second mapping of the same file at another address.
    Twice,
    /// Among records of maps without length, and of one beyond the end of the address space.
    AmongDamage,
    /// The first page of the data mapped again, read-only: RELRO.
    Relro,
    /// Stored in a package, page-aligned.
    Zip(u64),
}

fn map_file(recording: &mut Recording, pid: u32, load: u64, file: usize, way: Way) {
    let (name, _, segments) = FILES[file];
    let base = if let Way::Zip(at) = way { at } else { 0 };
    let path = format!("/{name}{}", if base == 0 { "" } else { ".apk" });
    let down = |value: u64| value & !(PAGE - 1);
    let up = |value: u64| down(value + PAGE - 1);
    let mapping = |&(kind, offset, address, size): &Segment| {
        let start = load + down(address);
        let prot = match kind {
            'x' => 5,
            'r' => 1,
            _ => 3,
        };
        let len = up(load + address + size) - start;
        Map { prot, ..Map::code(start, len, base + down(offset), &path) }
    };
    if matches!(way, Way::WholeFirst) {
        let last = segments.last().expect("segments");
        let first = mapping(&segments[0]);
        recording.map(pid, Map { len: up(load + last.2 + last.3) - first.start, ..first });
    }
    if matches!(way, Way::AmongDamage) {
        recording.map(pid, Map::code(0x1000, 0, 0, &path));
        recording.map(pid, Map::code(u64::MAX - 0xfff, 0x8000, 0, "/other"));
    }
    if matches!(way, Way::Twice) {
        map_file(recording, pid, load + 0x1000_0000, file, Way::Segments);
    }
    for segment in segments {
        if segment.0 == 'x' || !matches!(way, Way::CodeOnly) {
            recording.map(pid, mapping(segment));
        }
        if segment.0 == 'w' && matches!(way, Way::Relro) {
            recording.map(pid, Map { len: PAGE, prot: 1, ..mapping(segment) });
        }
    }
    if matches!(way, Way::AmongDamage) {
        recording.map(pid, Map::code(mapping(&segments[0]).start, 0, 0, "/other"));
    }
}

#[test]
fn every_layout_mapped_in_every_way() {
    let folder = empty_folder("layouts");
    let mut recording = Recording::new();
    let mut expected = Vec::new();
    for (file, (name, known, _)) in FILES.iter().enumerate() {
        let elf = fs::read(layout_files().join(name)).expect("a file");
        let (archive, at) = stored_zip(b"lib/x86_64/lib.so", &elf);
        fs::write(folder.join(name), elf).expect("written");
        fs::write(folder.join(format!("{name}.apk")), archive).expect("written");
        let ways = [
            Way::Segments,
            Way::CodeOnly,
            Way::WholeFirst,
            Way::Twice,
            Way::AmongDamage,
            Way::Relro,
            Way::Zip(at),
        ];
        for way in ways {
            let moves = *known < 0x20_0000 || *name == "prelinked";
            let load = if moves { 0x5555_5555_0000 } else { 0 };
            let pid = 100 + expected.len() as u32;
            map_file(&mut recording, pid, load, file, way);
            recording.sample(pid, load + known + 1);
            expected.push((
                format!("{name} {way:?}"),
                Some("known".to_owned()),
                format!("{:#x}", known + 1),
            ));
            if matches!(way, Way::Twice) {
                recording.sample(pid, load + 0x1000_0000 + known + 1);
                expected.push(expected.last().expect("the other").clone());
            }
        }
    }
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    let found: Vec<_> = lines.iter().map(innermost).collect();
    assert_eq!(found.len(), expected.len());
    for ((what, function, svma), found) in expected.iter().zip(found) {
        assert_eq!(found, (function.as_deref(), Some(svma.as_str())), "{what}");
    }
}

/// Functions of the C library: name, stated address.
const GETENV: (&str, u64) = ("getenv", 0x3f0b0);
const QSORT_R: (&str, u64) = ("qsort_r", 0x3fc80);
const STRTOUMAX: (&str, u64) = ("strtoumax", 0x4bab0);

fn functions(recording: &Recording, name: &str) -> Vec<Value> {
    let folder = empty_folder(name);
    recording.write(&folder);
    let root = sysroot();
    samples(&folder, &["--sysroot", root.to_str().expect("UTF-8")])
}

#[test]
fn a_library_mapped_by_its_middle_and_split() {
    let mut recording = Recording::new();
    let load = 0x7f00_0000_0000;
    // Its pages with `qsort_r` alone, and in another process with changed protections inside the text: three mappings.
    recording.map(1, Map::code(0x1234_5000, 0x1000, 0x3f000, LIBC));
    recording.sample(1, 0x1234_5000 + QSORT_R.1 - 0x3f000);
    recording.map(2, Map::code(load + 0x26000, 0x15_6000, 0x26000, LIBC));
    recording.map(2, Map { prot: 7, ..Map::code(load + 0x3f000, 0x1000, 0x3f000, LIBC) });
    recording.map(2, Map::code(load + 0x40000, 0xc000, 0x40000, LIBC));
    for (_, address) in [GETENV, QSORT_R, STRTOUMAX] {
        recording.sample(2, load + address);
    }
    let lines = functions(&recording, "middle");
    let found: Vec<_> = lines.iter().map(innermost).collect();
    let expected = [QSORT_R, GETENV, QSORT_R, STRTOUMAX];
    let expected: Vec<_> =
        expected.iter().map(|(name, svma)| (*name, format!("{svma:#x}"))).collect();
    let expected: Vec<_> =
        expected.iter().map(|(name, svma)| (Some(*name), Some(svma.as_str()))).collect();
    assert_eq!(found, expected);
}

/// The loader maps the data over the end of the first map; there is not the code that the first record states.
#[test]
fn code_is_not_looked_for_where_another_mapping_lies() {
    let mut recording = Recording::new();
    let load = 0x7f00_0000_0000;
    recording.map(1, Map::code(load, 0x1d5000, 0, LIBC));
    recording.map(1, Map { prot: 3, ..Map::code(load + 0x1cf000, 0x6000, 0x1cf000, LIBC) });
    recording.sample(1, load + GETENV.1);
    recording.sample(1, load + 0x1d0000);
    let lines = functions(&recording, "too-long");
    assert_eq!(innermost(&lines[0]).0, Some("getenv"));
    assert_eq!(innermost(&lines[1]), (None, Some("0x1d0000")));
}

/// The offsets of a mapping are those of the archive. The offset of a page in it may also lie in the library's code,
/// but mean another page.
#[test]
fn a_page_of_a_large_library_in_an_archive() {
    let folder = empty_folder("archive-page");
    let library = ElfBuilder {
        segments: vec![synth::Segment::load_text(0, 0, 0x8000)],
        sections: vec![Section::text(0x1000, vec![0x90; 0x7000])],
        symbols: (1..8)
            .map(|page| Symbol::function(&format!("page_{page}"), page * PAGE, PAGE))
            .collect(),
        ..ElfBuilder::x86_64()
    };
    let (archive, at) = stored_zip(b"lib/x86_64/lib.so", &library.build());
    assert_eq!(at, PAGE);
    fs::write(folder.join("base.apk"), archive).expect("written");
    let mut recording = Recording::new();
    let load = 0x5555_5555_0000;
    recording.map(1, Map::code(load, 2 * PAGE, at + 3 * PAGE, "/base.apk"));
    recording.sample(1, load + PAGE + 0x10);
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    assert_eq!(innermost(&lines[0]), (Some("page_4"), Some("0x4010")));
}

/// A mapping of an opened file can contain bytes outside of all segments: their offset in the file is not a stated
/// address. `known` of this file is stated at 0x1320; the bytes at that offset are something else.
#[test]
fn bytes_outside_every_segment_have_no_name() {
    let folder = empty_folder("outside");
    fs::copy(layout_files().join("lld-pie"), folder.join("lld-pie")).expect("copied");
    let load = 0x5555_5555_0000;
    let mut recording = Recording::new();
    recording.map(1, Map::code(load, PAGE, 0x1000, "/lld-pie"));
    recording.sample(1, load + 0x325);
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    let frame = json!({
        "addr": "0x555555550325", "inlined": false, "found_by": "sampled", "kernel": false,
    });
    assert_eq!(lines[0]["frames"], json!([frame]));
    assert_eq!(lines[0]["end"], "no-unwind-info");
    let ran = run(&folder, &["perf.data", "-f", "folded", "--sysroot", "."]).expect_status(0);
    let line = "\nNo module: the code is outside all segments of its file (100.0 % of stacks and frames). ";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
}
