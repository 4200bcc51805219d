//! Names of code in memory from `perf-PID.map`: by address, for every kind of memory.

use std::fs;
use std::path::Path;

use synth::{MmapFile, Record, SampleId};

use crate::support::mapped::{Map, RX, Recording, findings, inode, samples};
use crate::support::run::empty_folder;

const START: u64 = 0x7f00_0000_0000;

/// Adds executable memory of a process.
fn memory(recording: &mut Recording, pid: u32, name: &str, offset: u64, file: MmapFile<'_>) {
    let map = Map { start: START, len: 0x10000, offset, prot: RX, file, path: name };
    recording.map(pid, map);
}

const fn nothing() -> MmapFile<'static> {
    MmapFile::Inode { major: 0, minor: 0, inode: 0, generation: 0 }
}

fn map_file(folder: &Path, pid: u32, lines: &str) {
    let maps = folder.join("maps");
    fs::create_dir_all(&maps).expect("a folder");
    fs::write(maps.join(format!("perf-{pid}.map")), lines).expect("a map");
}

/// Returns the function of each sample's innermost frame.
fn names(folder: &Path) -> Vec<Option<String>> {
    let lines = samples(folder, &["--perf-map-dir", "maps"]);
    let name = |line: &serde_json::Value| line["frames"][0]["function"].as_str().map(str::to_owned);
    lines.iter().map(name).collect()
}

#[test]
fn the_kind_of_memory_does_not_matter() {
    for (name, file) in [
        ("//anon", nothing()),
        ("/memfd:doublemapper (deleted)", inode(7)),
        ("/dev/shm/doublemapper_1 (deleted)", inode(7)),
        ("/dev/zero (deleted)", inode(7)),
        ("/SYSV00000000 (deleted)", inode(7)),
        ("/tmp/ffi1 (deleted)", inode(7)),
        ("/anon_hugepage (deleted)", inode(7)),
    ] {
        let folder = empty_folder("kinds-of-memory");
        let mut recording = Recording::new();
        memory(&mut recording, 1, name, 0x30000, file);
        recording.sample(1, START + 0x108);
        recording.sample(1, START + 0x1ff);
        recording.write(&folder);
        map_file(&folder, 1, &format!("{:x} 100 Program::Leaf\n", START + 0x100));
        let leaf = Some("Program::Leaf".to_owned());
        assert_eq!(names(&folder), [leaf.clone(), leaf], "{name}");
    }
}

/// A memfd that two processes share has another address in each.
#[test]
fn shared_code_has_the_addresses_of_each_process() {
    let folder = empty_folder("shared-code");
    let mut recording = Recording::new();
    let name = "/memfd:code (deleted)";
    memory(&mut recording, 1, name, 0, inode(7));
    let elsewhere = Map { start: START + 0x50000, ..Map::code(0, 0x10000, 0, name) };
    recording.map(2, Map { file: inode(7), ..elsewhere });
    recording.sample(2, START + 0x50108);
    recording.write(&folder);
    map_file(&folder, 2, &format!("{:x} 100 second\n", START + 0x50100));
    assert_eq!(names(&folder), [Some("second".to_owned())]);
    map_file(&folder, 2, &format!("{:x} 100 second\n", START + 0x100));
    assert_eq!(names(&folder), [None]);
}

/// After a fork each process compiles into its own copy of the memory.
#[test]
fn a_child_has_its_own_map_and_that_of_its_parent() {
    let folder = empty_folder("forked-compiler");
    let mut recording = Recording::new();
    memory(&mut recording, 1, "//anon", 0, nothing());
    let time = recording.next();
    let fork = Record::Fork { pid: 2, ppid: 1, tid: 2, ptid: 1, time };
    recording.data.record_at(&fork, SampleId::at(2, 2, time));
    for pid in [1, 2] {
        recording.sample(pid, START + 0x108);
        recording.sample(pid, START + 0x208);
    }
    recording.write(&folder);
    map_file(
        &folder,
        1,
        &format!("{:x} 100 before\n{:x} 100 of_parent\n", START + 0x100, START + 0x200),
    );
    map_file(&folder, 2, &format!("{:x} 100 of_child\n", START + 0x200));
    let expected = ["before", "of_parent", "before", "of_child"];
    assert_eq!(names(&folder), expected.map(|name| Some(name.to_owned())));
    assert_eq!(findings(&folder, &["--perf-map-dir", "maps"]), []);
}
