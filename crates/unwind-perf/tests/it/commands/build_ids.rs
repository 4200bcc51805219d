//! `buildid-list`: ids of the recorded files, and of those that samples hit: each in the space of its process at that
//! time.

use synth::{BuildIdEntry, Feature, MmapFile, Record, SampleBuilder, SampleId};

use crate::support::mapped::{Map, RX, Recording, inode};
use crate::support::run::{empty_folder, run};

/// Returns an id with all bytes equal.
const fn id(byte: u8) -> [u8; 20] {
    [byte; 20]
}

fn map(recording: &mut Recording, pid: u32, start: u64, file: MmapFile<'_>, path: &str) {
    recording.map(pid, Map { start, len: 0x1000, offset: 0, prot: RX, file, path });
}

const KERNEL: u64 = 0xffff_ffff_8100_0000;
/// Markers in a callchain that state the kind of the next frames.
const KERNEL_MARK: u64 = -128_i64 as u64;
const USER_MARK: u64 = -512_i64 as u64;

fn recording() -> Recording {
    let mut recording = Recording::new();
    let entry = |pid, id, name| BuildIdEntry { misc: 2, pid, id, sized: true, name };
    recording.data.feature(&Feature::BuildId(&[
        entry(-1, &id(0x99), b"[kernel.kallsyms]"),
        entry(0, &id(0xcc), b"/listed"),
        entry(0, &id(0xdd), b"/listed-without-samples"),
    ]));
    let kernel = Record::Mmap {
        pid: u32::MAX,
        tid: 0,
        addr: KERNEL,
        len: 0x100_0000,
        pgoff: KERNEL,
        name: b"[kernel.kallsyms]_text",
    };
    let time = recording.next();
    recording.data.record_with(&kernel, 1, SampleId::at(u32::MAX, 0, time));

    // A mapping of /a is covered by /b, which is not hit before another process hits it.
    recording.map(
        1,
        Map {
            start: 0x10000,
            len: 0x3000,
            offset: 0,
            prot: RX,
            file: MmapFile::BuildId(&id(0xaa)),
            path: "/a",
        },
    );
    map(&mut recording, 1, 0x11000, MmapFile::BuildId(&id(0xbb)), "/b");
    map(&mut recording, 1, 0x20000, inode(3), "/listed");
    map(&mut recording, 1, 0x30000, MmapFile::BuildId(&id(0xee)), "/without-samples");
    map(&mut recording, 1, 0x40000, inode(4), "/without-id");
    recording.sample(1, 0x12fff);
    recording.sample(1, 0x13000);
    recording.sample(1, 0x40000);
    for (pid, misc) in [(2, 0), (3, 0x2000)] {
        let time = recording.next();
        let fork = Record::Fork { pid, ppid: 1, tid: pid, ptid: 1, time };
        recording.data.record_with(&fork, misc, SampleId::at(pid, pid, time));
    }
    // A process that was already running has none of the other's maps.
    recording.sample(3, 0x30000);
    recording.sample(2, 0x11000);
    // Neither has a program that was executed later.
    let time = recording.next();
    let exec = Record::Comm { pid: 2, tid: 2, comm: b"other", exec: true };
    recording.data.record_at(&exec, SampleId::at(2, 2, time));
    recording.sample(2, 0x30000);
    // A file in place of another, which a callchain shows.
    map(&mut recording, 1, 0x30000, MmapFile::BuildId(&id(0x11)), "/later");
    let time = recording.next();
    let chain = [KERNEL_MARK, KERNEL + 0x10, USER_MARK, 0x20000, 0x30000];
    recording.data.sample(&SampleBuilder::at(0x20000, 1, 1, time).with_callchain(&chain));
    recording
}

fn list(arguments: &[&str]) -> String {
    let folder = empty_folder(&format!("build-ids{}", arguments.concat()));
    recording().write(&folder);
    run(&folder, &[&["buildid-list", "perf.data"], arguments].concat())
        .expect_status(0)
        .text()
        .to_owned()
}

fn rows(expected: &[(u8, &str)]) -> String {
    let hex = |byte: u8| format!("{byte:02x}").repeat(20);
    expected.iter().map(|&(byte, name)| format!("{} {name}\n", hex(byte))).collect()
}

#[test]
fn ids_of_the_header_then_of_the_maps() {
    let expected = rows(&[
        (0x99, "[kernel.kallsyms]"),
        (0xcc, "/listed"),
        (0xdd, "/listed-without-samples"),
        (0xaa, "/a"),
        (0xbb, "/b"),
        (0xee, "/without-samples"),
        (0x11, "/later"),
    ]);
    assert_eq!(list(&[]), expected);
}

#[test]
fn ids_of_what_was_hit() {
    let expected = rows(&[
        (0xaa, "/a"),
        (0xbb, "/b"),
        (0xcc, "/listed"),
        (0x99, "[kernel.kallsyms]"),
        (0x11, "/later"),
    ]);
    assert_eq!(list(&["--with-hits"]), expected);
    let first = "{\"build_id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"name\":\"/a\"}";
    assert_eq!(list(&["--with-hits", "--json"]).lines().next(), Some(first));
}
