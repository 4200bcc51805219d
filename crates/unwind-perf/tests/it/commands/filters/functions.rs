//! Filters of functions mean the same in each command and format as in `top`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::cases::{Case, formats, sysroot};
use crate::support::run::{Ran, empty_folder, run, run_with_input};

/// Samples by function: own and inclusive.
type Costs = BTreeMap<String, (u64, u64)>;

/// Filters, each with the number of samples that they leave of `recursion-rs`, which has 41.
const FILTERS: &[(&[&str], u64)] = &[
    (&["--focus", "rotate_left$"], 4),
    (&["--ignore", "rotate_left$"], 37),
    (&["--hide", "^core::|^<"], 41),
    (&["--hide", "^core::|^<", "--collapse-recursion"], 41),
    (&["--charge-to-caller", "fold$"], 41),
    (&["--show-module", "/recursion-rs$", "--collapse-recursion"], 41),
    (&["--focus", "^main$", "--ignore", "rotate_left$", "--hide", "^std::"], 21),
];

/// Runs a command on a case, with the files of the cases.
fn ran(case: &str, command: &[&str], filter: &[&str]) -> Ran {
    let sysroot = sysroot();
    let files = ["--sysroot", sysroot.to_str().expect("UTF-8")];
    run(&Case::named(case).folder, &[command, &files, filter].concat())
}

/// Returns the costs in `top`. Functions of one name count once per sample, so only the largest is kept.
fn top(case: &str, filter: &[&str]) -> (u64, Costs) {
    let json = ran(case, &["top", "-q", "-f", "json"], filter).expect_status(0).json();
    let mut costs = Costs::new();
    for row in json["rows"].as_array().expect("rows") {
        let Some(name) = row["function"].as_str() else { continue };
        let number = |key: &str| row[key].as_u64().expect("a number");
        let known = costs.entry(name.to_owned()).or_default();
        known.0 += number("own_samples");
        known.1 = known.1.max(number("inclusive_samples"));
    }
    (json["samples"].as_u64().expect("a number"), costs)
}

/// Returns the costs of stacks, each from the innermost function on, with its number of samples.
fn costs(stacks: &[(Vec<String>, u64)]) -> (u64, Costs) {
    let mut costs = Costs::new();
    for (stack, samples) in stacks {
        if let Some(leaf) = stack.first().filter(|name| !name.is_empty()) {
            costs.entry(leaf.clone()).or_default().0 += samples;
        }
        let mut names: Vec<&String> = stack.iter().filter(|name| !name.is_empty()).collect();
        names.sort();
        names.dedup();
        for name in names {
            costs.entry(name.clone()).or_default().1 += samples;
        }
    }
    (stacks.iter().map(|(_, samples)| samples).sum(), costs)
}

fn lines(case: &str, filter: &[&str]) -> Vec<(Vec<String>, u64)> {
    let lines = ran(case, &["-q", "-f", "ndjson", "perf.data"], filter).expect_status(0).lines();
    let name = |frame: &Value| frame["function"].as_str().unwrap_or_default().to_owned();
    let frames =
        |line: &Value| line["frames"].as_array().expect("frames").iter().map(name).collect();
    lines.iter().map(|line| (frames(line), 1)).collect()
}

fn script(case: &str, filter: &[&str]) -> Vec<(Vec<String>, u64)> {
    let text = ran(case, &["-q", "-f", "perf-script", "-F", "comm,ip,sym", "perf.data"], filter);
    let text = text.expect_status(0);
    let samples = text.text().split("\n\n").filter(|sample| !sample.trim().is_empty());
    let name = |line: &str| {
        let name = line.trim().split_once(' ').map_or("", |(_, name)| name);
        name.strip_suffix(" (inlined)").unwrap_or(name).to_owned()
    };
    samples.map(|sample| (sample.lines().skip(1).map(name).collect(), 1)).collect()
}

fn folded(case: &str, filter: &[&str]) -> Vec<(Vec<String>, u64)> {
    let text = ran(case, &["-q", "-f", "folded", "perf.data"], filter).expect_status(0);
    let stack = |line: &str| {
        let (stack, count) = line.rsplit_once(' ').expect("a weight");
        let mut names: Vec<String> = stack.split(';').skip(1).map(str::to_owned).collect();
        names.reverse();
        (names, count.parse().expect("a number"))
    };
    text.text().lines().map(stack).collect()
}

fn speedscope(case: &str, filter: &[&str]) -> Vec<(Vec<String>, u64)> {
    let json = ran(case, &["-q", "-f", "speedscope", "perf.data"], filter).expect_status(0).json();
    let names: Vec<&str> = json["shared"]["frames"]
        .as_array()
        .expect("frames")
        .iter()
        .map(|frame| frame["name"].as_str().expect("a name"))
        .collect();
    let all = &json["profiles"][0];
    let stacks = all["samples"].as_array().expect("samples").iter();
    let weights = all["weights"].as_array().expect("weights").iter();
    // Stacks of several threads begin with their thread.
    let roots = usize::from(all["name"].as_str().expect("a name").starts_with("all threads"));
    let stack = |stack: &Value| -> Vec<String> {
        let frames = stack.as_array().expect("frames").iter().skip(roots).rev();
        frames.map(|at| names[at.as_u64().expect("an index") as usize].to_owned()).collect()
    };
    stacks.zip(weights).map(|(it, weight)| (stack(it), weight.as_u64().expect("one"))).collect()
}

