//! `bundle`: a bundle gives the same result without the files as the recording with them.

mod anonymize;
mod repacked;

use std::fs;
use std::path::PathBuf;

use synth::{RecordingParts, big_endian_copy};

use crate::support::cases::root;
use crate::support::run::{Ran, empty_folder, run, run_with_input};

/// Creates an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    empty_folder(&format!("bundle-{name}"))
}

/// Bundles a case from the root of the repository; the folder contains only the bundle.
fn bundled(case: &str, name: &str, options: &[&str]) -> PathBuf {
    let folder = folder(name);
    let output = folder.join("a.upb");
    let recording = format!("testdata/cases/{case}/perf.data");
    let arguments = ["bundle", &recording, "--sysroot", "testdata/sysroot", "-o"];
    let arguments = [&arguments, &[output.to_str().expect("a name")][..], options].concat();
    let ran = run(root(), &arguments).expect_status(0);
    assert!(ran.stdout.is_empty());
    assert!(ran.stderr.contains("It gave the same result as the recording."), "{}", ran.stderr);
    assert!(ran.stderr.contains("can contain passwords"), "{}", ran.stderr);
    folder
}

#[test]
fn all_commands_give_the_same() {
    for (case, name) in [("inlines-gcc", "gcc"), ("recursion-rs", "rs"), ("spin-lld", "lld")] {
        let folder = bundled(case, name, &[]);
        let recording = format!("testdata/cases/{case}/perf.data");
        for arguments in [
            &["-q", "-f", "json"][..],
            &["-q", "-f", "json", "--jobs", "1"],
            &["-q", "-f", "json", "--jobs", "16"],
            &["-q", "-f", "ndjson"],
            &["-q", "-f", "perf-script"],
            &["-q", "-f", "folded", "--no-inline"],
            &["top", "-q", "--by", "line"],
            &["report", "-q", "-o", "/dev/stdout"],
            &["info"],
            &["dump"],
            &["buildid-list", "--with-hits"],
        ] {
            let takes_files = !matches!(arguments[0], "info" | "dump" | "buildid-list");
            let files: &[&str] = if takes_files { &["--sysroot", "testdata/sysroot"] } else { &[] };
            let there = run(&folder, &[arguments, &["a.upb"]].concat()).expect_status(0);
            let here = run(root(), &[arguments, &[&recording], files].concat()).expect_status(0);
            assert!(there.stdout == here.stdout, "{case}: {arguments:?}");
        }
        let diff = run(&folder, &["diff", "a.upb", "a.upb"]).expect_status(0);
        assert!(!diff.stdout.is_empty());
    }
}

#[test]
fn whole_files_are_the_same_files() {
    let folder = bundled("inlines-gcc", "whole", &["--whole"]);
    let size = |name: &str| fs::metadata(folder.join(name)).expect("a bundle").len();
    let needed = bundled("inlines-gcc", "needed", &[]);
    assert!(size("a.upb") > fs::metadata(needed.join("a.upb")).expect("a bundle").len());
}

#[test]
fn what_cannot_be_bundled_is_an_error() {
    let folder = bundled("spin-lld", "errors", &[]);
    for (arguments, expected) in [
        (&["bundle", "a.upb", "-o", "b.upb"][..], "a.upb is already a bundle"),
        (&["bundle", "-", "-o", "b.upb"], "- can be read only once"),
        (&["bundle", "none.data", "-o", "b.upb"], "cannot read none.data"),
        (&["bundle", "a.upb", "-o", "a.upb"], "a.upb is"),
        (
            &["a.upb", "--sysroot", "."],
            "a.upb is a bundle with its own files; --sysroot has no effect",
        ),
        (&["maps", "a.upb", "--extra-dir", "."], "--extra-dir has no effect"),
    ] {
        let ran = run(&folder, arguments).expect_status(2);
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1);
}

#[test]
fn damaged_bundles_are_errors() {
    let folder = bundled("spin-lld", "damaged", &[]);
    let good = fs::read(folder.join("a.upb")).expect("the bundle");
    for len in [good.len() / 2, good.len() - 1] {
        fs::write(folder.join("cut.upb"), &good[..len]).expect("a file");
        for command in
            [&["-q", "cut.upb"][..], &["info", "cut.upb"], &["report", "cut.upb", "-o", "r.html"]]
        {
            let ran = run(&folder, command).expect_status(2);
            assert!(
                ran.stderr.contains("cannot read cut.upb: the bundle is damaged or truncated"),
                "{}",
                ran.stderr
            );
        }
    }
}

