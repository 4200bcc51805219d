//! Filters omit samples and do not change the others.

use serde_json::Value;

use crate::support::cases::Case;

/// Checks that the filter leaves the lines of the recording that `wanted` selects; there are `count`.
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
}

#[test]
fn names_of_threads() {
    check("fork", &["--comm", "second thread"], 16, |line| line["comm"] == "second thread");
    check("fork", &["--comm", "fork,second thread"], 48, |_| true);
    check("fork", &["--comm", "sec*d"], 16, |line| line["comm"] == "second thread");
    check("fork", &["--comm", "?ork,x"], 32, |line| line["comm"] == "fork");
}

#[test]
fn events() {
    check("two-events", &["--event", "task-clock:u"], 26, |line| line["event"] == "task-clock:u");
    check("two-events", &["--event", "cpu-clock:u,task-clock:u"], 52, |_| true);
    check("two-events", &["--event", "task-clock"], 26, |line| line["event"] == "task-clock:u");
    check("two-events", &["--event", "*-clock:?"], 52, |_| true);
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
    // Both ends are included.
    let (from, to) = (times[3], times[9]);
    let time = |line: &Value| line["time_ns"].as_u64().expect("time");
    let both = format!("{},{}", seconds(from), seconds(to));
    check("spin-lld", &["--time", &both], 7, |line| (from..=to).contains(&time(line)));
    let open = format!("{},", seconds(from));
    check("spin-lld", &["--time", &open], 28, |line| time(line) >= from);
    let open = format!(",{}", seconds(to));
    check("spin-lld", &["--time", &open], 10, |line| time(line) <= to);
    check("spin-lld", &["--time", ","], 31, |_| true);
    // In parts of the time from the first sample to the last, and in seconds from the first.
    let (first, last) = (times[0], times[30]);
    let share = |percent: u64| first + (last - first) * percent / 100;
    check("spin-lld", &["--time", "10%-20%"], 4, |line| {
        (share(10)..=share(20)).contains(&time(line))
    });
    check("spin-lld", &["--time", "100%,"], 1, |line| time(line) == last);
    check("spin-lld", &["--time", "+0.05,"], 24, |line| time(line) >= first + 50_000_000);
}

/// An empty result is an error: the message lists the existing values.
#[test]
fn what_nothing_passes_is_an_error() {
    let refused = |arguments: &[&str], message: &str| {
        for format in ["json", "folded"] {
            let all = [&["-f", format], arguments].concat();
            let ran = Case::named("fork").run(&all).expect_status(2);
            let line = format!("unwind-perf: {message}\n");
            assert_eq!((ran.text(), ran.stderr.as_str()), ("", line.as_str()));
        }
    };
    let nothing = "no sample passes the filters; there are, for";
    refused(&["--comm", "x*"], &format!("{nothing} --comm: fork, second thread"));
    let pids = "--pid: 27949, 27952, 27953";
    refused(&["--pid", "1"], &format!("{nothing} {pids}"));
    refused(
        &["--pid", "1", "--time", "1,2"],
        &format!("{nothing} {pids}; for --time: 2793.480719,2793.580157"),
    );
    refused(&["--event", "sched:*"], "--event sched:*: the recording has cpu-clock:u");
    // hotspot reads the stream while it is written.
    let ran = Case::named("fork").run(&["-q", "-f", "hotspot", "--comm", "x"]).expect_status(1);
    assert_eq!(ran.stderr, format!("unwind-perf: {nothing} --comm: fork, second thread\n"));
}
