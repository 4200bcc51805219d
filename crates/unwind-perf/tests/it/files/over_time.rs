//! One address, one path, several files: each sample gets the file of its time.

use std::fs;

use synth::{BuildIdEntry, Feature, MmapFile, Record, SampleId};

use crate::support::mapped::{
    Map, RX, Recording, findings, innermost, inode, layout_files, samples,
};
use crate::support::run::{empty_folder, run};

/// Two builds of one program: their build-ids, and the offset of `known` in each.
const OLD: (&str, [u8; 20], u64) = (
    "lld-pie",
    *b"\xa6\x0d\xca\xfe\xca\xf8\x11\x31\xfd\x92\x99\x86\x85\x85\x1d\x2a\x98\xfb\xc2\xc9",
    0x1320,
);
const NEW: (&str, [u8; 20], u64) = (
    "bfd-separate",
    *b"\x7d\xd9\xb7\xb8\x74\x31\x2d\xbb\xb3\xfc\x99\xdd\xdb\xcb\xe2\xb2\xef\xc8\xc4\xf3",
    0x1000,
);
const LOAD: u64 = 0x5555_5555_0000;

fn text<'a>(offset: u64, file: MmapFile<'a>, path: &'a str) -> Map<'a> {
    Map { file, ..Map::code(LOAD + 0x1000, 0x1000, offset, path) }
}

/// The program was rebuilt between two runs. The old build is in the build-id cache, the new one at the path.
#[test]
fn a_path_with_two_builds_is_served_by_both() {
    let folder = empty_folder("two-builds");
    let entry = folder.join("cache/.build-id/a6/0dcafecaf81131fd92998685851d2a98fbc2c9");
    fs::create_dir_all(&entry).expect("a cache");
    fs::copy(layout_files().join(OLD.0), entry.join("elf")).expect("the old build");
    fs::copy(layout_files().join(NEW.0), folder.join("app")).expect("the new build");
    let mut recording = Recording::new();
    for (pid, build) in [(1, &OLD), (2, &NEW), (3, &OLD)] {
        let offset = if build.0 == "lld-pie" { 0 } else { 0x1000 };
        recording.map(pid, text(offset, MmapFile::BuildId(&build.1), "/app"));
        recording.sample(pid, LOAD + build.2);
    }
    recording.write(&folder);
    let arguments = ["--sysroot", ".", "--buildid-dir", "cache"];
    let lines = samples(&folder, &arguments);
    let found: Vec<_> = lines.iter().map(innermost).collect();
    let known = |svma| (Some("known"), Some(svma));
    assert_eq!(found, [known("0x1320"), known("0x1000"), known("0x1320")]);
    let ids: Vec<_> = lines.iter().map(|line| line["frames"][0]["build_id"].clone()).collect();
    assert_eq!(
        ids,
        [
            "a60dcafecaf81131fd92998685851d2a98fbc2c9",
            "7dd9b7b874312dbbb3fc99dddbcbe2b2efc8c4f3",
            "a60dcafecaf81131fd92998685851d2a98fbc2c9"
        ]
    );
    assert_eq!(findings(&folder, &arguments), []);
    // Without the cache the old build is refused and the new one used.
    let lines = samples(&folder, &["--sysroot", "."]);
    let found: Vec<_> = lines.iter().map(innermost).collect();
    assert_eq!(found, [(None, None), known("0x1000"), (None, None)]);
    assert_eq!(findings(&folder, &["--sysroot", "."]), [("build-id-mismatch".to_owned(), 1)]);
}

/// Records with inodes, and one build-id in the header, which the recorder read from the path at the end.
#[test]
fn without_ids_in_the_records_a_replaced_file_lends_no_names() {
    let folder = empty_folder("replaced");
    fs::copy(layout_files().join(NEW.0), folder.join("app")).expect("the new build");
    let mut recording = Recording::new();
    recording.data.feature(&Feature::BuildId(&[BuildIdEntry {
        misc: 2,
        pid: 1,
        id: &NEW.1,
        sized: true,
        name: b"/app",
    }]));
    for (pid, number) in [(1, 10), (2, 11), (3, 11)] {
        recording.map(pid, text(0x1000, inode(number), "/app"));
        recording.sample(pid, LOAD + NEW.2);
    }
    recording.map(4, text(0x1000, inode(11), "/app"));
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    let found: Vec<_> = lines.iter().map(|line| innermost(line).0).collect();
    assert_eq!(found, [None, Some("known"), Some("known")]);
    let expected = [("file-replaced".to_owned(), 1), ("unverified-file".to_owned(), 1)];
    assert_eq!(findings(&folder, &["--sysroot", "."]), expected);
}

