//! Spans: durations from an event to a later one of its thread or key, as outputs, weights and filters.

use serde_json::{Value, json};
use synth::Record;

use super::labels::Recorded;

/// Spans from number 1 to number 2 of a thread.
const BY_THREAD: [&str; 2] = ["--span", "r=system:thing/number=1,system:thing/number=2"];
/// Spans with the text as key, in any thread.
const BY_KEY: [&str; 2] = ["--span", "r=system:thing/number=1,system:thing/number=2,text"];
const NESTED: [&str; 2] = ["--span", "n=system:thing/number=3,system:thing/number=4"];

/// Thread 4 has spans of 100, of 30 with one of 10 ns inside, and of 5 ns; a span of thread 7 does not end.
fn two_threads() -> Recorded {
    let mut it = Recorded::new(true);
    it.thing(4, 90, 2, b"no begin");
    it.thing(4, 100, 1, b"a");
    it.clock(4, 150);
    it.thing(7, 160, 1, b"b");
    it.clock(7, 170);
    it.thing(4, 200, 2, b"b");
    it.clock(4, 250);
    it.thing(4, 300, 1, b"c");
    it.thing(4, 305, 3, b"");
    it.clock(4, 310);
    it.thing(4, 315, 4, b"");
    it.thing(4, 330, 2, b"a");
    it.thing(4, 400, 1, b"d");
    it.thing(4, 405, 2, b"d");
    it.clock(7, 410);
    it
}

fn spans(it: &Recorded, args: &[&str]) -> Value {
    it.run(&[&["spans", "--format", "json"], args].concat()).expect_status(0).json()["rows"].clone()
}

/// Times of the samples of the clock.
fn clock(it: &Recorded, args: &[&str]) -> Vec<u64> {
    let all = ["-f", "ndjson", "--event", "cpu-clock", "--inside", "r"];
    let lines = it.run(&[&all, args].concat()).expect_status(0).lines();
    lines.iter().map(|line| line["time_ns"].as_u64().expect("a time")).collect()
}

#[test]
fn durations_are_grouped() {
    let it = two_threads();
    let rows = spans(&it, &[&BY_THREAD[..], &NESTED].concat());
    let row = |row: &Value| json!([row["span"], row["spans"], row["total"], row["self"]]);
    let short: Vec<Value> = rows.as_array().expect("rows").iter().map(row).collect();
    assert_eq!(short, [json!(["r", 3, 135, 125]), json!(["n", 1, 10, 10])]);
    let numbers = ["min", "p50", "p90", "p99", "max"].map(|name| rows[0][name].clone());
    assert_eq!(numbers, [5, 30, 100, 100, 100].map(Value::from));
    let first = json!([
        {"from": 5, "to": 10, "spans": 1},
        {"from": 10, "to": 20, "spans": 0},
        {"from": 20, "to": 50, "spans": 1},
        {"from": 50, "to": 100, "spans": 0},
        {"from": 100, "to": 200, "spans": 1}
    ]);
    assert_eq!(rows[0]["histogram"], first);
    let by_text = spans(&it, &[&BY_THREAD[..], &["--by", "text"]].concat());
    let row = |row: &Value| json!([row["value"], row["total"]]);
    let by_text: Vec<Value> = by_text.as_array().expect("rows").iter().map(row).collect();
    assert_eq!(by_text, [json!(["a", 100]), json!(["c", 30]), json!(["d", 5])]);
}

#[test]
fn a_key_joins_threads() {
    let it = two_threads();
    let json = it.run(&[&["-f", "json"], &BY_KEY[..]].concat()).expect_status(0).json();
    let spans = &json["spans"];
    assert_eq!(spans["duration_ns"], json!([230, 40, 5]));
    assert_eq!(spans["self_ns"], spans["duration_ns"]);
    let strings = &json["strings"];
    let keys = spans["key"].as_array().expect("keys").iter();
    let keys: Vec<_> = keys.map(|id| &strings[id.as_u64().expect("an id") as usize]).collect();
    assert_eq!(keys, ["a", "b", "d"]);
    let begins = spans["sample"].as_array().expect("samples").iter();
    let time = |id: &Value| &json["samples"]["time_ns"][id.as_u64().expect("an id") as usize];
    assert_eq!(begins.map(time).collect::<Vec<_>>(), [100, 160, 400]);
    let line = it.run(&[&["-f", "ndjson"], &BY_KEY[..]].concat()).expect_status(0).lines();
    let expected = json!([{"name": "r", "key": "b", "duration_ns": 40, "self_ns": 40}]);
    assert_eq!((&line[3]["spans"], &line[2]["spans"]), (&expected, &Value::Null));
    let both = ["--span", "r=system:thing/number=1,system:thing/number=2,pid+text"];
    let rows = self::spans(&it, &both);
    assert_eq!(rows[0]["total"], 275);
    let by_thread = ["--span", "r=system:thing/number=1,system:thing/number=2,tid"];
    assert_eq!(self::spans(&it, &by_thread)[0]["total"], 135);
}

