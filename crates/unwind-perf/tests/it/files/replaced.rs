//! Recordings without build-ids in the map records: the file at a path may differ from the recorded one.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use synth::{BuildIdEntry, Feature, MmapFile};

use crate::support::mapped::{
    Map, RX, Recording, findings, innermost, inode, layout_files, samples,
};
use crate::support::run::{empty_folder, run};

/// The build at the path: its build-id, and the offset of `known` in it.
const BUILD_ID: [u8; 20] =
    *b"\x7d\xd9\xb7\xb8\x74\x31\x2d\xbb\xb3\xfc\x99\xdd\xdb\xcb\xe2\xb2\xef\xc8\xc4\xf3";
const KNOWN: u64 = 0x1000;
const LOAD: u64 = 0x5555_5555_0000;

/// Returns a file on a device.
const fn on_device(minor: u32, number: u64) -> MmapFile<'static> {
    MmapFile::Inode { major: 0, minor, inode: number, generation: 0 }
}

/// Adds the maps of a program as the kernel does: its head is mapped without execute permission before its code.
fn exec(recording: &mut Recording, pid: u32, file: MmapFile<'_>, path: &str) {
    let head = Map { start: LOAD, len: 0x1000, offset: 0, prot: 1, file, path };
    recording.map(pid, head);
    recording.map(pid, Map { start: LOAD + 0x1000, offset: 0x1000, prot: RX, ..head });
}

/// Returns a recording of `/app`, with the build-id that its header lists, in a folder with that build.
fn recording(name: &str) -> (PathBuf, Recording) {
    let folder = empty_folder(name);
    fs::copy(layout_files().join("bfd-separate"), folder.join("app")).expect("the build");
    let mut recording = Recording::new();
    recording.data.feature(&Feature::BuildId(&[BuildIdEntry {
        misc: 2,
        pid: 1,
        id: &BUILD_ID,
        sized: true,
        name: b"/app",
    }]));
    (folder, recording)
}

/// Returns the functions of the samples, and the findings.
fn shown(folder: &Path) -> (Vec<Option<String>>, Vec<(String, u64)>) {
    let arguments = ["--sysroot", "."];
    let lines = samples(folder, &arguments);
    let names = lines.iter().map(|line| innermost(line).0.map(str::to_owned)).collect();
    (names, findings(folder, &arguments))
}

fn known() -> Option<String> {
    Some("known".to_owned())
}

#[test]
fn a_listed_build_id_proves_the_only_file_of_a_path() {
    let (folder, mut recording) = recording("only-file");
    for pid in [1, 2] {
        exec(&mut recording, pid, inode(10), "/app");
        recording.sample(pid, LOAD + KNOWN);
    }
    recording.write(&folder);
    assert_eq!(shown(&folder), (vec![known(), known()], vec![]));
}

#[test]
fn a_replaced_file_has_no_names_though_its_head_was_mapped_first() {
    let (folder, mut recording) = recording("replaced-head-first");
    for (pid, number) in [(1, 10), (2, 11)] {
        exec(&mut recording, pid, inode(number), "/app");
        recording.sample(pid, LOAD + KNOWN);
    }
    recording.write(&folder);
    let expected = [("file-replaced".to_owned(), 1), ("unverified-file".to_owned(), 1)];
    assert_eq!(shown(&folder), (vec![None, known()], expected.to_vec()));
}

#[test]
fn a_deleted_file_has_no_names_of_the_file_at_its_path() {
    let (folder, mut recording) = recording("deleted");
    exec(&mut recording, 1, inode(10), "/app (deleted)");
    recording.sample(1, LOAD + KNOWN);
    recording.write(&folder);
    assert_eq!(shown(&folder), (vec![None], vec![("file-replaced".to_owned(), 1)]));
    // Only the replacing file was ever at the path.
    exec(&mut recording, 2, inode(11), "/app");
    recording.sample(2, LOAD + KNOWN);
    recording.write(&folder);
    assert_eq!(shown(&folder), (vec![None, known()], vec![("file-replaced".to_owned(), 1)]));
}