/// `dlclose`, then another library at the same address; there is no record of the first.
#[test]
fn a_library_in_the_place_of_another() {
    let folder = empty_folder("dlclose");
    for (name, ..) in [OLD, NEW] {
        fs::copy(layout_files().join(name), folder.join(name)).expect("a library");
    }
    let mut recording = Recording::new();
    recording.map(1, text(0, inode(1), "/lld-pie"));
    recording.sample(1, LOAD + OLD.2);
    recording.map(1, text(0x1000, inode(2), "/bfd-separate"));
    recording.sample(1, LOAD + NEW.2);
    recording.sample(1, LOAD + OLD.2);
    recording.map(1, text(0, inode(1), "/lld-pie"));
    recording.sample(1, LOAD + OLD.2);
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    let found: Vec<_> = lines.iter().map(innermost).collect();
    let known = |svma| (Some("known"), Some(svma));
    let nothing = (None, Some("0x1320"));
    assert_eq!(found, [known("0x1320"), known("0x1000"), nothing, known("0x1320")]);
}

/// The record of a map comes after the sample: clocks of processors differ.
#[test]
fn a_late_map_is_told() {
    let folder = empty_folder("late-map");
    fs::copy(layout_files().join(OLD.0), folder.join("app")).expect("the program");
    let mut recording = Recording::new();
    recording.sample(1, LOAD + OLD.2);
    let time = recording.next() + 9_000_000;
    recording.map_at(1, text(0, inode(1), "/app"), time);
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    assert_eq!(innermost(&lines[0]), (Some("known"), Some("0x1320")));
    let reported = findings(&folder, &["--sysroot", "."]);
    assert_eq!(reported, [("unverified-file".to_owned(), 1), ("late-map".to_owned(), 1)]);
}

/// A program that another one started before the recording: the recorder synthesizes a FORK for it with
/// `PERF_RECORD_MISC_FORK_EXEC`, and lists its maps. It does not have its parent's maps.
#[test]
fn a_process_that_was_already_running_has_no_maps_of_its_parent() {
    let folder = empty_folder("already-running");
    for (name, ..) in [OLD, NEW] {
        fs::copy(layout_files().join(name), folder.join(name)).expect("a program");
    }
    let mut recording = Recording::new();
    recording.map(1, text(0, inode(1), "/lld-pie"));
    for (pid, misc) in [(2, 0x2000), (3, 0)] {
        let time = recording.next();
        let fork = Record::Fork { pid, ppid: 1, tid: pid, ptid: 1, time };
        recording.data.record_with(&fork, misc, SampleId::at(pid, pid, time));
        let own = text(0x1000, inode(2), "/bfd-separate");
        recording.map(pid, Map { start: LOAD + 0x10_1000, ..own });
    }
    for pid in [1, 2, 3] {
        recording.sample(pid, LOAD + OLD.2);
    }
    recording.sample(2, LOAD + 0x10_0000 + NEW.2);
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    let found: Vec<_> = lines.iter().map(innermost).collect();
    let of_parent = (Some("known"), Some("0x1320"));
    assert_eq!(found, [of_parent, (None, None), of_parent, (Some("known"), Some("0x1000"))]);
    let mapped = |pid| {
        let arguments = ["maps", "perf.data", "--json", "--sysroot", ".", "--pid", pid];
        let rows = run(&folder, &arguments).expect_status(0).lines();
        let path = |row: &serde_json::Value| row["path"].as_str().expect("a path").to_owned();
        rows.iter().map(path).collect::<Vec<_>>()
    };
    assert_eq!(mapped("1"), ["/lld-pie"]);
    assert_eq!(mapped("2"), ["/bfd-separate"]);
    assert_eq!(mapped("3"), ["/lld-pie", "/bfd-separate"]);
}

