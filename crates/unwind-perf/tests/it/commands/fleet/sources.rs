//! Arguments, lists, and calls that are repeated or run at once.

use std::collections::BTreeSet;

use super::{Fleet, column, opts};
use crate::support::cases::sysroot;
use crate::support::run::{command, finish};

#[test]
fn the_tree_has_a_part_and_a_manifest() {
    let fleet = Fleet::new("tree");
    let recording = fleet.add("inlines-gcc", "a.data");
    let ran = fleet.convert(&["a.data"]).expect_status(0);
    let manifests = ran.lines();
    let [manifest] = &manifests[..] else { panic!("{manifests:?}") };
    let (date, hash) = (manifest["date"].as_str().expect("a day"), opts(&manifests));
    let digest = manifest["recording_sha256"].as_str().expect("a hash");
    let own = format!("v2/date={date}/recording_sha256={digest}/opts={hash}");
    assert_eq!(fleet.files(), [format!("{own}/_manifest.json"), format!("{own}/part.parquet")]);
    let stored = std::fs::read(fleet.folder.join("out").join(&own).join("_manifest.json"));
    let stored: serde_json::Value = serde_json::from_slice(&stored.expect("a file")).expect("JSON");
    assert_eq!(stored, *manifest);
    let part = std::fs::metadata(fleet.folder.join("out").join(&own).join("part.parquet"));
    assert_eq!(manifest["part"], format!("{own}/part.parquet"));
    assert_eq!(manifest["part_bytes"], part.expect("a file").len());
    assert_eq!(manifest["path"], recording.to_str().expect("UTF-8"));
    assert_eq!(digest.len(), 64);
    let sysroot = sysroot();
    let options = format!("sysroot=[\"{}\"]", sysroot.to_str().expect("UTF-8"));
    for (key, value) in [
        ("manifest", serde_json::json!(2)),
        ("bytes", std::fs::metadata(&recording).expect("a file").len().into()),
        ("options", [options].as_slice().into()),
        ("tool", env!("CARGO_PKG_VERSION").into()),
        ("status", "ok".into()),
        ("message", "".into()),
        ("attempts", 1.into()),
        ("samples", 35.into()),
        ("complete_share", 1.0.into()),
    ] {
        assert_eq!(manifest[key], value, "{key}");
    }
    let summary = ran.stderr.split_once(',').expect("a line").0.to_owned();
    assert_eq!(summary, "1 recording: 1 ok");
    assert_eq!(fleet.convert(&["-q", "a.data"]).expect_status(0).stderr, "");
}

#[test]
fn a_repeated_run_converts_nothing() {
    let fleet = Fleet::new("again");
    let paths = [fleet.add("inlines-gcc", "a.data"), fleet.add("two-events", "b.data")];
    let first = fleet.convert(&["a.data", "b.data"]).expect_status(0).lines();
    let script = fleet.script("exit 99");
    let again = fleet.convert(&["--program", &script, "b.data", "a.data"]).expect_status(0);
    assert!(again.stderr.starts_with("2 recordings: 2 ok (2 converted earlier), "));
    let sorted = |lines: &[serde_json::Value]| {
        lines.iter().map(ToString::to_string).collect::<BTreeSet<_>>()
    };
    assert_eq!(sorted(&again.lines()), sorted(&first));
    // Threads and caches do not change the rows; a renamed recording is known.
    std::fs::rename(&paths[0], fleet.folder.join("c.data")).expect("renamed");
    let other = ["-j", "2", "--no-cache", "--program", &script, "c.data"];
    let renamed = fleet.convert(&other).expect_status(0).lines();
    assert_eq!(renamed[0]["path"], fleet.folder.join("c.data").to_str().expect("UTF-8"));
    assert_eq!(renamed[0]["opts"].as_str(), Some(&*opts(&first)));
    // Other options have other rows.
    let ran = fleet.convert(&["--no-symbols", "b.data"]).expect_status(0);
    assert_ne!(opts(&ran.lines()), opts(&first));
    assert_eq!(fleet.files().len(), 6);
}