/// Returns the addresses of the frames of all samples, innermost first.
fn chains(json: &serde_json::Value) -> Vec<Vec<String>> {
    let lines = json.as_array().expect("samples");
    let chain = |sample: &serde_json::Value| {
        let frames = sample["frames"].as_array().expect("frames");
        frames.iter().map(|frame| frame["addr"].to_string()).collect()
    };
    lines.iter().map(chain).collect()
}

#[test]
fn without_stacks_the_chains_are_the_same() {
    for case in ["inlines-gcc", "recursion-rs", "spin-lld"] {
        let folder = folder(&format!("no-stacks-{case}"));
        let output = folder.join("a.upb");
        let recording = format!("testdata/cases/{case}/perf.data");
        let arguments =
            ["bundle", &recording, "--sysroot", "testdata/sysroot", "--no-stacks", "-o"];
        let ran = run(root(), &[&arguments, &[output.to_str().expect("a name")][..]].concat());
        let ran = ran.expect_status(0);
        assert!(ran.stderr.contains("stacks are omitted"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("passwords"), "{}", ran.stderr);
        let options = ["-q", "-f", "ndjson", "--no-inline", "--no-join"];
        let there = run(&folder, &[&options[..], &["a.upb"]].concat()).expect_status(0);
        let files = [&recording[..], "--sysroot", "testdata/sysroot"];
        let here = run(root(), &[&options[..], &files].concat()).expect_status(0);
        let all = |ran: &Ran| chains(&serde_json::Value::Array(ran.lines()));
        assert!(all(&here).iter().map(Vec::len).sum::<usize>() > 100, "{case}");
        assert_eq!(all(&there), all(&here), "{case}");
        let dump = run(&folder, &["dump", "--full", "a.upb"]).expect_status(0);
        assert!(!dump.text().contains("rsp"), "{case}");
    }
}

/// Checks that a recording without its stacks is the same in every container.
#[test]
fn stacks_are_left_out_of_all_forms() {
    let folder = folder("forms");
    let bytes = fs::read(root().join("testdata/cases/spin-lld/perf.data")).expect("a recording");
    let parts = RecordingParts::read(&bytes).expect("a plain file");
    let (data, rest) = parts.directory(2, Some(2000));
    fs::create_dir_all(folder.join("directory")).expect("a folder");
    fs::write(folder.join("directory/data"), data).expect("a file");
    for (number, part) in rest.iter().enumerate() {
        fs::write(folder.join(format!("directory/data.{number}")), part).expect("a file");
    }
    fs::write(folder.join("compressed"), parts.compressed(3000)).expect("a file");
    fs::write(folder.join("pipe"), parts.pipe()).expect("a file");
    fs::write(folder.join("big-endian"), big_endian_copy(&bytes).expect("known")).expect("a file");
    let sysroot = root().join("testdata/sysroot");
    let sysroot = sysroot.to_str().expect("a name");
    let options = ["-q", "-f", "ndjson", "--no-inline", "--no-join"];
    for form in ["directory", "compressed", "pipe", "big-endian"] {
        for option in ["--no-stacks", "--anonymize"] {
            let output = format!("{form}{option}.upb");
            let bundle = ["bundle", form, "--sysroot", sysroot, option, "-o", &output];
            run(&folder, &bundle).expect_status(0);
            let there = run(&folder, &[&options[..], &[&output]].concat()).expect_status(0);
            let files = [form, "--sysroot", sysroot];
            let here = run(&folder, &[&options[..], &files].concat()).expect_status(0);
            let all = |ran: &Ran| chains(&serde_json::Value::Array(ran.lines()));
            assert!(all(&here).iter().map(Vec::len).sum::<usize>() > 100, "{form}");
            assert_eq!(all(&there), all(&here), "{form} {option}");
        }
    }
}

#[test]
fn bundles_come_by_standard_input() {
    let folder = bundled("spin-lld", "stdin", &[]);
    let bundle = fs::read(folder.join("a.upb")).expect("the bundle");
    for arguments in
        [&["-q", "-f", "json"][..], &["-q", "-f", "ndjson"], &["top", "-q"], &["info"], &["dump"]]
    {
        let by_name = run(&folder, &[arguments, &["a.upb"]].concat()).expect_status(0);
        let piped = run_with_input(&folder, &[arguments, &["-"]].concat(), &bundle);
        let piped = piped.expect_status(0);
        assert!(piped.stdout == by_name.stdout, "{arguments:?}");
    }
    let cut = run_with_input(&folder, &["-q", "-"], &bundle[..bundle.len() - 1]);
    let cut = cut.expect_status(2);
    assert!(
        cut.stderr.contains("cannot read -: the bundle is damaged or truncated"),
        "{}",
        cut.stderr
    );
}
