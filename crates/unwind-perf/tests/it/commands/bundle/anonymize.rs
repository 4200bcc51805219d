//! `bundle --anonymize`: the bundle contains no name of the machine, and the functions are those of the recording.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::cases::root;
use crate::support::run::{Ran, empty_folder, run};

/// Creates the anonymous bundle of a case in a separate folder, and checks that the command succeeds without a warning.
fn anonymous(case: &str) -> PathBuf {
    let (folder, ran) = anonymized(case);
    let ran = ran.expect_status(0);
    assert!(ran.stderr.contains("are pseudonyms"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("passwords"), "{}", ran.stderr);
    folder
}

/// Returns the folder with the bundle, and the run of the command.
fn anonymized(case: &str) -> (PathBuf, Ran) {
    let folder = empty_folder(&format!("anonymous-{case}"));
    let output = folder.join("a.upb");
    let recording = format!("testdata/cases/{case}/perf.data");
    let output = output.to_str().expect("a name");
    let arguments =
        ["bundle", &recording, "--sysroot", "testdata/sysroot", "--anonymize", "-o", output];
    let ran = run(root(), &arguments);
    (folder, ran)
}

/// Returns all bytes of a bundle.
fn unpacked(folder: &Path) -> Vec<u8> {
    let packed = fs::read(folder.join("a.upb")).expect("the bundle");
    zstd::stream::decode_all(&*packed).expect("zstd")
}

/// Returns the samples of the recording itself, without frames from other samples.
fn samples(case: &str) -> Vec<serde_json::Value> {
    let recording = format!("testdata/cases/{case}/perf.data");
    let arguments = ["-q", "-f", "ndjson", "--no-join", &recording];
    let files = ["--sysroot", "testdata/sysroot"];
    run(root(), &[&arguments[..], &files].concat()).expect_status(0).lines()
}

/// Returns the names in samples: of threads, and of modules and source files with the last parts of their paths.
fn names(samples: &[serde_json::Value]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for sample in samples {
        names.insert(sample["comm"].as_str().expect("a name").to_owned());
        for frame in sample["frames"].as_array().expect("frames") {
            for path in [&frame["module"], &frame["file"]].iter().filter_map(|it| it.as_str()) {
                if path.starts_with('/') {
                    names.insert(path.to_owned());
                    names.extend(path.rsplit('/').next().map(str::to_owned));
                }
            }
        }
    }
    names
}

/// Returns the name of a function, without the file if the name consists of a file and an offset.
fn function(frame: &serde_json::Value) -> &str {
    let name = frame["function"].as_str().unwrap_or_default();
    name.find(".so").and_then(|at| Some(&name[at + name[at..].find("+0x")?..])).unwrap_or(name)
}

/// Returns the data that do not depend on names: times, addresses, functions.
fn facts(sample: &serde_json::Value) -> String {
    // Such a bundle does not contain the code that shows tail calls.
    let is_kept = |frame: &&serde_json::Value| frame["found_by"] != "tail-call";
    let frames = sample["frames"].as_array().expect("frames").iter().filter(is_kept).map(|frame| {
        format!("{} {} {} {}", frame["addr"], function(frame), frame["line"], frame["build_id"])
    });
    let frames: Vec<_> = frames.collect();
    format!("{} {} {} {frames:?}", sample["time_ns"], sample["tid"], sample["period"])
}

#[test]
fn names_of_the_machine_are_not_in_it() {
    for case in ["inlines-gcc", "recursion-rs", "plt", "two-events", "aarch64-chain", "dlopen"] {
        let folder = anonymous(case);
        let here = samples(case);
        let bytes = unpacked(&folder);
        let has = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        let info = run(root(), &["info", &format!("testdata/cases/{case}/perf.data")]);
        let info = info.expect_status(0);
        let host = info.text().lines().find_map(|line| line.strip_prefix("hostname"));
        let host = host.map(|it| it.trim_matches([' ', ':']).to_owned());
        let all = names(&here);
        assert!(all.len() > 2, "{all:?}");
        // Words that also occur in functions, such as `complex` in the C++ library, prove nothing.
        let telling = |name: &&str| name.contains(['/', '.', '-']);
        for name in all.iter().chain(&host).map(String::as_str).filter(telling) {
            assert!(!has(name), "{case}: {name}");
        }
        for word in ["unwind-perf-testdata", "/usr/include", "perf record", "call-graph"] {
            assert!(!has(word), "{case}: {word}");
        }
        let there = run(&folder, &["-q", "-f", "ndjson", "a.upb"]).expect_status(0).lines();
        assert!(here.len() > 10);
        assert_eq!(
            there.iter().map(facts).collect::<Vec<_>>(),
            here.iter().map(facts).collect::<Vec<_>>(),
            "{case}"
        );
    }
}

#[test]
fn every_command_reads_it() {
    let folder = anonymous("exceptions");
    let first = run(&folder, &["-q", "a.upb"]).expect_status(0);
    for jobs in ["1", "7"] {
        let again = run(&folder, &["-q", "--jobs", jobs, "a.upb"]).expect_status(0);
        assert!(first.stdout == again.stdout);
    }
    for arguments in [
        &["-q", "-f", "perf-script", "a.upb"][..],
        &["-q", "-f", "folded", "a.upb"],
        &["top", "-q", "a.upb"],
        &["report", "-q", "-o", "/dev/stdout", "a.upb"],
        &["info", "a.upb"],
        &["dump", "a.upb"],
        &["maps", "a.upb"],
        &["buildid-list", "a.upb"],
        &["diff", "a.upb", "a.upb"],
    ] {
        let ran = run(&folder, arguments).expect_status(0);
        assert!(!ran.stdout.is_empty(), "{arguments:?}");
    }
    let refused = run(&folder, &["bundle", "--anonymize", "--whole", "a.upb", "-o", "b.upb"]);
    assert!(refused.expect_status(2).stderr.contains("cannot be used with"));
}

/// Checks that functions of a jitdump are in the list of their process. If memory was reused for another function, the
/// list cannot distinguish the two: the function has no name, and the command reports that.
#[test]
fn code_of_compilers_keeps_its_names() {
    let (folder, ran) = anonymized("jit");
    let ran = ran.expect_status(1);
    assert!(ran.stderr.contains("14 of 21 samples have other frames or names"), "{}", ran.stderr);
    let samples = run(&folder, &["-q", "-f", "ndjson", "a.upb"]).expect_status(0).lines();
    let named = |name: &str| {
        let has = |sample: &serde_json::Value| {
            let frames = sample["frames"].as_array().expect("frames");
            frames.iter().any(|frame| frame["function"] == name)
        };
        samples.iter().filter(|&sample| has(sample)).count()
    };
    assert_eq!(["target", "first", "second"].map(named), [21, 7, 0]);
}
