//! Text moved before the recording started: memory without a file between two parts of a file.

use address::{Avma, FileOffset, Pid};
use image_store::ImageStore;
use module_map::{FileIdentity, MapEvent, Timeline};
use synth::{ElfBuilder, Section, Segment};

use crate::support::machine;

/// A mapping: first address, length, file offset, whether it is executable, path.
type Map<'a> = (u64, u64, u64, bool, &'a str);

const APP: &str = "/app";
const BASE: u64 = 0x7000_0000;
/// Parts of `/app` before and after its text. As in the layout of lld, text and data each share
/// a page of the file with the previous segment.
const BEFORE: Map<'_> = (BASE, 0x1000, 0, false, APP);
const AFTER: Map<'_> = (BASE + 0x5000, 0x1000, 0x3000, false, APP);
const HOLE: Map<'_> = (BASE + 0x1000, 0x4000, 0, true, "//anon");

fn app() -> Vec<u8> {
    let data = Segment { flags: 6, ..Segment::load_rodata(0x3760, 0x5760, 0x100) };
    let elf = ElfBuilder {
        segments: vec![
            Segment::load_rodata(0, 0, 0x760),
            Segment::load_text(0x760, 0x1760, 0x3000),
            data,
        ],
        sections: vec![Section::text(0x1760, vec![0xc3; 0x3000])],
        ..ElfBuilder::x86_64()
    };
    elf.build()
}

/// Returns the path and file offset for an address, and the noted ranges.
fn found(maps: &[Map<'_>], address: u64) -> (String, u64, Vec<(u64, u64)>) {
    let (_, files) = machine(&[(APP, &app()), ("/other", &app())]);
    let store = ImageStore::new(files);
    let mut timeline = Timeline::new();
    for &(start, len, offset, executable, path) in maps {
        timeline.map(&MapEvent {
            pid: Pid(7),
            kernel: false,
            start: Avma(start),
            len,
            offset: FileOffset(offset),
            executable,
            writable: false,
            path: path.as_bytes(),
            identity: FileIdentity::default(),
        });
    }
    let space = timeline.space(Pid(7)).0;
    let mapping = store.mapping_of_frame(Avma(address), &space).expect("mapped");
    assert_eq!(store.mapping_at(Avma(address), &space), Some(mapping));
    // Repeated requests give one note per range.
    let _noted = store.mapping_of_frame(Avma(address), &space);
    let path = space.module(&mapping).expect("a module").path.to_vec();
    let noted = store.remapped_texts().into_iter().map(|it| (it.start.0, it.end.0)).collect();
    let path = String::from_utf8(path).expect("a path");
    (path, mapping.offset_of(Avma(address)).0, noted)
}

#[track_caller]
fn is_text(maps: &[Map<'_>], address: u64, offset: u64, range: (u64, u64)) {
    let range = (BASE + range.0, BASE + range.1);
    assert_eq!(found(maps, BASE + address), (APP.to_owned(), offset, vec![range]));
}

#[track_caller]
fn is_memory(maps: &[Map<'_>]) {
    let (path, _, noted) = found(maps, BASE + 0x2000);
    assert_eq!((path == APP || path == "/other", noted), (false, vec![]), "{maps:x?}");
}

/// The whole segment, with the page that occurs twice in the file.
#[test]
fn a_whole_segment() {
    let maps = [BEFORE, HOLE, AFTER];
    is_text(&maps, 0x1760, 0x760, (0x1000, 0x5000));
    is_text(&maps, 0x4fff, 0x3fff, (0x1000, 0x5000));
}

#[test]
fn memory_that_is_recorded_in_pieces_and_by_other_names() {
    for path in ["/anon_hugepage (deleted)", "/dev/hugepages/x", "/memfd:text (deleted)"] {
        let second = (BASE + 0x3000, 0x2000, 0, true, path);
        is_text(
            &[BEFORE, (HOLE.0, 0x2000, 0, true, "//anon"), second, AFTER],
            0x2000,
            0x1000,
            (0x1000, 0x5000),
        );
    }
    // A file of hugetlbfs that was deleted after it was mapped.
    is_text(
        &[BEFORE, (HOLE.0, 0x4000, 0, true, "/mnt/huge/a (deleted)"), AFTER],
        0x2000,
        0x1000,
        (0x1000, 0x5000),
    );
}

/// Whole huge pages are moved; both ends of the text stay.
#[test]
fn a_part_between_pieces_of_the_segment() {
    let middle = (BASE + 0x2000, 0x1000, 0, true, "//anon");
    let first = (BASE + 0x1000, 0x1000, 0, true, APP);
    let last = (BASE + 0x3000, 0x2000, 0x2000, true, APP);
    is_text(&[BEFORE, first, middle, last, AFTER], 0x2000, 0x1000, (0x2000, 0x3000));
    // From the start of the segment, and up to its end.
    let begin = (BASE + 0x1000, 0x2000, 0, true, "//anon");
    is_text(&[BEFORE, begin, last, AFTER], 0x2000, 0x1000, (0x1000, 0x3000));
    let end = (BASE + 0x2000, 0x3000, 0, true, "//anon");
    is_text(&[BEFORE, first, end, AFTER], 0x2000, 0x1000, (0x2000, 0x5000));
}

#[test]
fn memory_that_is_off_by_a_page() {
    let hole = |start, len| (BASE + start, len, 0, true, "//anon");
    is_memory(&[BEFORE, hole(0x1000, 0x3000), AFTER]);
    is_memory(&[BEFORE, hole(0x2000, 0x3000), AFTER]);
    is_memory(&[(BASE - 0x1000, 0x1000, 0, false, APP), hole(0, 0x5000), AFTER]);
    is_memory(&[BEFORE, hole(0x1000, 0x5000), (BASE + 0x6000, 0x1000, 0x3000, false, APP)]);
}

#[test]
fn pieces_that_do_not_belong_together() {
    // Two libraries, one of them with the same layout.
    is_memory(&[BEFORE, HOLE, (AFTER.0, 0x1000, 0x3000, false, "/other")]);
    is_memory(&[(BASE, 0x1000, 0, false, "/other"), HOLE, AFTER]);
    // Another bias, and another file offset.
    is_memory(&[(BASE - 0x1000, 0x1000, 0, false, APP), HOLE, AFTER]);
    is_memory(&[BEFORE, HOLE, (AFTER.0, 0x1000, 0x2000, false, APP)]);
    let last = |offset| (BASE + 0x3000, 0x2000, offset, true, APP);
    let middle = (BASE + 0x2000, 0x1000, 0, true, "//anon");
    let first = (BASE + 0x1000, 0x1000, 0, true, APP);
    is_memory(&[BEFORE, first, middle, last(0x1000), AFTER]);
    // Nothing before, nothing after, and a mapping between.
    is_memory(&[HOLE, AFTER]);
    is_memory(&[BEFORE, HOLE]);
    is_memory(&[BEFORE, (BASE + 0x1000, 0x1000, 0, false, "//anon"), middle, last(0x2000), AFTER]);
}

/// JIT code between two libraries, and memory with its own file.
#[test]
fn other_executable_memory() {
    is_memory(&[(BASE, 0x1000, 0x1000, true, APP), HOLE, (AFTER.0, 0x1000, 0, false, "/other")]);
    is_memory(&[BEFORE, (HOLE.0, 0x4000, 0, true, "/lib/x.so"), AFTER]);
    is_memory(&[BEFORE, (HOLE.0, 0x4000, 0, false, "//anon"), AFTER]);
}
