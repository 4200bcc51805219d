//! The command `hotspot-perfparser`: its options, its inputs, its exit statuses.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, PipeLayout, Record, RecordingParts,
    SampleBuilder, UserRecord, sample_type,
};

use crate::formats::hotspot::messages;
use crate::support::cases::{Case, sysroot};
use crate::support::run::{Ran, empty_folder, finish, started_as};

fn backend(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(started_as("hotspot-perfparser"));
    command.args(arguments).current_dir(folder).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn run(folder: &Path, arguments: &[&str]) -> Ran {
    finish(backend(folder, arguments).spawn().expect("the command starts"))
}

/// Returns the number of samples, and the names of functions and files.
fn samples(stream: &[u8]) -> (usize, Vec<String>) {
    let messages = messages(stream);
    let strings = messages.iter().filter(|it| it.0 == 5);
    let strings = strings.map(|it| String::from_utf8_lossy(&it.1[8..]).into_owned());
    (messages.iter().filter(|it| it.0 == 13).count(), strings.collect())
}

fn root() -> String {
    sysroot().to_str().expect("UTF-8").to_owned()
}

#[test]
fn help_and_version() {
    let here = Path::new(".");
    let help = run(here, &["--help"]).expect_status(0);
    for option in [
        "--input",
        "--output",
        "--host",
        "--port",
        "--sysroot",
        "--debug",
        "--extra",
        "--app",
        "--arch",
        "--kallsyms",
        "--perf-map-path",
        "--max-frames",
        "--print-stats",
        "--buffer-size",
        "--max-buffer-size",
        "--version",
        "--help",
    ] {
        assert!(help.text().contains(option), "{option}");
    }
    let version = run(here, &["--version"]).expect_status(0);
    assert_eq!(version.text(), concat!("hotspot-perfparser ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// From a file, from standard input, from a peer: the same stream, except for its progress.
#[test]
fn a_recording_from_anywhere() {
    let case = Case::named("recursion-rs");
    let folder = empty_folder("backend-inputs");
    let pipe = RecordingParts::read(&case.bytes()).expect("a plain file").pipe();
    fs::write(folder.join("pipe"), &pipe).expect("written");
    let root = root();
    let expected = run(&case.folder, &["--input", "perf.data", "--sysroot", &root]);
    let expected = samples(&expected.expect_status(0).stdout);
    assert_eq!(expected.0, 41, "samples");
    let own: Vec<&String> =
        expected.1.iter().filter(|name| name.starts_with("recursion::")).collect();
    assert_eq!(
        own,
        [
            "recursion::fold",
            "recursion::work::{{closure}}",
            "recursion::work::{{closure}}::{{closure}}",
            "recursion::work",
            "recursion::main",
            "recursion::main::{{closure}}",
        ]
    );

    let of_file = run(&folder, &["--input", "pipe", "--sysroot", &root]).expect_status(0);
    assert_eq!(samples(&of_file.stdout), expected);

    let mut command = backend(&folder, &["--sysroot", &root, "--output", "out"]);
    command.stdin(fs::File::open(folder.join("pipe")).expect("a file"));
    let ran = finish(command.spawn().expect("the command starts")).expect_status(0);
    assert_eq!(ran.text(), "");
    assert_eq!(samples(&fs::read(folder.join("out")).expect("the output")), expected);

    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    let arguments = ["--host", "127.0.0.1", "--port", &port, "--sysroot", &root];
    let child = backend(&folder, &arguments).spawn().expect("the command starts");
    let (mut peer, _) = listener.accept().expect("a connection");
    peer.write_all(&pipe).expect("sent");
    drop(peer);
    assert_eq!(samples(&finish(child).expect_status(0).stdout), expected);
}

#[test]
fn files_are_found_by_their_names() {
    let case = Case::named("spin-lld-build-id");
    let folder = empty_folder("backend-extra");
    let (nothing, libraries, app) = ("nothing", "libraries", "app");
    for name in ["nothing", "libraries/below", "app/a/b"] {
        fs::create_dir_all(folder.join(name)).expect("a folder");
    }
    let recording = case.folder.join("perf.data");
    let recording = recording.to_str().expect("UTF-8");
    let names = |arguments: &[&str]| {
        let arguments = [&["--input", recording, "--sysroot", nothing], arguments].concat();
        samples(&run(&folder, &arguments).expect_status(0).stdout).1
    };
    let has = |names: &[String], name: &str| names.iter().any(|it| it == name);
    let program = sysroot().join("tmp/unwind-perf-testdata/spin-lld-build-id/spin-lld-build-id");
    fs::copy(&program, folder.join("app/a/b/spin-lld-build-id")).expect("copied");
    fs::copy(&program, folder.join("libraries/below/spin-lld-build-id")).expect("copied");
    assert!(!has(&names(&[]), "spin"));
    assert!(has(&names(&["--app", app]), "spin"));
    assert!(has(&names(&["--extra", &format!("{nothing}:{libraries}")]), "spin"));
    // A file of another build is refused here as well.
    let other = sysroot().join("tmp/unwind-perf-testdata/spin-bfd/spin-bfd");
    fs::copy(other, folder.join("app/a/b/spin-lld-build-id")).expect("copied");
    assert!(!has(&names(&["--app", app]), "spin"));
}

#[test]
fn names_of_jit_code_from_a_folder() {
    let folder = empty_folder("backend-jit");
    let mut it = PerfDataBuilder::new(Endian::Little);
    it.event("cycles:u", EventAttr::dwarf(0x00ff_0fff), &[7]);
    it.feature(&Feature::Arch("x86_64"));
    let map = Record::Mmap2 {
        pid: 42,
        tid: 42,
        addr: 0x10000,
        len: 0x1000,
        pgoff: 0,
        file: MmapFile::Inode { major: 0, minor: 0, inode: 0, generation: 0 },
        prot: 7,
        flags: 2,
        name: b"//anon",
    };
    it.record(&map);
    // The ninth register is the instruction pointer.
    let mut registers = [0; 20];
    registers[8] = 0x10010;
    it.sample(&SampleBuilder::at(0x10010, 42, 42, 5).with_regs(&registers));
    fs::write(folder.join("perf.data"), it.build()).expect("written");
    fs::create_dir(folder.join("maps")).expect("a folder");
    fs::write(folder.join("maps/perf-42.map"), "10000 100 made_at_run_time\n").expect("written");
    let names = |arguments: &[&str]| {
        let arguments = [&["--input", "perf.data"], arguments].concat();
        samples(&run(&folder, &arguments).expect_status(0).stdout).1
    };
    assert!(!names(&[]).contains(&"made_at_run_time".to_owned()));
    assert!(names(&["--perf-map-path", "maps"]).contains(&"made_at_run_time".to_owned()));
}

#[test]
fn statistics_instead_of_the_stream() {
    let case = Case::named("plt");
    let root = root();
    let ran = run(&case.folder, &["--input", "perf.data", "--sysroot", &root, "--print-stats"]);
    let ran = ran.expect_status(0);
    let first = ran.text().lines().next().expect("a line");
    assert!(first.contains(" samples, "), "{first}");
    assert_eq!(ran.stderr, "");
}

/// Returns a stream of samples in rounds, with its architecture if it states one.
fn rounds(arch: Option<&'static str>) -> Vec<u8> {
    let mut it = PerfDataBuilder::new(Endian::Little);
    // A set of registers that does not imply the architecture either.
    it.event("cycles:u", EventAttr::dwarf(0b111), &[7]);
    if let Some(arch) = arch {
        it.feature(&Feature::Arch(arch));
    }
    for round in 1..5 {
        for at in 0..20 {
            let sample = SampleBuilder::at(0x1000, 3, 4, round * 1000 + at);
            it.sample(&sample.with_regs(&[0; 3]).with_stack(&[0; 1024]));
        }
        if round == 4 {
            it.user_record(&UserRecord::FinishedRound);
        }
    }
    it.build_pipe(&PipeLayout::default())
}

#[test]
fn exit_statuses() {
    let folder = empty_folder("backend-status");
    let case = Case::named("spin-lld");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("written");
    write("recording", &case.bytes());
    write("text", b"# comment\n");
    write("head", &case.bytes()[..50]);
    write("rounds", &rounds(Some("x86_64")));
    write("no-arch", &rounds(None));
    // Unreadable records.
    let mut damaged = rounds(Some("x86_64"));
    let first = damaged.windows(6).position(|it| *it == [9, 0, 0, 0, 2, 0]);
    damaged[first.expect("a sample")..].fill(0xff);
    write("damaged", &damaged);
    let root = root();
    let status = |arguments: &[&str]| run(&folder, arguments).status;
    assert_eq!(status(&["--input", "recording", "--sysroot", &root]), 0);
    // A port that was just given back has no listener.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    assert_eq!(status(&["--host", "127.0.0.1", "--port", &port.port().to_string()]), 1);
    assert_eq!(status(&["--input", "missing"]), 2);
    assert_eq!(status(&["--input", "recording", "--output", "missing/out"]), 2);
    assert_eq!(status(&["--input", "text"]), 3);
    assert_eq!(status(&["--input", "head"]), 4);
    assert_eq!(status(&["--input", "damaged"]), 5);
    assert_eq!(status(&["--input", "no-arch"]), 6);
    assert_eq!(status(&["--input", "no-arch", "--arch", "aarch64"]), 0);
    // Recorded callchains are shown for every architecture.
    let mut chains = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::CALLCHAIN;
    chains.event("cycles", EventAttr { sample_type, ..EventAttr::default() }, &[7]);
    chains.sample(&SampleBuilder::at(0x1000, 3, 4, 0).with_callchain(&[0x1000, 0x2000]));
    write("chains", &chains.build());
    assert_eq!(status(&["--input", "chains"]), 0);
    for wrong in [
        &["--nonsense"][..],
        &["--max-frames", "x"],
        &["--arch", "z80"],
        &["--port", "99999"],
        &["--input", "recording", "--host", "localhost"],
    ] {
        assert_eq!(status(wrong), 7, "{wrong:?}");
    }
    assert_eq!(status(&["--input", "rounds", "--max-buffer-size", "1024"]), 0);
    let piped = |arguments: &[&str]| {
        let mut command = backend(&folder, arguments);
        command.stdin(fs::File::open(folder.join("rounds")).expect("a file"));
        finish(command.spawn().expect("the command starts"))
    };
    assert_eq!(piped(&["--max-buffer-size", "16"]).status, 8);
    // The size of batches does not change the output.
    for size in ["0", "1"] {
        let ran = piped(&["--buffer-size", size]).expect_status(0);
        assert_eq!(samples(&ran.stdout).0, 80);
    }
}

#[test]
fn another_processor_is_told() {
    let folder = empty_folder("backend-arch");
    fs::write(folder.join("rounds"), rounds(Some("x86_64"))).expect("written");
    let ran = run(&folder, &["--input", "rounds", "--arch", "aarch64"]).expect_status(0);
    assert_eq!(
        ran.stderr,
        "hotspot-perfparser: --arch is aarch64, but the recording is of X86_64, which is used\n"
    );
    assert_eq!(run(&folder, &["--input", "rounds", "--arch", "x86_64"]).stderr, "");
}

/// A peer that disconnects in the middle is a separate error.
#[test]
fn a_peer_that_breaks_off() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    let arguments = ["--host", "127.0.0.1", "--port", &port];
    let child = backend(Path::new("."), &arguments).spawn().expect("the command starts");
    let (mut peer, _) = listener.accept().expect("a connection");
    let bytes = rounds(Some("x86_64"));
    peer.write_all(&bytes[..bytes.len() / 2]).expect("sent");
    peer.set_nonblocking(true).expect("set");
    let _ = peer.read(&mut [0; 1]);
    drop(peer);
    // Truncated, but closed properly: the received part is shown.
    let ran = finish(child);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(samples(&ran.stdout).0 > 10);
}