/// Text that was moved to anonymous memory before the recording: only the mappings around it state the file.
#[test]
fn text_that_was_moved_before_the_recording() {
    let folder = empty_folder("moved-before");
    fs::copy(layout_files().join(OLD.0), folder.join("app")).expect("the program");
    let mut recording = Recording::new();
    let anonymous = MmapFile::Inode { major: 0, minor: 0, inode: 0, generation: 0 };
    for (start, offset, prot, path) in
        [(0, 0, 1, "/app"), (0x1000, 0, RX, "//anon"), (0x2000, 0, 3, "/app")]
    {
        let file = if path == "/app" { inode(1) } else { anonymous };
        let map = Map { prot, file, ..Map::code(LOAD + start, 0x1000, offset, path) };
        recording.map(1, map);
    }
    recording.sample(1, LOAD + OLD.2);
    recording.sample(1, LOAD + OLD.2);
    recording.write(&folder);
    let arguments = ["--sysroot", "."];
    let lines = samples(&folder, &arguments);
    let found: Vec<_> = lines.iter().map(innermost).collect();
    assert_eq!(found, [(Some("known"), Some("0x1320")); 2]);
    let expected = [("unverified-file".to_owned(), 1), ("inferred-file".to_owned(), 1)];
    assert_eq!(findings(&folder, &arguments), expected);
    let maps = run(&folder, &["maps", "perf.data", "--json", "--sysroot", "."]).expect_status(0);
    let rows: Vec<_> =
        maps.lines().iter().map(|row| (row["path"].clone(), row["inferred"].clone())).collect();
    let app = serde_json::Value::from("/app");
    let inferred = [serde_json::Value::Null, true.into(), serde_json::Value::Null];
    assert_eq!(rows, inferred.map(|mark| (app.clone(), mark)));
}

/// `clone` with `CLONE_VM`: the record of a fork does not state that both processes have one memory.
#[test]
fn code_that_a_process_of_the_same_memory_mapped() {
    const LIB: u64 = LOAD + 0x10_0000;
    let folder = empty_folder("shared-memory");
    for (name, ..) in [OLD, NEW] {
        fs::copy(layout_files().join(name), folder.join(name)).expect("a file");
    }
    let at = |start, path| Map::code(start, 0x1000, 0, path);
    let mut recording = Recording::new();
    // Memory that is not code, recorded for all of them.
    recording.map(1, Map { prot: 1, ..at(LIB, "/etc/ld.so.cache") });
    for pid in [2, 3, 4] {
        let time = recording.next();
        let fork = Record::Fork { pid, ppid: 1, tid: pid, ptid: 1, time };
        recording.data.record_at(&fork, SampleId::at(1, 1, time));
    }
    // The third process executes another program, with separate memory.
    let time = recording.next();
    let exec = Record::Comm { pid: 3, tid: 3, comm: b"other", exec: true };
    recording.data.record_at(&exec, SampleId::at(3, 3, time));
    recording.map(3, at(LIB + 0x4000, "/lld-pie"));
    recording.sample(1, LIB + 0x4000 + 0x320);
    // The parent runs code of a child, and a child that of its parent.
    recording.map(2, at(LIB, "/lld-pie"));
    recording.sample(1, LIB + 0x320);
    recording.map(1, at(LIB + 0x8000, "/lld-pie"));
    recording.sample(2, LIB + 0x8000 + 0x320);
    // An ordinary fork: each has separate code at the same address.
    recording.map(4, Map { offset: 0x1000, ..at(LIB + 0x8000, "/bfd-separate") });
    recording.sample(4, LIB + 0x8000);
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    let found: Vec<_> = lines.iter().map(innermost).collect();
    let known = |svma| (Some("known"), Some(svma));
    assert_eq!(found, [(None, None), known("0x1320"), known("0x1320"), known("0x1000")]);
    let shared = findings(&folder, &["--sysroot", "."]);
    assert_eq!(shared, [("unverified-file".to_owned(), 2), ("shared-memory".to_owned(), 2)]);
}