#[test]
fn containers_share_a_path_and_no_file() {
    let shared = [("file-ambiguous".to_owned(), 2)];
    for (name, files) in [
        ("one-device", [on_device(40, 10), on_device(40, 11)]),
        ("two-devices", [on_device(40, 10), on_device(41, 10)]),
    ] {
        let (folder, mut recording) = recording(&format!("containers-{name}"));
        for round in 0..2 {
            for (pid, file) in [(1, files[0]), (2, files[1])] {
                exec(&mut recording, 10 * round + pid, file, "/app");
                recording.sample(10 * round + pid, LOAD + KNOWN);
            }
        }
        recording.write(&folder);
        let found = shown(&folder);
        let of_kind = |kind: &str| found.1.iter().filter(|it| it.0 == kind).map(|it| it.1).sum();
        let n_shared: u64 = of_kind("file-ambiguous");
        assert_eq!(
            (found.0.as_slice(), n_shared),
            (&[None, None, None, None][..], shared[0].1),
            "{name}"
        );
    }
}

#[test]
fn without_any_build_id_the_path_is_used_and_that_is_said() {
    let (folder, _) = recording("no-build-id");
    let mut recording = Recording::new();
    exec(&mut recording, 1, inode(10), "/app");
    recording.sample(1, LOAD + KNOWN);
    recording.write(&folder);
    assert_eq!(shown(&folder), (vec![known()], vec![("unverified-file".to_owned(), 1)]));
    // An unproven build-id is not passed on.
    let json = run(&folder, &["perf.data", "-q", "--sysroot", "."]).expect_status(0).json();
    assert_eq!(json["modules"][0]["build_id"], serde_json::Value::Null);
}

#[test]
fn the_user_gives_the_file_of_a_recorded_name() {
    let (folder, mut recording) = recording("given");
    exec(&mut recording, 1, inode(10), "/app (deleted)");
    recording.sample(1, LOAD + KNOWN);
    recording.write(&folder);
    fs::rename(folder.join("app"), folder.join("old=build")).expect("renamed");
    let name = |module: &str| {
        let lines = samples(&folder, &["--module", module]);
        innermost(&lines[0]).0.map(str::to_owned)
    };
    // An unproven file of another name is not used; a file with a `=` in its name is.
    assert_eq!(name("old=build"), None);
    for recorded in ["app", "/app", "/app (deleted)"] {
        assert_eq!(name(&format!("{recorded}=old=build")), known(), "{recorded}");
        assert_eq!(findings(&folder, &["--module", &format!("{recorded}=old=build")]), []);
    }
    assert_eq!(name("other=old=build"), None);
}

#[test]
fn two_files_of_one_name_are_not_chosen_from() {
    let folder = empty_folder("two-extra-dirs");
    for (dir, build) in [("a", "bfd-separate"), ("b", "lld-pie")] {
        fs::create_dir(folder.join(dir)).expect("a folder");
        fs::copy(layout_files().join(build), folder.join(dir).join("app")).expect("a build");
    }
    let mut recording = Recording::new();
    exec(&mut recording, 1, inode(10), "/app");
    recording.sample(1, LOAD + KNOWN);
    recording.write(&folder);
    let arguments = |dirs: &[&str]| {
        let dirs = dirs.iter().flat_map(|dir| ["--extra-dir".to_owned(), (*dir).to_owned()]);
        dirs.collect::<Vec<_>>()
    };
    for (dirs, name, finding) in [
        (&["a"][..], Some("known"), "unverified-file"),
        (&["a", "b"], None, "file-ambiguous"),
        (&["b", "a"], None, "file-ambiguous"),
    ] {
        let words = arguments(dirs);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let lines = samples(&folder, &words);
        assert_eq!(innermost(&lines[0]).0, name, "{dirs:?}");
        assert_eq!(findings(&folder, &words), [(finding.to_owned(), 1)], "{dirs:?}");
    }
}