#[test]
fn lists_are_lines_or_separated_by_null_bytes() {
    let fleet = Fleet::new("list");
    fleet.add("inlines-gcc", "a b.data");
    fleet.add("two-events", "c\nd.data");
    fleet.add("syscalls", "e.data");
    std::fs::write(fleet.folder.join("lines"), "a b.data\n\ne.data").expect("written");
    let manifests = fleet.convert(&["--list", "lines", "--at-once", "1"]).expect_status(0).lines();
    assert_eq!(column(&manifests, "samples"), ["35", "48"]);
    let ran = fleet.convert_with_input(&["-0", "--list", "-"], b"c\nd.data\0").expect_status(0);
    assert_eq!(column(&ran.lines(), "samples"), ["52"]);
    // Arguments come first.
    let both = ["--at-once", "1", "--null", "--list", "-", "e.data"];
    let ran = fleet.convert_with_input(&both, b"a b.data").expect_status(0);
    assert_eq!(column(&ran.lines(), "samples"), ["48", "35"]);
    let ran = fleet.convert_with_input(&["--list", "-"], b"").expect_status(0);
    assert_eq!((ran.text(), &*ran.stderr), ("", "no recordings\n"));
}

#[test]
fn wrong_calls_convert_nothing() {
    let fleet = Fleet::new("calls");
    fleet.add("inlines-gcc", "a.data");
    for (arguments, message) in [
        (&[][..], "the following required arguments were not provided"),
        (&["-0", "a.data"], "--list <FILE>"),
        (&["--list", "absent"], "--list absent"),
        (&["--watch", "absent"], "cannot watch absent"),
        (&["--redo", "good", "a.data"], "[possible values: ok, damaged, not-a-recording"),
        (&["--timeout=-1", "a.data"], "expected a number of seconds"),
        (&["--at-once", "0", "a.data"], "--at-once"),
        (&["--debug-dir", "absent", "a.data"], "--debug-dir absent: not a directory"),
        (&["--map-file", "absent", "a.data"], "absent"),
        (&["--kernel-frames", "a.data"], "--kernel-frames has no effect"),
    ] {
        let ran = fleet.convert(arguments).expect_status(2);
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
        assert_eq!((ran.text(), fleet.files()), ("", vec![]), "{arguments:?}");
    }
    std::fs::write(fleet.folder.join("out"), "a file").expect("written");
    let ran = fleet.convert(&["a.data"]).expect_status(2);
    assert!(ran.stderr.contains("unwind-perf: cannot write out/v2: "), "{}", ran.stderr);
}

#[test]
fn two_converts_at_once_have_one_result() {
    let fleet = Fleet::new("at-once");
    let names = ["inlines-gcc", "two-events", "syscalls", "plt"];
    let list: Vec<_> = names
        .iter()
        .map(|name| fleet.add(name, &format!("{name}.data")).display().to_string())
        .collect();
    std::fs::write(fleet.folder.join("list"), list.join("\n")).expect("written");
    let files = sysroot();
    let words = ["convert", "--out", "out", "--list", "list", "--at-once", "2", "--sysroot"];
    let words = [&words[..], &[files.to_str().expect("UTF-8")]].concat();
    let start = |_| command(&fleet.folder, &words).spawn().expect("the command starts");
    let started: Vec<_> = (0..3).map(start).collect();
    let ran: Vec<_> = started.into_iter().map(|child| finish(child).expect_status(0)).collect();
    let parts = |ran: &crate::support::run::Ran| {
        column(&ran.lines(), "part").into_iter().collect::<BTreeSet<_>>()
    };
    assert_eq!(parts(&ran[0]).len(), 4);
    assert!(ran.iter().all(|other| parts(other) == parts(&ran[0])));
    assert_eq!(fleet.files().len(), 8);
}

/// Its options are those of the Python package, as JSON.
#[test]
fn options_can_be_json() {
    let fleet = Fleet::new("json");
    fleet.add("inlines-gcc", "a.data");
    let first = fleet.convert(&["a.data"]).expect_status(0).lines();
    let json = serde_json::json!({ "sysroot": sysroot(), "jobs": 3 }).to_string();
    std::fs::write(fleet.folder.join("options"), json).expect("written");
    let words = ["convert", "--out", "out", "--options-json", "options", "a.data"];
    let ran = crate::support::run::run(&fleet.folder, &words).expect_status(0);
    assert!(ran.stderr.contains("(1 converted earlier)"), "{}", ran.stderr);
    assert_eq!(ran.lines(), first);
}
