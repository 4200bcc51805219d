//! Errors: one line with place and reason, an exit status, and never a hang.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder};

use crate::support::cases::{Case, sysroot};
use crate::support::run::{command, empty_folder, finish, listing, run};

/// Checks that the run fails with this line and prints nothing.
#[track_caller]
fn fails(folder: &Path, arguments: &[&str], message: &str) {
    let ran = run(folder, arguments).expect_status(2);
    assert_eq!(
        (ran.text(), ran.stderr.as_str()),
        ("", format!("unwind-perf: {message}\n").as_str())
    );
}

#[test]
fn what_is_no_recording() {
    let folder = empty_folder("no-recording");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("written");
    write("text", b"# comment\n");
    write("short", b"PERF");
    write("empty", b"");
    write("head", &Case::named("spin-lld").bytes()[..50]);
    write("head-only", &Case::named("spin-lld").bytes()[..104]);
    fs::create_dir(folder.join("folder")).expect("a folder");
    let magic = "not a perf recording: expected `PERFILE2` at offset 0x0, found";
    for (name, message) in [
        ("text", format!("cannot read text: {magic} [23, 20, 63, 6f, 6d, 6d, 65, 6e]")),
        ("short", format!("cannot read short: {magic} [50, 45, 52, 46, 00, 00, 00, 00]")),
        ("empty", "empty is empty".to_owned()),
        ("missing", "cannot read missing: No such file or directory (os error 2)".to_owned()),
        ("/dev/null", "/dev/null is not a regular file".to_owned()),
        ("folder", "folder is a directory without a file `data`, so it is not a recording".to_owned()),
        (
            "head",
            "cannot read head: the file header is truncated: expected 72 bytes at offset 0x0, found 50".to_owned(),
        ),
        (
            "head-only",
            "cannot read head-only: the attribute section at offset 0x78 is outside the file, \
             which ends at 0x68"
                .to_owned(),
        ),
    ] {
        fails(&folder, &[name], &message);
    }
}

/// Programs that start this one read a line of JSON before the message for people.
#[test]
fn errors_are_lines_of_json_on_request() {
    let case = Case::named("two-events");
    for (arguments, message) in [
        (
            &["x.data"][..],
            r#"{"error":"missing","message":"cannot read x.data: No such file or directory (os error 2)","path":"x.data"}"#,
        ),
        (
            &["perf.data", "--sysroot", "x"],
            r#"{"error":"missing","message":"--sysroot x: not a directory","path":"x"}"#,
        ),
        (
            &["case.toml"],
            r#"{"error":"not-a-recording","message":"cannot read case.toml: not a perf recording: expected `PERFILE2` at offset 0x0, found "#,
        ),
        (
            &["perf.data", "--event", "cycles"],
            r#"{"error":"unknown-event","message":"--event cycles: the recording has cpu-clock:u, task-clock:u"}"#,
        ),
        (
            &["perf.data", "--jobs", "0"],
            r#"{"error":"call","message":"invalid value '0' for '--jobs <N>': 0 is not in 1..=65535"}"#,
        ),
        (
            &["perf.data", "--pid", "1"],
            r#"{"error":"no-samples","findings":[],"message":"no sample passes the filters; there are, for --pid: "#,
        ),
    ] {
        let mut command = command(&case.folder, arguments);
        let ran = finish(command.env("UNWIND_PERF_ERRORS", "json").spawn().expect("started"));
        let plain = run(&case.folder, arguments).expect_status(2);
        let ran = ran.expect_status(2);
        let (line, people) = ran.stderr.split_once('\n').expect("two lines");
        let start = line.get(..message.len()).unwrap_or(line);
        assert_eq!(start, message);
        assert_eq!(people, plain.stderr);
    }
}

/// Creates a FIFO; returns false without a program for it, and the test is skipped.
fn make_fifo(path: &Path) -> bool {
    Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success())
}

/// The frames of such a module stay without names.
#[test]
fn nothing_waits_for_a_fifo_among_the_modules() {
    let folder = empty_folder("fifo");
    let program = folder.join("root/tmp/unwind-perf-testdata/spin-lld");
    fs::create_dir_all(&program).expect("a folder");
    if !make_fifo(&program.join("spin-lld")) {
        return;
    }
    let case = Case::named("spin-lld");
    let root = folder.join("root");
    let root = root.to_str().expect("UTF-8");
    let ran = run(&case.folder, &["perf.data", "-f", "folded", "--sysroot", root]).expect_status(0);
    assert_eq!(ran.text(), "spin-lld;[truncated];[spin-lld];[spin-lld] 31\n");
}

