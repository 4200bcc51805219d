//! Labels: samples have a field of the last such event of their thread, until another event or the end of the label.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId, attr_flag,
    sample_type,
};

use super::hotspot::{raw_thing, tracing_data};
use crate::support::run::{Ran, empty_folder, run};

/// A recording of a tracepoint with a text and of a clock.
pub(crate) struct Recorded(PerfDataBuilder);

impl Recorded {
    /// Returns a recording without samples. If `each`, each event of the tracepoint is recorded.
    pub(super) fn new(each: bool) -> Self {
        let mut it = PerfDataBuilder::new(Endian::Little);
        let plain = EventAttr::dwarf(0x00ff_0fff);
        let sample_type = plain.sample_type | sample_type::CPU | sample_type::IDENTIFIER;
        let plain = EventAttr { sample_type, ..plain };
        let thing = EventAttr {
            event_type: 2,
            config: 77,
            sample_type: sample_type | sample_type::RAW,
            ..plain
        };
        let flags = thing.flags & !attr_flag::FREQ;
        let whole = EventAttr { flags, sample_period: 1, ..thing };
        it.event("system:thing", if each { whole } else { thing }, &[5]);
        it.event("cpu-clock", plain, &[6]);
        it.describe_events();
        it.feature(&Feature::Arch("x86_64")).feature(&Feature::TracingData(&tracing_data()));
        Self(it)
    }

    fn sample(tid: u32, time: u64) -> SampleBuilder {
        SampleBuilder { cpu: tid % 2, ..SampleBuilder::at(0x1000, 3, tid, time) }
            .with_regs(&[0; 20])
    }

    pub(super) fn thing(&mut self, tid: u32, time: u64, number: i32, text: &[u8]) {
        let raw = raw_thing(number, text);
        self.0.sample_of(0, &SampleBuilder { id: 5, raw, ..Self::sample(tid, time) });
    }

    pub(super) fn clock(&mut self, tid: u32, time: u64) {
        self.0.sample_of(1, &SampleBuilder { id: 6, ..Self::sample(tid, time) });
    }

    pub(super) fn record(&mut self, record: &Record<'_>, tid: u32, time: u64) {
        // Reports of throttling and of lost samples are about the tracepoint.
        let (id, event_idx) = match record {
            Record::Throttle { .. } | Record::Unthrottle { .. } | Record::LostSamples { .. } => {
                (5, 0)
            }
            _ => (6, 1),
        };
        let at = SampleId { id, event_idx, cpu: tid % 2, ..SampleId::at(3, tid, time) };
        self.0.record_at(record, at);
    }

