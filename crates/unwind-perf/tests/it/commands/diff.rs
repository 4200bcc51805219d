//! `unwind-perf diff`: its arguments, its outputs, its exit status.

use crate::support::cases::{Case, root};
use crate::support::run::{Ran, command, empty_folder, finish, listing, run};

const SPIN: &str = "testdata/cases/spin-lld/perf.data";
const PLT: &str = "testdata/cases/plt/perf.data";
const EVENTS: &str = "testdata/cases/two-events/perf.data";

/// Runs `diff` with the files of the cases.
fn diff(arguments: &[&str]) -> Ran {
    let arguments = [&["diff", "-q", "--sysroot", "testdata/sysroot"], arguments].concat();
    run(root(), &arguments)
}

#[test]
fn a_recording_does_not_differ_from_itself() {
    let ran = diff(&[SPIN, SPIN, "--fail-above", "0"]).expect_status(0);
    let side = "31 samples of cpu-clock:u, 0.10 s in 0.31 s; 100.0 % of the stacks are complete";
    let expected = format!(
        "before    {SPIN}: {side}\nafter     {SPIN}: {side}\n\
         compared  cost per second; functions by name and module, with inlined functions\n\n\
         own cost: none of 1 function changed, within these two runs\n"
    );
    assert_eq!(ran.text(), expected);
    assert_eq!(ran.stderr, "");
}

/// Ten times the work for the same cost: a tenth in the baseline, ten times as much in the candidate.
#[test]
fn only_more_cost_that_is_marked_fails() {
    let more = [SPIN, SPIN, "--normalize", "A=10,B=1", "--no-inline", "--limit", "1"];
    let table = diff(&more).expect_status(0);
    let row = "* 10.4 ms  103.7 ms  +93.3 ms  +56.6 … +130.0  ×10.00  spin [spin-lld]";
    assert_eq!(table.text().lines().next_back(), Some(row));
    let limited = |limit| diff(&[&more[..], &["--fail-above", limit]].concat());
    let failed = limited("899.9%");
    assert_eq!(failed.status, 2, "no share is above 100 %");
    let failed = limited("100%").expect_status(1);
    assert_eq!(failed.text(), table.text(), "the output is written all the same");
    let message = "unwind-perf: spin [spin-lld] costs more by itself: +900.00 % of the total before, more than the 100 % \
                   of --fail-above\n";
    assert_eq!(failed.stderr, message);
    let less = [SPIN, SPIN, "--normalize", "A=1,B=10", "--fail-above", "0"];
    diff(&less).expect_status(0);
    let inclusive =
        [SPIN, SPIN, "--normalize=A=10,B=1", "-f", "json", "--by=inclusive", "--fail-above=1"];
    let messages = diff(&inclusive).expect_status(1).stderr;
    assert!(messages.contains("main [spin-lld] costs more including its callees"), "{messages}");
    assert!(messages.lines().count() > 3, "{messages}");
}

/// Programs without a counterpart are not judged; naming a pair compares them.
#[test]
fn what_is_not_compared_leaves_the_gate_undecided() {
    let undecided = diff(&[SPIN, PLT, "--fail-above", "5"]).expect_status(1);
    let lines = "unwind-perf: gate not decided: 100.0 % of BEFORE not compared\n\
                 unwind-perf: gate not decided: 100.0 % of AFTER not compared\n";
    assert_eq!(undecided.stderr, lines);
    assert!(undecided.text().contains("\nnot compared: 100.0 % of before, 100.0 % of after\n"));
    let json = |arguments: &[&str]| diff(&[arguments, &["-f", "json"]].concat());
    let document = json(&[SPIN, PLT, "--fail-above", "5"]).expect_status(1).json();
    assert_eq!(document["gate"], "undecided");
    assert_eq!(document["not_compared"]["before"], 1.0);
    let passed = json(&[SPIN, SPIN, "--fail-above", "5"]).expect_status(0).json();
    assert_eq!(
        (&passed["gate"], &passed["not_compared"]["after"]),
        (&"passed".into(), &0.0.into())
    );
    let failed = json(&[SPIN, SPIN, "--fail-above=5", "--normalize=A=10,B=1"]).expect_status(1);
    assert_eq!(failed.json()["gate"], "failed");
    assert!(json(&[SPIN, SPIN]).expect_status(0).json()["gate"].is_null());
    let pair = json(&[SPIN, PLT, "--pair", "spin-lld=plt"]).expect_status(0).json();
    assert_eq!(pair["modules"][0]["paired_by"], "option");
    assert_eq!(pair["modules"][0]["name_after"], "plt");
    let wrong = diff(&[SPIN, PLT, "--pair", "spin-lld=nothing"]).expect_status(2);
    let message = "no module after is called nothing; modules with samples are ";
    assert!(wrong.stderr.contains(message), "{}", wrong.stderr);
}

