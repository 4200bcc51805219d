//! Options for incomplete callchains: frames of other samples, and a limit.

use std::collections::BTreeMap;

use crate::support::cases::{Case, root};
use crate::support::run::{empty_folder, run};

/// Returns the number of samples by end reason.
fn ends(arguments: &[&str]) -> BTreeMap<String, u64> {
    let mut ends = BTreeMap::new();
    let arguments = [&["-q", "-f", "ndjson"], arguments].concat();
    for sample in Case::named("deep").run(&arguments).expect_status(0).lines() {
        *ends.entry(sample["end"].as_str().expect("a reason").to_owned()).or_default() += 1;
    }
    ends
}

#[test]
fn without_frames_of_other_samples_chains_end_where_the_dump_does() {
    let own = [("root", 5), ("stack-exhausted", 32)].map(|(end, n)| (end.to_owned(), n));
    assert_eq!(ends(&["--no-join"]), BTreeMap::from(own));
    let ran = Case::named("deep").run(&["-q", "--no-join"]).expect_status(0).json();
    assert_eq!(ran["summary"]["samples_joined"], 0);
    assert_eq!(ran["summary"]["samples_with_gap"], 0);
    assert!(!ends(&["--join", "exact"]).contains_key("root-across-gap"));
}

#[test]
fn every_command_that_unwinds_takes_the_options() {
    let folder = empty_folder("joins");
    let case = root().join("testdata/cases/plt/perf.data");
    let case = case.to_str().expect("UTF-8");
    for command in [&["flamegraph"][..], &["report"], &[]] {
        for option in [&["--no-join"][..], &["--join", "exact"], &["--join=gaps"]] {
            let rest = [case, "-q", "-o", "x", "--fail-if-incomplete", "100"];
            run(&folder, &[command, option, &rest].concat()).expect_status(0);
        }
    }
    let both = run(root(), &[case, "--no-join", "--join", "exact"]).expect_status(2).stderr;
    assert!(both.contains("cannot be used with"), "{both}");
}

/// 15 of the 30 chains of this case are incomplete: exactly 50 %.
#[test]
fn too_much_that_is_incomplete_fails_after_the_output() {
    let case = Case::named("anon");
    let limited = |format: &str, limit: &str| {
        case.run(&["-q", "--no-join", "-f", format, "--fail-if-incomplete", limit])
    };
    for format in ["folded", "json", "hotspot"] {
        let output = case.run(&["-q", "--no-join", "-f", format]).expect_status(0).stdout;
        for limit in ["50", "50.0", "50.000000001", "100"] {
            let ran = limited(format, limit).expect_status(0);
            assert!(ran.stdout == output && ran.stderr.is_empty(), "{format}, {limit}");
        }
        for limit in ["49.999999999", "49", "0"] {
            let ran = limited(format, limit).expect_status(1);
            assert!(ran.stdout == output, "{format}: the output is written all the same");
            let expected = format!(
                "unwind-perf: 15 of 30 samples (50.00 %) have incomplete callchains, more than the \
                 {limit} % of --fail-if-incomplete\n"
            );
            assert_eq!(ran.stderr, expected);
        }
    }
    let complete = Case::named("plt").run(&["-q", "--fail-if-incomplete", "0"]);
    assert_eq!(complete.expect_status(0).stderr, "");
}

#[test]
fn limits_are_numbers_of_percent() {
    for limit in ["", "x", "101", "100.1", "5%", "1e1", "nan"] {
        let argument = format!("--fail-if-incomplete={limit}");
        let ran = Case::named("plt").run(&["-q", &argument]).expect_status(2);
        let expected = "expected a number from 0 to 100, such as 5 or 0.5";
        assert!(ran.stdout.is_empty(), "{limit}");
        assert!(ran.stderr.contains(expected) || limit.is_empty(), "{limit}: {}", ran.stderr);
    }
    Case::named("plt").run(&["-q", "--fail-if-incomplete", "-1"]).expect_status(2);
}