    /// Returns a folder with the recording as `perf.data`.
    pub(crate) fn folder(&self) -> PathBuf {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let folder = empty_folder(&format!("labels-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
        std::fs::write(folder.join("perf.data"), self.0.clone().build()).expect("written");
        folder
    }

    /// Runs the command on the recording.
    pub(super) fn run(&self, args: &[&str]) -> Ran {
        run(&self.folder(), &[args, &["perf.data", "-q"]].concat())
    }

    /// Returns the labels of the samples of the clock.
    fn labels(&self, args: &[&str]) -> Vec<Value> {
        let ran = self.run(&[&["-f", "ndjson"], args].concat()).expect_status(0);
        let clock = ran.lines().into_iter().filter(|line| line["event"] == "cpu-clock");
        clock.map(|line| line["fields"]["query"].clone()).collect()
    }
}

const QUERY: [&str; 2] = ["--label", "query=system:thing/text"];

/// Two threads with queries; the first one ends its query and forks a third thread.
pub(crate) fn two_threads() -> Recorded {
    let mut it = Recorded::new(true);
    it.clock(4, 100);
    it.thing(4, 110, 2, b"a");
    it.clock(4, 120);
    it.clock(7, 125);
    it.thing(7, 130, 2, b"b\0rest");
    it.clock(7, 140);
    it.thing(4, 150, 1, b"c");
    it.clock(4, 160);
    it.record(&Record::Fork { pid: 3, ppid: 3, tid: 9, ptid: 4, time: 170 }, 4, 170);
    it.clock(9, 180);
    it.thing(4, 190, 9, b"d");
    it.record(&Record::Exit { pid: 3, ppid: 3, tid: 9, ptid: 3, time: 195 }, 9, 195);
    it.clock(9, 200);
    it
}

#[test]
fn samples_have_the_field_of_the_last_event_of_their_thread() {
    let it = two_threads();
    let null = Value::Null;
    let expected = [&null, &json!("a"), &null, &json!("b"), &json!("c"), &null, &null];
    assert_eq!(it.labels(&QUERY), expected.map(Value::clone));
    let when = [&QUERY[..], &["--label-when", "number=2"]].concat();
    assert_eq!(it.labels(&when)[4], null);
    let end = [&QUERY[..], &["--label-end", "system:*"]].concat();
    assert_eq!(it.labels(&end), expected.map(Value::clone), "an event first ends, then begins");
    let handover = [&QUERY[..], &["--handover", "system:thing/number"]].concat();
    assert_eq!(it.labels(&handover)[6], "d");
    assert_eq!(it.labels(&handover)[5], null);
    // Numbers stay numbers; filters of samples do not hide events from labels.
    let number = ["--label", "query=system:thing/number", "--event", "cpu-clock"];
    assert_eq!(it.labels(&number)[1], 2);
}

#[test]
fn costs_are_grouped_by_labels_and_fields() {
    let it = two_threads();
    let rows = |args: &[&str]| -> Vec<Value> {
        let top = it.run(&[&["top", "--format", "json"], args].concat()).expect_status(0).json();
        let row = |row: &Value| json!([row["value"], row["missing"], row["own_samples"]]);
        top["rows"].as_array().expect("rows").iter().map(row).collect()
    };
    let clock = ["--event", "cpu-clock", "--by", "query", "--label-when", "number=2"];
    let expected = [
        json!([null, "before-first", 4]),
        json!(["a", null, 1]),
        json!(["b", null, 1]),
        json!([null, "ended", 1]),
    ];
    assert_eq!(rows(&[&QUERY[..], &clock].concat()), expected);
    let fields = rows(&["--by", "field:system:thing/number"]);
    assert_eq!(fields, [json!([2, null, 2]), json!([1, null, 1]), json!([9, null, 1])]);
    let text = it.run(&["top", "--by", "label:query", QUERY[0], QUERY[1], "--event", "cpu-clock"]);
    let text = text.expect_status(0).text().to_owned();
    assert!(text.contains("[before the first]") && text.contains("own  samples  query"), "{text}");
    let folded =
        ["-f", "folded", "--event", "cpu-clock", "--root", "query", "--label-when", "number=2"];
    let folded = it.run(&[&folded[..], &QUERY].concat()).expect_status(0).text().to_owned();
    let line = |root: &str, samples: u32| format!("{root};[truncated];[unknown] {samples}\n");
    let lines = [("[before the first]", 4), ("[ended]", 1), ("a", 1), ("b", 1)];
    assert_eq!(folded, lines.map(|(root, samples)| line(root, samples)).concat());
}

#[test]
fn conditions_select_samples() {
    let it = two_threads();
    let times = |conditions: &[&str]| -> Vec<u64> {
        let given = conditions.iter().flat_map(|condition| ["--where", condition]);
        let args: Vec<&str> = ["-f", "ndjson"].into_iter().chain(QUERY).chain(given).collect();
        let lines = it.run(&args).expect_status(0).lines();
        let time = |line: Value| line["time_ns"].as_u64().expect("a time");
        lines.into_iter().map(time).collect()
    };
    assert_eq!(times(&["query=a"]), [110, 120]);
    assert_eq!(times(&["query!=[ab]"]), [110, 120, 130, 140, 150, 160, 190]);
    assert_eq!(times(&["system:thing/number>=2"]), [110, 130, 190]);
    assert_eq!(times(&["number=1..2", "query=?"]), [110, 130, 150]);
    let none = it.run(&["top", "--where", "number>100"]).expect_status(2);
    let expected =
        "no sample fulfils --where number>100; list the values with unwind-perf top --by number";
    assert!(none.stderr.contains(expected), "{}", none.stderr);
    let none = it.run(&["top", "--where", "number>100", "--tid", "5"]).expect_status(2).stderr;
    let expected = "no sample passes the filters, with --where number>100; there are, for --tid: ";
    assert!(none.contains(expected), "{none}");
}

/// A recording whose processor 0 reports a loss at 135, with times in a unit.
fn with_loss(unit: u64, report: &Record<'_>) -> Recorded {
    let mut it = Recorded::new(true);
    it.thing(4, 100 * unit, 1, b"a");
    it.thing(7, 105 * unit, 1, b"b");
    it.clock(7, 110 * unit);
    it.clock(4, 120 * unit);
    it.clock(7, 130 * unit);
    it.record(report, 4, 135 * unit);
    it.clock(7, 140 * unit);
    it.clock(4, 145 * unit);
    it.thing(7, 150 * unit, 1, b"c");
    it.clock(7, 160 * unit);
    it
}

#[test]
fn a_label_needs_every_event() {
    let (null, a, b, c) = (Value::Null, json!("a"), json!("b"), json!("c"));
    let lost = Record::Lost { id: 6, lost: 2 };
    // Old kernels report a loss shortly after the sample that follows it.
    let old = with_loss(1, &lost);
    assert_eq!(old.labels(&QUERY), [&null, &null, &null, &null, &null, &c].map(Value::clone));
    let it = with_loss(10_000_000, &lost);
    assert_eq!(it.labels(&QUERY), [&b, &a, &null, &null, &null, &c].map(Value::clone));
    // Samples that a filter accepted by a label go with the label.
    let times = |query: &str| {
        let args = ["-f", "ndjson", "--where", query, "--event", "cpu-clock"];
        let lines = it.run(&[&args[..], &QUERY].concat()).expect_status(0).lines();
        lines.iter().map(|line| line["time_ns"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(times("query=b"), [1_100_000_000]);
    let summary = |it: &Recorded| {
        let json = it.run(&QUERY).expect_status(0).json();
        let findings = json["summary"]["findings"].as_array().expect("findings").clone();
        findings.into_iter().find(|it| it["kind"] == "label-unknown").expect("a finding")
    };
    assert_eq!(summary(&it)["count"], 3);
    assert_eq!(summary(&it)["remedy"], "record-with-larger-buffers");
    let rows = it.run(&["top", "--by", "query", QUERY[0], QUERY[1], "--event", "cpu-clock"]);
    assert!(rows.expect_status(0).text().contains("[unknown: events are missing]"));
    // Events that were taken by frequency are not all there.
    let mut sampled = Recorded::new(false);
    sampled.thing(4, 100, 1, b"a");
    sampled.clock(4, 110);
    assert_eq!(sampled.labels(&QUERY), [null]);
    let finding = summary(&sampled);
    assert_eq!((&finding["count"], &finding["remedy"]), (&json!(2), &json!("record-every-event")));
}

/// perf reports some losses without a time: they can be anywhere after the last sample of the buffer.
#[test]
fn losses_without_a_time_are_at_the_end() {
    let mut it = Recorded::new(true);
    it.thing(4, 1_000_000_000, 1, b"a");
    it.clock(4, 1_200_000_000);
    it.thing(7, 1_500_000_000, 1, b"c");
    it.clock(7, 1_600_000_000);
    assert_eq!(it.labels(&QUERY), ["a", "c"]);
    it.record(&Record::LostSamples { lost: 2 }, 4, 0);
    assert_eq!(it.labels(&QUERY), [json!("a"), Value::Null]);
}

#[test]
fn throttled_events_leave_threads_without_labels() {
    let (null, a, b, c) = (Value::Null, json!("a"), json!("b"), json!("c"));
    let throttle = |time| Record::Throttle { time, id: 5, stream_id: 5 };
    let it = with_loss(10_000_000, &throttle(1_350_000_000));
    assert_eq!(it.labels(&QUERY), [&b, &a, &b, &null, &null, &null].map(Value::clone));
    let mut it = it;
    it.record(&Record::Unthrottle { time: 1_700_000_000, id: 5, stream_id: 5 }, 4, 1_700_000_000);
    it.thing(4, 1_800_000_000, 1, b"c");
    it.clock(4, 1_810_000_000);
    assert_eq!(it.labels(&QUERY), [&b, &a, &b, &null, &null, &null, &c].map(Value::clone));
}

#[test]
fn labels_and_conditions_name_what_exists() {
    let it = two_threads();
    let recorded = "there are system:thing/number, system:thing/text, system:thing/wide, \
                    system:thing/list";
    let with = |args: &[&str]| {
        let args = [&["-f", "ndjson"], &QUERY[..], args].concat();
        it.run(&args).expect_status(2).stderr
    };
    for (args, expected) in [
        (
            &["--label", "x=system:thing/no"][..],
            format!("--label system:thing/no: no event has this field; {recorded}"),
        ),
        (
            &["--label-when", "no=2"],
            format!("--label-when no: no event has this field; {recorded}"),
        ),
        (&["--where", "no=2"], format!("--where no: no event has this field; {recorded}")),
        (&["--handover", "a/no"], format!("--handover a/no: no event has this field; {recorded}")),
        (
            &["--label-end", "no"],
            "--label-end no: the recording has system:thing, cpu-clock".to_owned(),
        ),
        (
            &["--handover", "system:thing/text"],
            "--handover system:thing/text: the values of this field are not numbers".to_owned(),
        ),
        (
            &["--where", "number=x"],
            "--where number=x: the values of this field are numbers".to_owned(),
        ),
        (&["--where", "text>1"], "--where text>1: the values of this field are text".to_owned()),
        (&["--where", "number"], r#""number" has no operator"#.to_owned()),
        (&["--label", "query"], r#""query" is not a label; expected NAME=EVENT/FIELD"#.to_owned()),
    ] {
        let error = with(args);
        assert!(error.contains(&expected), "{args:?}: {error}");
    }
    let top = it.run(&["top", "--by", "no"]).expect_status(2).stderr;
    assert!(
        top.contains("--by no is none of function, module,") && top.contains(recorded),
        "{top}"
    );
    let folded = it.run(&["-f", "folded", QUERY[0], QUERY[1]]).expect_status(2).stderr;
    assert!(folded.contains("the label query has no effect on the format folded"), "{folded}");
    let root = it.run(&["-f", "folded", "--root", "no"]).expect_status(2).stderr;
    assert!(root.contains("--root no is none of comm, process, thread, none, nor"), "{root}");
    let diff = it.run(&["diff", QUERY[0], QUERY[1], "perf.data"]).expect_status(2).stderr;
    assert!(diff.contains("the label query has no effect on a comparison"), "{diff}");
}

#[test]
fn hashes_replace_values() {
    let it = two_threads();
    let labels = |key: &str| it.labels(&[QUERY[0], QUERY[1], key]);
    // The first bytes of SHA-256(SHA-256("k") + "a").
    let [null, a, b] = [Value::Null, json!("#2f4d6d420c3855a1"), json!("#ac9e14f7dc7e14be")];
    let expected = [&null, &a, &null, &b, &json!("#8d92e368df9477fc"), &null, &null];
    assert_eq!(labels("--redact=k"), expected.map(Value::clone));
    let [first, second] = [labels("--redact"), labels("--redact")];
    assert_ne!(first, second);
    assert!(first[1].as_str().is_some_and(|hash| hash.len() == 17 && hash.starts_with('#')));
    let all = ["-f", "json", "--with-fields", "all", "--redact=k", QUERY[0], QUERY[1]];
    let json = it.run(&all).expect_status(0).json();
    let strings = json["strings"].as_array().expect("strings");
    assert!(!strings.contains(&json!("a")) && strings.contains(&a), "{strings:?}");
    let fields = json["fields"].as_array().expect("fields");
    assert!(fields.iter().all(|field| field["type"] == "text"));
    let text = it.run(&["-f", "perf-script", "-F", "event,trace", "--redact=k"]).expect_status(0);
    let text = text.text().to_owned();
    let traces = text.lines().filter(|line| line.contains("system:thing"));
    assert!(traces.clone().count() == 4 && traces.clone().all(|line| line.contains('#')), "{text}");
    // Conditions and grouping.
    let rows = it.run(&[
        "top",
        "--format",
        "csv",
        "--by",
        "query",
        "--redact=k",
        "--where",
        "query=a",
        QUERY[0],
        QUERY[1],
    ]);
    let rows = rows.expect_status(0).text().to_owned();
    assert!(
        rows.lines().nth(1).is_some_and(|row| row.starts_with("#2f4d6d420c3855a1,,1,")),
        "{rows}"
    );
    let error = |args: &[&str]| it.run(args).expect_status(2).stderr.clone();
    let nothing = "unwind-perf: --redact has no effect: no value is printed; select some with --with-fields or --label\n";
    assert_eq!(error(&["-f", "json", "--redact"]), nothing);
    let raw =
        "unwind-perf: --redact has no effect on the format hotspot, which prints all fields\n";
    assert_eq!(error(&["-f", "hotspot", "--redact", QUERY[0], QUERY[1]]), raw);
}
