//! Filters leave out samples and change nothing about the others.

use serde_json::Value;

use crate::cases::Case;

/// The lines that the filter leaves are the lines of the whole recording that `wanted` selects; there are `count`.
#[track_caller]
fn check(case: &str, filter: &[&str], count: usize, wanted: impl Fn(&Value) -> bool) {
    let case = Case::named(case);
    let all = case.run(&["-q", "-f", "ndjson"]).expect_status(0);
    let expected: Vec<&str> = all
        .text()
        .lines()
        .filter(|line| wanted(&serde_json::from_str(line).expect("a line of JSON")))
        .collect();
    let found = case.run(&[&["-q", "-f", "ndjson"], filter].concat()).expect_status(0);
    assert_eq!(found.text().lines().collect::<Vec<_>>(), expected, "{filter:?}");
    assert_eq!(expected.len(), count, "{filter:?}");

    let json = case.run(&[&["-q"], filter].concat()).expect_status(0).json();
    let left_out = all.text().lines().count() - count;
    assert_eq!(json["summary"]["samples"], count, "{filter:?}");
    assert_eq!(json["summary"]["samples_filtered"], left_out, "{filter:?}");
}

#[test]
fn processes_and_threads() {
    check("fork", &["--pid", "27949"], 17, |line| line["pid"] == 27949);
    check("fork", &["--tid", "27951"], 17, |line| line["tid"] == 27951);
    check("fork", &["--pid", "27952,27949"], 32, |line| line["pid"] != 27953);
    check("fork", &["--pid", "1"], 0, |_| false);
}

#[test]
fn names_of_threads() {
    check("fork", &["--comm", "second thread"], 16, |line| line["comm"] == "second thread");
    check("fork", &["--comm", "fork,second thread"], 48, |_| true);
    check("fork", &["--comm", "second"], 0, |_| false);
}

#[test]
fn events() {
    check("two-events", &["--event", "task-clock:u"], 26, |line| line["event"] == "task-clock:u");
    check("two-events", &["--event", "cpu-clock:u,task-clock:u"], 52, |_| true);
}

#[test]
fn several_filters_hold_together() {
    check("fork", &["--comm", "fork", "--pid", "27949"], 1, |line| {
        line["comm"] == "fork" && line["pid"] == 27949
    });
}

#[test]
fn times() {
    let case = Case::named("spin-lld");
    let lines = case.run(&["-q", "-f", "ndjson"]).expect_status(0).lines();
    let times: Vec<u64> =
        lines.iter().map(|line| line["time_ns"].as_u64().expect("time")).collect();
    assert_eq!(times.len(), 31);
    let seconds = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
    // Both ends belong to it.
    let (from, to) = (times[3], times[9]);
    let time = |line: &Value| line["time_ns"].as_u64().expect("time");
    let both = format!("{},{}", seconds(from), seconds(to));
    check("spin-lld", &["--time", &both], 7, |line| (from..=to).contains(&time(line)));
    let open = format!("{},", seconds(from));
    check("spin-lld", &["--time", &open], 28, |line| time(line) >= from);
    let open = format!(",{}", seconds(to));
    check("spin-lld", &["--time", &open], 10, |line| time(line) <= to);
    check("spin-lld", &["--time", ","], 31, |_| true);
}
