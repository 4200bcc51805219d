//! Recordings that are damaged, missing or none, and runs that end before their time.

use super::{Fleet, column};
use crate::support::run::run;

#[test]
fn defects_of_a_recording_are_in_its_manifest() {
    let fleet = Fleet::new("defects");
    let whole = std::fs::read(fleet.add("inlines-gcc", "whole.data")).expect("a file");
    std::fs::write(fleet.folder.join("cut.data"), &whole[..whole.len() * 3 / 4]).expect("written");
    std::fs::write(fleet.folder.join("junk"), "no recording").expect("written");
    let words = ["--at-once", "1", "whole.data", "cut.data", "junk", "absent", "."];
    let ran = fleet.convert(&words).expect_status(1);
    let manifests = ran.lines();
    let statuses = ["ok", "damaged", "not-a-recording", "unreadable", "unreadable"];
    assert_eq!(column(&manifests, "status"), statuses);
    assert_eq!(column(&manifests, "attempts"), ["1", "1", "1", "0", "0"]);
    let messages = column(&manifests, "message");
    assert!(messages[1].starts_with("the recording is damaged: the file is truncated"));
    assert!(messages[2].contains("not a perf recording"), "{}", messages[2]);
    assert!(messages[3].ends_with("absent: No such file or directory (os error 2)"));
    assert_eq!(manifests[1]["findings"][0]["kind"], "data-cut");
    assert_eq!(column(&manifests, "part")[2..], ["null", "null", "null"]);
    assert_eq!(column(&manifests, "recording_sha256")[3..], ["null", "null"]);
    let counts = "5 recordings: 1 ok, 1 damaged, 1 not-a-recording, 2 unreadable, ";
    assert!(ran.stderr.starts_with(counts), "{}", ran.stderr);
    // Two parts, three manifests.
    assert_eq!(fleet.files().len(), 5);
    let script = fleet.script("exit 99");
    let words = ["--program", &script, "cut.data", "junk"];
    let again = fleet.convert(&words).expect_status(1);
    assert!(again.stderr.contains("(2 converted earlier)"), "{}", again.stderr);
}

#[test]
fn filters_without_samples_are_ok() {
    let fleet = Fleet::new("filters");
    fleet.add("two-events", "a.data");
    for filter in [["--pid", "1"], ["--event", "absent"]] {
        let manifests =
            fleet.convert(&[&filter[..], &["a.data"]].concat()).expect_status(0).lines();
        assert_eq!((&manifests[0]["samples"], &manifests[0]["status"]), (&0.into(), &"ok".into()));
        assert!(manifests[0]["part_bytes"].as_u64().expect("a size") > 0);
    }
    let two = ["--event", "absent", "--event", "cpu-clock", "a.data"];
    let manifests = fleet.convert(&two).expect_status(1).lines();
    assert_eq!(manifests[0]["status"], "unreadable");
}

#[test]
fn an_unreadable_recording_is_tried_again() {
    let fleet = Fleet::new("unreadable");
    fleet.add("inlines-gcc", "a.data");
    let failing = r#"echo '{"error":"run","message":"the disk failed"}' >&2; exit 2"#;
    let script = fleet.script(failing);
    let manifests = fleet.convert(&["--program", &script, "a.data"]).expect_status(1).lines();
    assert_eq!(manifests[0]["status"], "unreadable");
    assert_eq!(manifests[0]["message"], "the disk failed");
    let manifests = fleet.convert(&["a.data"]).expect_status(0).lines();
    assert_eq!((&manifests[0]["status"], &manifests[0]["attempts"]), (&"ok".into(), &1.into()));
    assert_eq!(fleet.files().len(), 2);
}

#[test]
fn a_killed_run_is_repeated() {
    let fleet = Fleet::new("killed");
    fleet.add("inlines-gcc", "a.data");
    let script = fleet
        .script("echo run >> runs; [ $(wc -l < runs) -lt 3 ] && kill -9 $$; exec \"$REAL\" \"$@\"");
    let manifests = fleet.convert(&["--program", &script, "a.data"]).expect_status(0).lines();
    assert_eq!(manifests[0]["attempts"], 3);
    let killed = fleet.script("kill -9 $$");
    let words = ["--program", &killed, "--retries", "1", "--redo", "ok", "a.data"];
    let manifests = fleet.convert(&words).expect_status(1).lines();
    assert_eq!(
        (&manifests[0]["status"], &manifests[0]["attempts"]),
        (&"gave-up".into(), &2.into())
    );
    assert_eq!(manifests[0]["message"], "the program ended with status -9");
    assert_eq!(manifests[0]["part"], serde_json::Value::Null);
    // The next call succeeds, without a wish to repeat it.
    assert_eq!(fleet.convert(&["a.data"]).expect_status(0).lines()[0]["status"], "ok");
}

#[test]
fn a_long_run_is_killed() {
    let fleet = Fleet::new("timeout");
    fleet.add("inlines-gcc", "a.data");
    let script = fleet.script("exec sleep 100");
    let words = ["--program", &script, "--timeout", "0.25", "--retries", "1", "a.data"];
    let manifests = fleet.convert(&words).expect_status(1).lines();
    assert_eq!(
        (&manifests[0]["status"], &manifests[0]["attempts"]),
        (&"gave-up".into(), &2.into())
    );
    assert_eq!(manifests[0]["message"], "the run took longer than 0.25 seconds");
    let words = ["--timeout", "0.000001", "--retries", "0", "a.data"];
    let manifests = fleet.convert(&words).expect_status(1).lines();
    assert_eq!(manifests[0]["message"], "the run took longer than 0.000001 seconds");
}