#[test]
fn durations_are_weights() {
    let it = two_threads();
    let top = |weight| {
        let args = [&["top", "--format", "json", "--by", "thread", "--weight", weight][..]];
        let args = [args.concat(), BY_THREAD.to_vec(), NESTED.to_vec()].concat();
        it.run(&args)
    };
    let both = top("r.self").expect_status(0).json();
    assert_eq!((&both["unit"], &both["event"]), (&json!("nanoseconds"), &json!("r.self")));
    assert_eq!((&both["total"], &both["samples"]), (&json!(125), &json!(3)));
    let unused = top("r").expect_status(2).stderr.clone();
    let expected = "unwind-perf: the span n has no effect on tables; use it in --inside or --weight, or print it with unwind-perf spans\n";
    assert_eq!(unused, expected);
    let args = [&["-f", "folded", "--weight", "r"], &BY_THREAD[..]].concat();
    let folded = it.run(&args).expect_status(0).text().to_owned();
    assert_eq!(
        folded.lines().map(|line| line.rsplit(' ').next()).collect::<Vec<_>>(),
        [Some("135")]
    );
}

#[test]
fn samples_inside_spans_are_selected() {
    let it = two_threads();
    assert_eq!(clock(&it, &BY_THREAD), [150, 310]);
    assert_eq!(clock(&it, &[&BY_THREAD[..], &["--longer-than", "30ns"]].concat()), [150]);
    assert_eq!(clock(&it, &[&BY_THREAD[..], &["--up-to", "30ns"]].concat()), [310]);
    assert_eq!(clock(&it, &[&BY_THREAD[..], &["--longer-than", "p50"]].concat()), [150]);
    // Samples of any thread with the label belong to the span of that key.
    let label = ["--label", "text=system:thing/text"];
    assert_eq!(clock(&it, &[&BY_KEY[..], &label].concat()), [150, 170]);
    let args = [&["diff", "--inside", "r", "--slow", "p50"], &BY_THREAD[..]].concat();
    let both = [&args[..], &["--event", "cpu-clock", "--format", "json"]].concat();
    let diff = it.run(&both).expect_status(0).json();
    let names = ["before", "after"].map(|side| diff[side]["recordings"][0]["name"].clone());
    assert_eq!(names, ["perf.data, r up to p50", "perf.data, r longer than p50"]);
}

#[test]
fn lost_events_leave_spans_unknown() {
    let lost = |time| {
        let mut it = two_threads();
        it.record(&Record::Lost { id: 5, lost: 1 }, 4, time);
        it
    };
    // The loss is between the last record of the buffer and its own time.
    let rows = |it: &Recorded| spans(it, &BY_THREAD)[0]["total"].clone();
    assert_eq!(rows(&two_threads()), 135);
    let it = lost(402);
    assert_eq!(rows(&it), 130);
    let summary = it.run(&[&["-f", "json"], &BY_THREAD[..]].concat()).expect_status(0).json();
    let findings = summary["summary"]["findings"].as_array().expect("findings").clone();
    let of = |kind: &str| -> Vec<Value> {
        let findings = findings.iter().filter(|it| it["kind"] == kind);
        findings.map(|it| json!([it["count"], it["remedy"]])).collect()
    };
    // The spans that had begun, and the ends of one of them and of one before the recording.
    assert_eq!(of("span-unknown"), [json!([2, "record-with-larger-buffers"])]);
    assert_eq!(of("span-incomplete"), [json!([2, null])]);
    let mut partial = Recorded::new(false);
    partial.thing(4, 100, 1, b"");
    partial.thing(4, 200, 2, b"");
    let summary = partial.run(&[&["-f", "json"], &BY_THREAD[..]].concat()).expect_status(0).json();
    assert_eq!(summary.get("spans"), None);
    let message = &summary["summary"]["findings"][0]["message"];
    let expected = "there are no spans, because their events were sampled instead of all recorded; record every such event: perf record -c 1 -e EVENT -e cpu-clock/freq=499/";
    assert_eq!(message, expected);
}

#[test]
fn wrong_spans_are_errors() {
    let it = two_threads();
    let error = |args: &[&str]| it.run(args).expect_status(2).stderr.clone();
    let recorded = "system:thing, cpu-clock";
    let expected = format!("unwind-perf: --span nothing: the recording has {recorded}\n");
    assert_eq!(error(&["-f", "json", "--span", "r=system:thing,nothing"]), expected);
    let expected = "unwind-perf: --inside x: there are no spans of this name; describe them with span, as NAME=BEGIN,END\n";
    assert_eq!(error(&[&["--inside", "x"], &BY_THREAD[..]].concat()), expected);
    let expected = "unwind-perf: --inside r: spans with the key text can overlap in a thread, so samples need the label text: label samples with text=EVENT/text\n";
    assert_eq!(error(&[&["--inside", "r"], &BY_KEY[..]].concat()), expected);
    let expected = "unwind-perf: spans needs --span NAME=BEGIN,END, such as --span request=server:start,server:done\n";
    assert_eq!(error(&["spans"]), expected);
    let number = error(&["spans", "--span", "r=system:thing/text>1,system:thing"]);
    assert!(number.starts_with("unwind-perf: --span system:thing/text>1: "), "{number}");
    let field = error(&["spans", "--span", "r=system:thing,system:thing,colour"]);
    assert!(field.starts_with("unwind-perf: --span system:thing/colour: "), "{field}");
    let form = error(&["spans", "--span", "r=system:thing"]);
    assert!(form.contains("expected NAME=BEGIN,END or NAME=BEGIN,END,KEY"), "{form}");
    let script = error(&[&["-f", "perf-script"], &BY_THREAD[..]].concat());
    assert!(script.contains("the span r has no effect on the format perf-script"), "{script}");
}