/// A process on this machine, which ends when the value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _is_gone = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Copies a program that the test runs.
///
/// If this process wrote the file, a child that another test starts would hold it open for writing until it executes
/// its own program. The kernel refuses to execute a file that is open for writing.
fn copied_by_another_process(from: &str, to: &Path) {
    let status = Command::new("cp").arg(from).arg(to).status().expect("cp runs");
    assert!(status.success(), "cp {from}: {status}");
}

/// Returns the code of a running program by its line in `/proc/PID/maps`: start, length, offset, device, inode.
fn code_of(pid: u32, path: &Path) -> (u64, u64, u64, MmapFile<'static>) {
    let path = path.to_str().expect("a name");
    let code = || {
        let maps = fs::read(format!("/proc/{pid}/maps")).expect("the maps");
        let text = String::from_utf8_lossy(&maps).into_owned();
        let line = text.lines().find(|it| it.contains(" r-xp ") && it.contains(path));
        line.map(str::to_owned)
    };
    // Waits until it has executed the program.
    let tries = std::iter::repeat_with(|| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        code()
    });
    let line = tries.take(4000).flatten().next().expect("code");
    let words: Vec<&str> = line.split_whitespace().collect();
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let (start, end) = words[0].split_once('-').expect("a range");
    let (major, minor) = words[3].split_once(':').expect("a device");
    let file = MmapFile::Inode {
        major: hex(major) as u32,
        minor: hex(minor) as u32,
        inode: words[4].parse().expect("a number"),
        generation: 0,
    };
    (hex(start), hex(end) - hex(start), hex(words[2]), file)
}

/// Returns the file that serves a module of a recording, or the reason why none does.
fn served(folder: &Path) -> String {
    let ran = run(folder, &["maps", "perf.data", "--json"]);
    let line = ran.text().lines().find(|line| line.contains("\"executable\":true")).expect("code");
    let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let word = |name: &str| row[name].as_str().map(str::to_owned);
    let proof = word("proof").unwrap_or_default();
    word("file")
        .map_or_else(|| word("refused").unwrap_or_default(), |file| format!("{file} by {proof}"))
}

/// On the recorded machine, inodes distinguish files, and a running process provides its program's file.
#[test]
fn a_living_process_has_its_deleted_program() {
    let folder = empty_folder("living");
    let program = folder.join("program");
    copied_by_another_process("/bin/sleep", &program);
    let child = Command::new(&program).arg("600").stdin(Stdio::null()).spawn().expect("it runs");
    let running = Running(child);
    let pid = running.0.id();
    let (start, len, offset, file) = code_of(pid, &program);
    let fact = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).expect("a fact");
        text.trim().to_owned()
    };
    let (host, release) = (fact("hostname"), fact("osrelease"));
    let write = |path: &str| {
        let mut recording = Recording::new();
        recording.data.feature(&Feature::Hostname(&host)).feature(&Feature::OsRelease(&release));
        recording.map(pid, Map { start, len, offset, prot: RX, file, path });
        recording.sample(pid, start);
        recording.write(&folder);
    };
    let path = program.to_str().expect("a name");
    write(path);
    assert_eq!(served(&folder), format!("{path} by inode"));
    // Another file replaces it while the process continues.
    let inode = fs::metadata(&program).expect("the program").ino();
    fs::copy("/bin/sleep", folder.join("new")).expect("a program");
    fs::rename(folder.join("new"), &program).expect("renamed");
    assert_ne!(fs::metadata(&program).expect("the program").ino(), inode);
    let deleted = format!("{path} (deleted)");
    for path in [path, &deleted] {
        write(path);
        let file = served(&folder);
        let mapping = format!("/proc/{pid}/");
        assert!(file.starts_with(&mapping) && file.ends_with(" by inode"), "{file}");
    }
    drop(running);
    write(path);
    assert_eq!(served(&folder), format!("{path} is not the recorded file: its inode differs"));
    write(&deleted);
    assert_eq!(served(&folder), format!("{path} was deleted or replaced before it was recorded"));
}