#[test]
fn a_recording_that_changes_has_no_rows() {
    let fleet = Fleet::new("grows");
    fleet.add("inlines-gcc", "a.data");
    let script = fleet.script("\"$REAL\" \"$@\"; for last; do :; done; printf x >> \"$last\"");
    let manifests = fleet.convert(&["--program", &script, "a.data"]).expect_status(1).lines();
    assert_eq!(manifests[0]["status"], "gave-up");
    assert_eq!(manifests[0]["message"], "the recording changed while it was read");
}

#[test]
fn final_outcomes_are_converted_again_on_request() {
    let fleet = Fleet::new("redo");
    fleet.add("inlines-gcc", "a.data");
    std::fs::write(fleet.folder.join("junk"), "no recording").expect("written");
    fleet.convert(&["a.data", "junk"]).expect_status(1);
    for (redo, earlier) in [("ok", 1), ("damaged", 2), ("ok,not-a-recording", 0)] {
        let ran = fleet.convert(&["--redo", redo, "a.data", "junk"]).expect_status(1);
        let expected = format!("({earlier} converted earlier)");
        assert_eq!(ran.stderr.contains(&expected), earlier > 0, "{redo}: {}", ran.stderr);
    }
    assert_eq!(fleet.files().len(), 3);
}

#[test]
fn incomplete_results_are_made_again() {
    let fleet = Fleet::new("incomplete");
    fleet.add("inlines-gcc", "a.data");
    let first = fleet.convert(&["a.data"]).expect_status(0).lines();
    let part = fleet.folder.join("out").join(first[0]["part"].as_str().expect("a path"));
    let manifest = part.with_file_name("_manifest.json");
    let spoil: [&dyn Fn(); 5] = [
        &|| std::fs::remove_file(&part).expect("a file"),
        &|| std::fs::write(&part, "PAR1").expect("a file"),
        &|| std::fs::remove_file(&manifest).expect("a file"),
        &|| std::fs::write(&manifest, "{").expect("a file"),
        &|| std::fs::write(&manifest, "[]").expect("a file"),
    ];
    for spoil in spoil {
        spoil();
        let ran = fleet.convert(&["a.data"]).expect_status(0);
        assert!(!ran.stderr.contains("earlier"), "{}", ran.stderr);
        assert_eq!(ran.lines()[0]["part_bytes"], first[0]["part_bytes"]);
    }
}

/// A wrong call and a missing file of an option concern all recordings: no manifest states them.
#[test]
fn errors_of_the_call_end_the_run() {
    let fleet = Fleet::new("call");
    fleet.add("inlines-gcc", "a.data");
    let gone = fleet.folder.join("gone");
    let line = format!(r#"{{"error":"missing","message":"gone","path":"{}"}}"#, gone.display());
    for line in [&*line, r#"{"error":"call","message":"wrong"}"#] {
        let script = fleet.script(&format!("echo '{line}' >&2; exit 2"));
        let ran = fleet.convert(&["--program", &script, "a.data"]).expect_status(2);
        assert_eq!((ran.text(), fleet.files()), ("", vec![]));
        assert!(["unwind-perf: gone\n", "unwind-perf: wrong\n"].contains(&&*ran.stderr));
    }
    // A file of the recording that vanished is its fault.
    let part = fleet.folder.join("a.data/data.7");
    let line = format!(r#"{{"error":"missing","message":"gone","path":"{}"}}"#, part.display());
    let script = fleet.script(&format!("echo '{line}' >&2; exit 2"));
    let manifests = fleet.convert(&["--program", &script, "a.data"]).expect_status(1).lines();
    assert_eq!(
        (&manifests[0]["status"], &manifests[0]["message"]),
        (&"unreadable".into(), &"gone".into())
    );
    // The command without a tree reports it the same way.
    let ran = run(&fleet.folder, &["a.data", "--sysroot", "absent"]).expect_status(2);
    assert_eq!(ran.stderr, "unwind-perf: --sysroot absent: not a directory\n");
}

#[test]
fn urls_are_refused_if_they_cannot_be_read() {
    let fleet = Fleet::new("urls");
    let watched = fleet.convert(&["--watch", "s3://b/x"]).expect_status(2);
    let expected = "unwind-perf: --watch takes a folder of this host, and no s3:// URL\n";
    assert_eq!(watched.stderr, expected);
    if cfg!(feature = "urls") {
        return;
    }
    // A signed URL is not printed.
    let expected =
        "unwind-perf: this build cannot read https:// URLs; build it with the cargo feature urls\n";
    let ran = fleet.convert(&["https://h/x?secret"]).expect_status(2);
    assert_eq!((ran.text(), &*ran.stderr), ("", expected));
    let ran = fleet.convert_with_input(&["--list", "-"], b"https://h/x?secret\n");
    assert_eq!(ran.expect_status(2).stderr, expected);
    let ran = run(&fleet.folder, &["convert", "--out", "https://h/x", "a.data"]).expect_status(2);
    assert_eq!(ran.stderr, expected);
}