#[test]
fn unknown_events_and_times_are_told() {
    let case = Case::named("two-events");
    fails(
        &case.folder,
        &["perf.data", "--event", "cycles"],
        "--event cycles: the recording has cpu-clock:u, task-clock:u",
    );
    for (time, why) in
        [("1", "no comma"), ("x,2", "x is no time"), ("99999999999,", "99999999999 is too large")]
    {
        let message = format!(
            "--time {time}: expected A,B in seconds, +A,+B in seconds from the first sample on, or \
             A%-B%: {why}"
        );
        // The last cause of an invalid number is the parser's message.
        let ran = run(&case.folder, &["perf.data", "--time", time]).expect_status(2);
        assert!(ran.stderr.starts_with(&format!("unwind-perf: {message}")), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
    }
}

/// Options for data that the recording lacks.
#[test]
fn switches_and_control_groups_that_were_not_recorded() {
    let case = Case::named("two-events");
    fails(
        &case.folder,
        &["perf.data", "--format", "folded", "--weight", "off-cpu"],
        "--weight off-cpu: the recording has no context switches; record with \
         unwind-perf record --off-cpu",
    );
    fails(
        &case.folder,
        &["perf.data", "--format", "hotspot", "--weight", "off-cpu"],
        "--weight has no effect on the format hotspot",
    );
    fails(
        &case.folder,
        &["perf.data", "--cgroup", "/"],
        "--cgroup: the recording has no control groups; record with perf record --all-cgroups",
    );
}

#[test]
fn wrong_arguments_are_told() {
    let case = Case::named("spin-lld");
    for (arguments, message) in [
        (
            &["perf.data", "--jobs", "0"][..],
            "error: invalid value '0' for '--jobs <N>': 0 is not in 1..=65535",
        ),
        (
            &["perf.data", "--format", "xml"],
            "error: invalid value 'xml' for '--format <FORMAT>': known formats are json, ndjson, \
             perf-script, folded, pprof, otlp, speedscope, firefox, callgrind, hotspot, flamegraph, report, \
             parquet, arrow",
        ),
        (&["perf.data", "--unknown"], "error: unexpected argument '--unknown' found"),
        (&["reprot", "x"], "error: 'reprot' is not a command; did you mean 'report'?"),
        (&["tpo"], "unwind-perf: there is no file or command tpo; did you mean the command top?"),
        (
            &["perf.data", "top"],
            "error: the command stands before the recording: unwind-perf top perf.data",
        ),
        (&["perf.data", "-F", "ip"], "unwind-perf: --fields has no effect on the format json"),
        (
            &["perf.data", "-f", "ndjson", "--root", "none"],
            "unwind-perf: --root has no effect on the format ndjson",
        ),
        (&["report", "perf.data", "--reverse"], "error: unexpected argument '--reverse' found"),
        (
            &["report", "perf.data", "--embed-sources", "--no-sources"],
            "error: the argument '--embed-sources' cannot be used with '--no-sources'",
        ),
        (
            &["report", "perf.data", "-o", "x.svg"],
            "unwind-perf: x.svg is named like the format flamegraph, and this command writes report \
             (FILE.html); for flamegraph: unwind-perf PERF_DATA -o x.svg",
        ),
        (&["perf.data", "--extra-dir", "none"], "unwind-perf: --extra-dir none: not a directory"),
        (
            &["perf.data", "--max-frames", "0"],
            "error: invalid value '0' for '--max-frames <N>': number would be zero for non-zero type",
        ),
    ] {
        let ran = run(&case.folder, arguments).expect_status(2);
        assert_eq!((ran.text(), ran.stderr.lines().next()), ("", Some(message)));
    }
}

/// A truncated recording gives its partial result, with a message and an exit status for the damage.
#[test]
fn a_cut_recording_is_partly_told() {
    let folder = empty_folder("cut");
    let case = Case::named("spin-lld");
    fs::write(folder.join("cut"), &case.bytes()[..60_000]).expect("written");
    let root = sysroot();
    let root = root.to_str().expect("UTF-8");
    let ran = run(&folder, &["cut", "-f", "folded", "--sysroot", root]).expect_status(1);
    assert_eq!(
        ran.text(),
        "spin-lld;_start;__libc_start_main;libc.so.6+0x271d0;main;outer;inner;spin 13\n"
    );
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[0], "13 samples, 91 frames.");
    for line in [
        "data-cut: the file is truncated: its data ends at 0x21b80, the file ends at 0xea60",
        "partial-record: the last record, at 0xe9d8, is truncated: 136 bytes were dropped",
    ] {
        assert!(lines.contains(&line), "{}", ran.stderr);
    }
    // With `--quiet` a line reports it.
    let quiet = run(&folder, &["cut", "-q", "-f", "folded", "--sysroot", root]).expect_status(1);
    let line = "unwind-perf: the recording is damaged: the file is truncated: its data ends at 0x21b80, the file ends at 0xea60\n";
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (ran.stdout, line));
}

