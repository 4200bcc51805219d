//! Calls that a tool refuses, with texts that list the values that exist.

use serde_json::{Value, json};
use synth::{Endian, EventAttr, PerfDataBuilder, Record, SampleBuilder, SampleId};

use super::client::Client;
use crate::support::run::{empty_folder, run};

#[test]
fn refusals_list_the_values_that_exist() {
    let client = Client::of_cases(&["recursion-rs", "inlines-gcc"]);
    let names = "recursion-rs/perf.data, inlines-gcc/perf.data";
    let one = |more: Value| {
        let mut arguments = json!({ "recording": 2 });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let keys = "by, event, filter, limit, recording, sort, weight";
    let cases = [
        ("top", json!({}), format!("argument \"recording\" is required; there are: {names}")),
        (
            "quality",
            json!({ "recording": "x" }),
            format!("there is no recording \"x\"; there are: {names}"),
        ),
        (
            "top",
            json!({ "recording": "/etc/passwd" }),
            format!("there is no recording \"/etc/passwd\"; there are: {names}"),
        ),
        ("top", json!({ "recording": 3 }), format!("there is no recording \"3\"; there are: {names}")),
        ("top", one(json!({ "path": "x" })), format!("there is no argument \"path\"; there are: {keys}")),
        (
            "top",
            one(json!({ "event": "cycles" })),
            "there is no event \"cycles\"; there are: cpu-clock:u".to_owned(),
        ),
        (
            "top",
            one(json!({ "sort": "size" })),
            "argument \"sort\": \"size\" is none of own, inclusive".to_owned(),
        ),
        (
            "top",
            one(json!({ "limit": 201 })),
            "argument \"limit\": expected a number from 1 to 200".to_owned(),
        ),
        (
            "top",
            one(json!({ "by": "wait" })),
            "argument \"by\": wait groups times off the processor; set weight to off-cpu".to_owned(),
        ),
        (
            "tree",
            one(json!({ "min_percent": 101 })),
            "argument \"min_percent\": expected a number from 0 to 100".to_owned(),
        ),
        ("callers", one(json!({})), "argument \"function\" is required".to_owned()),
        (
            "callers",
            one(json!({ "function": "mian" })),
            "no counted function has \"mian\" in its name; similar names: main".to_owned(),
        ),
        (
            "source",
            one(json!({ "function": "zzz" })),
            "no counted function has \"zzz\" in its name; top lists them".to_owned(),
        ),
        (
            "diff",
            json!({ "before": 1, "after": 2, "normalize": "x" }),
            "argument \"normalize\": expected time, share, samples, or amounts of work above 0 such as A=1000,B=1200"
                .to_owned(),
        ),
        ("diff", json!({ "before": 1 }), "argument \"after\" is required".to_owned()),
    ];
    for (tool, arguments, expected) in cases {
        let refused = client.refused(tool, &arguments);
        assert!(
            refused == expected || expected.ends_with("main") && refused.starts_with(&expected),
            "{refused}"
        );
    }
    for (filter, beginning) in [
        (json!({ "pid": [1] }), "there is no process \"1\"; there are: "),
        (json!({ "tid": [1] }), "there is no thread \"1\"; there are: "),
        (json!({ "comm": ["^x$"] }), "there is no name of a thread \"^x$\"; there are: "),
        (json!({ "focus": ["("] }), "argument \"filter\": regex parse error:\n    (\n    ^\n"),
        (json!({ "focus": vec!["a"; 40] }), "argument \"filter\": more than 32 patterns"),
        (json!({ "time": [2, 1] }), "argument \"filter\": time is [from, to] in seconds"),
        (
            json!({ "names": [] }),
            "argument \"filter\": unknown field `names`, expected one of `time`",
        ),
    ] {
        let refused = client.refused("top", &one(json!({ "filter": filter })));
        assert!(refused.starts_with(beginning), "{refused}");
    }
    let unknown = client.call("delete", &json!({})).unwrap_err().to_string();
    let tools = "recordings, top, tree, callers, source, diff, quality";
    assert!(
        unknown.contains(&format!("there is no tool \"delete\"; there are: {tools}")),
        "{unknown}"
    );
}

#[test]
fn a_recording_that_cannot_be_read_is_refused_as_by_the_command() {
    let folder = empty_folder("mcp-unreadable");
    std::fs::write(folder.join("text"), "no recording").unwrap();
    let client = Client::of(&folder, &["mcp", "text", "absent"]);
    for name in ["text", "absent"] {
        let ran = run(&folder, &["top", name]).expect_status(2);
        let expected = ran.stderr.trim_end().strip_prefix("unwind-perf: ").expect("an error");
        assert_eq!(
            client.refused("top", &json!({ "recording": name })),
            format!("{name}: {expected}")
        );
    }
    let (list, _) = client.answer("recordings", &json!({}));
    assert!(list["rows"][0]["error"].as_str().unwrap().starts_with("text: "), "{list}");
    let ran = run(&folder, &["mcp", "-"]).expect_status(2);
    assert!(ran.stderr.contains("standard input carries the protocol"), "{}", ran.stderr);
    let ran = run(&folder, &["mcp"]).expect_status(2);
    assert!(ran.stderr.contains("<PERF_DATA>..."), "{}", ran.stderr);
}

/// Names of threads and events of a recording are data.
#[test]
fn answers_are_bounded_and_have_no_control_characters() {
    let folder = empty_folder("mcp-hostile");
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cycles\u{1b}[2J\u{202e}", EventAttr::dwarf(0xff_0fff), &[1]);
    data.describe_events();
    for number in 0..300_u32 {
        let (pid, time) = (1000 + number, 10 + u64::from(number));
        let name = format!("\u{1b}]0;{number}\n");
        let comm = Record::Comm { pid, tid: pid, comm: name.as_bytes(), exec: false };
        data.record_at(&comm, SampleId::at(pid, pid, time));
        data.sample(&SampleBuilder::at(0x40_1000, pid, pid, 1000 + time));
    }
    std::fs::write(folder.join("a\nb"), data.build()).unwrap();
    let client = Client::of(&folder, &["mcp", "a\nb"]);
    for (tool, arguments) in [
        ("recordings", json!({})),
        ("quality", json!({})),
        ("top", json!({ "by": "thread", "limit": 200 })),
        ("tree", json!({})),
    ] {
        let (answer, text) = client.answer(tool, &arguments);
        let bytes = serde_json::to_string(&answer).unwrap().len() + text.len();
        assert!(bytes <= 64 << 10, "{tool}: {bytes}");
        let is_control = |char: char| char.is_control() && char != '\n' || char == '\u{202e}';
        assert!(!text.contains(is_control), "{text:?}");
        check_strings(&answer, &|text| assert!(!text.contains(char::is_control), "{text:?}"));
    }
    let refused = client.refused("top", &json!({ "event": "x" }));
    assert_eq!(refused, "there is no event \"x\"; there are: cycles\\x1b[2J\\u202e");
    let refused = client.refused("top", &json!({ "filter": { "pid": [7] } }));
    assert!(refused.ends_with(" and 280 more"), "{refused}");
}

fn check_strings(value: &Value, check: &dyn Fn(&str)) {
    match value {
        Value::String(text) => check(text),
        Value::Array(values) => values.iter().for_each(|it| check_strings(it, check)),
        Value::Object(object) => object.values().for_each(|it| check_strings(it, check)),
        _ => {}
    }
}