#[test]
fn several_recordings_stand_on_both_sides_of_two_dashes() {
    let ran = diff(&[SPIN, SPIN, SPIN, "--", SPIN, SPIN, SPIN]).expect_status(0);
    assert!(ran.text().starts_with("before    3 recordings ("), "{}", ran.text());
    assert!(ran.text().ends_with("none of 1 function changed, by the spread between the runs\n"));
    let few = diff(&[SPIN, "--", SPIN, SPIN]).expect_status(0);
    assert!(few.text().contains("\nnote      nothing is marked: "), "{}", few.text());
    let ran = diff(&["--fail-above", "1", SPIN, "--", SPIN, SPIN]).expect_status(2);
    assert!(ran.stderr.contains("one recording on each side, or three or more"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let messages = [
        (
            &[SPIN, SPIN, "-o", "new.foo"][..],
            "new.foo: no format has the ending .foo; use one of .txt, .json, .html, .folded, .pb.gz, or choose",
        ),
        (&[SPIN][..], "give two recordings, or several per side with -- between: A1 A2"),
        (&[SPIN, SPIN, SPIN], "give two recordings, or several per side"),
        (&["-", "-"], "only one recording can come from standard input"),
        (&[SPIN, "--", SPIN, "--limit=1"], "--limit=1: options go before the --"),
        (&[SPIN, "no such file"], "no such file: No such file or directory"),
        (
            &[SPIN, SPIN, "--pid", "1"],
            "perf.data: no sample passes the filters; there are, for --pid: 26512",
        ),
        (&[SPIN, SPIN, "-f", "json", "--limit", "1"], "--limit has no effect on the format json"),
        (&[SPIN, SPIN, "-f", "json", "--by", "own"], "--by has no effect on the format json"),
        (&[SPIN, SPIN, "-f", "svg"], "possible values: text, json, report, folded, pprof"),
        (&[SPIN, SPIN, "--normalize", "A=1"], "expected time, share, samples, or amounts of work"),
        (&[SPIN, SPIN, "-o", SPIN], "perf.data is the recording itself; name another file"),
    ];
    for (arguments, message) in messages {
        let ran = diff(arguments).expect_status(2);
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{arguments:?}");
    }
    // The common part is compared: here, the first event of one and the only one of the other.
    let common = diff(&[SPIN, EVENTS]).expect_status(0);
    let note = "note      only cpu-clock:u is compared; --event selects another event (omitted: 0 samples before and \
                26 after)\n";
    assert!(common.text().contains(note), "{}", common.text());
    let other = diff(&[EVENTS, EVENTS, "--event", "task-clock:u"]).expect_status(0);
    assert!(other.text().contains(": 26 samples of task-clock:u, "), "{}", other.text());
}

#[test]
fn the_ending_of_the_file_chooses_the_format() {
    let folder = empty_folder("diff-endings");
    let case = root().join(SPIN);
    let case = case.to_str().expect("UTF-8");
    let begins: [(&str, &[u8]); 5] = [
        ("x.txt", b"before    "),
        ("x.json", b"{\"meta\":{\"schema\":\"unwind-perf-diff\",\"version\":1,"),
        ("x.html", b"<!DOCTYPE html>"),
        ("x.folded", b"spin-lld;"),
        ("x.pb.gz", b"\x1f\x8b"),
    ];
    for (name, begin) in begins {
        run(&folder, &["diff", "-q", case, case, "-o", name]).expect_status(0);
        let bytes = std::fs::read(folder.join(name)).expect("the output");
        assert!(bytes.starts_with(begin), "{name}: {}", bytes.escape_ascii());
    }
    run(&folder, &["diff", "-q", case, case, "-o", ".", "-f", "json"]).expect_status(0);
    let names = listing(&folder);
    assert_eq!(names, ["diff.json", "x.folded", "x.html", "x.json", "x.pb.gz", "x.txt"]);
}

/// Streams are recordings as well, and the number of threads does not change a byte.
#[test]
fn streams_and_threads() {
    let folder = empty_folder("diff-streams");
    let case = root().join(SPIN);
    let case = case.to_str().expect("UTF-8");
    let arguments = ["diff", "-q", "-f", "json", case, "-"];
    let stdin = std::fs::File::open(case).expect("a recording");
    let child = command(&folder, &arguments).stdin(stdin).spawn().expect("the command starts");
    let streamed = finish(child).expect_status(0).json();
    assert_eq!(streamed["after"]["recordings"][0]["name"], "-");
    assert_eq!(streamed["total"]["delta"], 0.0);
    let of = |threads| diff(&["-f", "json", "-j", threads, SPIN, EVENTS]).expect_status(0).stdout;
    assert!(of("1") == of("7"));
}

#[test]
fn too_many_incomplete_stacks_fail() {
    let case = Case::named("anon").folder.join("perf.data");
    let case = case.to_str().expect("UTF-8");
    let ran = diff(&["--no-join", "--fail-if-incomplete", "10", case, case]).expect_status(1);
    assert_eq!(ran.stderr.matches("have incomplete callchains").count(), 2);
}