/// A recording truncated at any position gives an output or one line; it never hangs or panics.
#[test]
fn cut_anywhere() {
    let folder = empty_folder("cut-anywhere");
    let bytes = Case::named("plt").bytes();
    let root = sysroot();
    let root = root.to_str().expect("UTF-8");
    for step in 0..40 {
        let end = bytes.len() * step / 40;
        fs::write(folder.join("cut"), &bytes[..end]).expect("written");
        let ran = run(&folder, &["cut", "-q", "-f", "ndjson", "--sysroot", root]);
        let lines = ran.stderr.lines().count();
        assert!(
            matches!((ran.status, lines), (1 | 2, 1)),
            "cut at {end}: status {}\n{}",
            ran.status,
            ran.stderr
        );
        ran.lines();
    }
}

/// `dump` waits for its reader when the recording is truncated; output after that would be zeros.
#[test]
fn a_recording_that_is_cut_while_it_is_dumped() {
    let folder = empty_folder("cut-while-dumped");
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    data.describe_events();
    for time in 0..40_000 {
        data.sample(&SampleBuilder::at(0x40_1000, 7, 7, time));
    }
    fs::write(folder.join("perf.data"), data.build()).expect("a recording");
    let mut child = command(&folder, &["dump", "perf.data"]).spawn().expect("the command starts");
    let mut first = [0];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("a line");
    let file = fs::OpenOptions::new().write(true).open(folder.join("perf.data"));
    file.and_then(|file| file.set_len(1_000_000)).expect("cut");
    let ran = finish(child).expect_status(2);
    assert_eq!(ran.stderr, "unwind-perf: perf.data was truncated while it was read\n");
}

/// The file of `-o` exists when it is complete, and is unchanged after an error.
#[test]
fn an_output_file_is_whole_or_absent() {
    let folder = empty_folder("atomic");
    fs::write(folder.join("text"), "no recording").expect("written");
    fs::write(folder.join("old.json"), "old").expect("written");
    run(&folder, &["text", "-o", "new.json"]).expect_status(2);
    run(&folder, &["text", "-o", "old.json"]).expect_status(2);
    assert_eq!(listing(&folder), ["old.json", "text"]);
    assert_eq!(fs::read(folder.join("old.json")).expect("the old file"), b"old");

    let perf_data = Case::named("spin-lld").folder.join("perf.data");
    let perf_data = perf_data.to_str().expect("UTF-8");
    let root = sysroot();
    let arguments = [perf_data, "-q", "--sysroot", root.to_str().expect("UTF-8"), "-o"];
    let missing = "cannot write missing/a.json: No such file or directory (os error 2)";
    fails(&folder, &[&arguments[..], &["missing/a.json"]].concat(), missing);
    let full = "cannot write /dev/full: No space left on device (os error 28)";
    fails(&folder, &[&arguments[..], &["/dev/full"]].concat(), full);
    run(&folder, &[&arguments[..], &["old.json"]].concat()).expect_status(0);
    let whole = run(&folder, &arguments[..4]).expect_status(0).stdout;
    assert_eq!(fs::read(folder.join("old.json")).expect("the new file"), whole);
    assert_eq!(listing(&folder), ["old.json", "text"]);
}

/// A reader may stop before the end: no message, no failure.
#[test]
fn a_closed_pipe_is_no_error() {
    let case = Case::named("recursion-rs");
    let arguments = ["perf.data", "-q", "-f", "ndjson", "--sysroot", "../../sysroot"];
    let mut child = command(&case.folder, &arguments).spawn().expect("the command starts");
    drop(child.stdout.take());
    let ran = finish(child).expect_status(0);
    assert_eq!(ran.stderr, "");
}
