//! Calls that a tool refuses, with texts that list the values that exist.

use serde_json::{Value, json};
use synth::{Endian, EventAttr, PerfDataBuilder, Record, SampleBuilder, SampleId};

use super::client::Client;
use crate::support::run::{empty_folder, run};

const NAMES: &str = "recursion-rs/perf.data, inlines-gcc/perf.data";

fn client() -> Client {
    Client::of_cases(&["recursion-rs", "inlines-gcc"])
}

/// Returns arguments for the second recording.
fn of_second(mut arguments: Value) -> Value {
    arguments["recording"] = json!(2);
    arguments
}

#[test]
fn unknown_values_are_refused_with_those_that_exist() {
    let client = client();
    let keys = "by, event, filter, handover, inside, label, label_end, label_when, limit, longer_than, recording, \
                sort, span, up_to, weight, weight_field, where";
    let refused = |tool: &str, arguments: Value, expected: &str| {
        assert_eq!(client.refused(tool, &arguments), expected);
    };
    refused("top", json!({}), &format!("argument \"recording\" is required; there are: {NAMES}"));
    for (tool, name) in [("quality", "x"), ("top", "/etc/passwd"), ("top", "3")] {
        let expected = format!("there is no recording {name:?}; there are: {NAMES}");
        refused(tool, json!({ "recording": name }), &expected);
    }
    let expected = format!("there is no argument \"path\"; there are: {keys}");
    refused("top", of_second(json!({ "path": "x" })), &expected);
    let expected = "there is no event \"cycles\"; there are: cpu-clock:u";
    refused("top", of_second(json!({ "event": "cycles" })), expected);
    let similar = client.refused("callers", &of_second(json!({ "function": "mian" })));
    let expected = "no counted function has \"mian\" in its name; similar names: main";
    assert!(similar.starts_with(expected), "{similar}");
    let expected = "no counted function has \"zzz\" in its name; top lists them";
    refused("source", of_second(json!({ "function": "zzz" })), expected);
    let unknown = client.call("delete", &json!({})).unwrap_err().to_string();
    let tools = "recordings, top, tree, callers, source, spans, diff, quality";
    let expected = format!("there is no tool \"delete\"; there are: {tools}");
    assert!(unknown.contains(&expected), "{unknown}");
}

#[test]
fn values_of_arguments_are_checked() {
    let client = client();
    for (tool, arguments, expected) in [
        ("top", json!({ "sort": "size" }), "\"sort\": \"size\" is none of own, inclusive"),
        ("top", json!({ "limit": 201 }), "\"limit\": expected a number from 1 to 200"),
        (
            "top",
            json!({ "by": "wait" }),
            "\"by\": wait groups times off the processor; set weight to off-cpu",
        ),
        ("tree", json!({ "min_percent": 101 }), "\"min_percent\": expected a number from 0 to 100"),
        ("callers", json!({}), "\"function\" is required"),
    ] {
        let refused = client.refused(tool, &of_second(arguments));
        assert_eq!(refused, format!("argument {expected}"));
    }
    let normalize = json!({ "before": 1, "after": 2, "normalize": "x" });
    assert_eq!(
        client.refused("diff", &normalize),
        "argument \"normalize\": expected time, share, samples, or amounts of work above 0 such as A=1000,B=1200"
    );
    let refused = client.refused("diff", &json!({ "before": 1 }));
    assert_eq!(refused, "argument \"after\" is required");
}

#[test]
fn filters_are_checked() {
    let client = client();
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
        let refused = client.refused("top", &of_second(json!({ "filter": filter })));
        assert!(refused.starts_with(beginning), "{refused}");
    }
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