#[test]
fn costs_are_those_of_top() {
    for &(filter, samples) in FILTERS {
        let expected = top("recursion-rs", filter);
        assert_eq!(expected.0, samples, "{filter:?}");
        for (format, stacks) in [
            ("ndjson", lines("recursion-rs", filter)),
            ("perf-script", script("recursion-rs", filter)),
            ("folded", folded("recursion-rs", filter)),
            ("speedscope", speedscope("recursion-rs", filter)),
        ] {
            assert_eq!(costs(&stacks), expected, "{format} {filter:?}");
        }
    }
    for filter in [&["--hide", "::sum<"][..], &["--focus", "lambda", "--hide", "std::"]] {
        let expected = top("inlines-gcc", filter);
        assert_eq!(costs(&lines("inlines-gcc", filter)), expected, "{filter:?}");
        assert_eq!(costs(&folded("inlines-gcc", filter)), expected, "{filter:?}");
    }
    let filter = ["--focus", "^main$", "--charge-to-caller", "spin"];
    assert_eq!(costs(&lines("fork", &filter)), top("fork", &filter));
}

/// Each format has the samples that are left, says so, and refuses an empty result.
#[test]
fn all_formats_are_filtered() {
    let folder = empty_folder("function-filters");
    for format in formats() {
        let file = folder.join(&format);
        let file = file.to_str().expect("UTF-8");
        let command = ["-f", &format, "-o", file, "perf.data"];
        let whole = ran("recursion-rs", &command, &[]).expect_status(0);
        assert!(!whole.stderr.contains("Filters"), "{format}: {}", whole.stderr);
        let before = std::fs::read(file).expect("an output");
        let left = ran("recursion-rs", &command, &["--focus", "rotate_left$"]).expect_status(0);
        let expected = "\nFilters left 4 of 41 samples.\nAll 4 stacks are complete.\n";
        assert!(left.stderr.contains(expected), "{format}: {}", left.stderr);
        let after = std::fs::read(file).expect("an output");
        assert!(after.len() < before.len(), "{format}");
        std::fs::remove_file(file).expect("a file");
        let refused = ran("recursion-rs", &command, &["--focus", "rotate_lfet"]).expect_status(2);
        let message = "unwind-perf: no function matches --focus 'rotate_lfet'; similar: \
                       <u64>::rotate_left, core::intrinsics::rotate_left\n";
        assert_eq!(refused.stderr, message, "{format}");
        assert!(!std::path::Path::new(file).exists(), "{format}");
    }
}

#[test]
fn an_empty_result_is_an_error() {
    let refused = |command: &[&str], filter: &[&str], message: &str| {
        let ran = ran("recursion-rs", command, filter).expect_status(2);
        assert_eq!(ran.stderr, format!("unwind-perf: {message}\n"), "{command:?}");
    };
    let none = "no sample passes the filters: none of 41 samples passes";
    for command in [&["top", "-q"][..], &["tree"], &["report", "-o", "x.html"], &["-f", "json"]] {
        refused(command, &["--ignore", "fold$"], &format!("{none} --ignore 'fold$'"));
    }
    let nothing = "no function matches --focus '^zzz$'; unwind-perf top lists the functions";
    refused(&["annotate", "main"], &["--focus", "^zzz$"], nothing);
    let both = ["--focus", "^main$", "--ignore", "^main$"];
    refused(&["flamegraph"], &both, &format!("{none} --focus '^main$' --ignore '^main$'"));
    refused(
        &["diff", "perf.data", "perf.data"],
        &["--focus", "^zzz$"],
        &format!("perf.data: {nothing}"),
    );
}

/// The lines of a function have the cost of the remaining stacks only.
#[test]
fn annotated_lines_are_of_the_remaining_stacks() {
    let head = |filter: &[&str]| {
        let command = ["annotate", "-q", "--no-code", "recursion::work"];
        let text = ran("recursion-rs", &command, filter).expect_status(0);
        text.text().lines().take(3).collect::<Vec<_>>().join("\n")
    };
    let (whole, left) = (head(&[]), head(&["--focus", "rotate_left$"]));
    assert!(whole.contains("41 samples"), "{whole}");
    assert!(left.contains("4 samples"), "{left}");
}

/// Both recordings are filtered; the duration stays that of the whole recording.
#[test]
fn differences_are_of_the_remaining_stacks() {
    let diff = |filter: &[&str]| {
        let command = ["diff", "-q", "-f", "json", "perf.data", "perf.data"];
        ran("recursion-rs", &command, filter).expect_status(0).json()
    };
    let (whole, left) = (diff(&[]), diff(&["--focus", "rotate_left$", "--hide", "^core::"]));
    assert_eq!(whole["filters"], Value::Null);
    assert_eq!(left["filters"], serde_json::json!(["focus rotate_left$", "hide ^core::"]));
    for side in ["before", "after"] {
        let run = &left[side]["recordings"][0];
        assert_eq!(run["samples"], 4);
        assert_eq!(run["seconds"], whole[side]["recordings"][0]["seconds"]);
    }
    let names = |json: &Value| {
        let name = |row: &Value| row["name"].as_str().unwrap_or_default().to_owned();
        json["functions"].as_array().expect("rows").iter().map(name).collect::<Vec<_>>()
    };
    assert!(names(&whole).iter().any(|name| name.starts_with("core::")));
    assert!(!names(&left).iter().any(|name| name.starts_with("core::")));
}

/// A stream is printed at its end if it is filtered, and the same as a file.
#[test]
fn a_filtered_stream_is_that_of_the_file() {
    let case = Case::named("recursion-rs");
    let filter = ["-q", "-f", "ndjson", "--focus", "rotate_left$"];
    let file = case.run(&filter).expect_status(0);
    let sysroot = sysroot();
    let files = ["-", "--sysroot", sysroot.to_str().expect("UTF-8")];
    let arguments = [&files, &filter[..]].concat();
    let piped = run_with_input(&case.folder, &arguments, &case.bytes()).expect_status(0);
    assert_eq!(piped.text(), file.text());
}
