//! The Firefox Profiler's processed profile.

use std::io::Read as _;

use address::{FieldKind, Timestamp};
use formats::{Format, FormatOptions, StackWeight};
use profile::{FieldValue, Profile, RowId as _, SampleId};
use serde_json::{Value, json};

use crate::printed;
use crate::support::sample_profile::{empty, one_of_everything};

pub(crate) fn document(profile: &Profile, options: FormatOptions) -> Value {
    let bytes = printed(profile, Format::Firefox, options);
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut plain).expect("gzip");
    serde_json::from_slice(&plain).expect("valid JSON")
}

/// Returns a stack as text: functions with depth, line, category and whether guessed, outermost first.
pub(crate) fn stack(document: &Value, node: &Value) -> Vec<String> {
    let shared = &document["shared"];
    let at = |table: &str, column: &str, row: &Value| {
        shared[table][column][row.as_u64().expect("an index") as usize].clone()
    };
    let mut shown = Vec::new();
    let mut node = node.clone();
    while !node.is_null() {
        let frame = at("stackTable", "frame", &node);
        let name = at("funcTable", "name", &at("frameTable", "func", &frame));
        let name = &shared["stringArray"][name.as_u64().expect("a name") as usize];
        let column = |name| at("frameTable", name, &frame);
        shown.push(format!(
            "{} {} {} {}/{}",
            name.as_str().expect("text"),
            column("inlineDepth"),
            column("line"),
            column("category"),
            column("subcategory")
        ));
        node = at("stackTable", "prefix", &node);
    }
    shown.reverse();
    shown
}

#[test]
#[expect(clippy::too_many_lines, reason = "one document, looked at once")]
fn threads_stacks_and_markers() {
    let mut profile = one_of_everything();
    // A thread changes its name.
    let renamed = profile.strings.intern(b"later");
    let thread = profile::ThreadRow { comm: renamed, ..profile.threads.as_slice()[1] };
    profile.samples.as_mut_slice()[3].thread = profile.threads.push(thread);
    let document = document(&profile, FormatOptions::DEFAULT);
    assert_eq!(document["meta"]["preprocessedProfileVersion"], 60);
    assert_eq!(document["meta"]["interval"], json!(1.003_009));
    let threads = document["threads"].as_array().expect("threads");
    let reported: Vec<Value> = threads
        .iter()
        .map(|thread| {
            json!([
                thread["name"],
                thread["pid"],
                thread["tid"],
                thread["processName"],
                thread["isMainThread"]
            ])
        })
        .collect();
    assert_eq!(
        reported,
        [
            json!(["later (cpu-clock)", "123456", 123_456, "\u{fffd}t\n", true]),
            json!(["[unknown] (cpu-clock)", "-1", 7, "", false]),
            json!(["a b;\"c (cpu-clock)", "42", 43, "a b;\"c", false]),
            json!(["a b;\"c (cycles:u)", "42", "43.1", "a b;\"c", false]),
        ]
    );
    let samples = &threads[0]["samples"];
    assert_eq!(samples["timeDeltas"], json!([0, 0]));
    assert_eq!((&samples["weight"], &samples["weightType"]), (&Value::Null, &json!("samples")));
    assert_eq!(
        stack(&document, &threads[2]["samples"]["stack"][0]),
        ["main 0 12 1/0", "op;\"x\" 0 null 1/0", "inl2 1 8 1/0"]
    );
    assert_eq!(stack(&document, &samples["stack"][0]), ["main 0 12 1/0", "read_zero 0 null 2/0"]);
    assert_eq!(
        stack(&document, &samples["stack"][1]),
        [
            "[truncated] 0 null 4/0",
            "[unknown] 0 null 3/0",
            "[unknown] 0 null 1/1",
            "jit\n\u{fffd}name 0 null 3/0"
        ]
    );
    assert_eq!(stack(&document, &threads[1]["samples"]["stack"][0]), ["[truncated] 0 null 4/0"]);
    let markers = &threads[0]["markers"];
    assert_eq!(markers["data"], json!([{"type": "comm", "name": "later"}]));
    assert_eq!(markers["startTime"], json!([0]));
    let markers = &threads[3]["markers"];
    assert_eq!(markers["data"], json!([{"type": "lost", "count": 1}]));
    assert_eq!(markers["startTime"], json!([0]));
    let library = &document["libs"][0];
    assert_eq!(library["name"], "t\"x");
    assert_eq!(library["breakpadId"], "AEE587D50000000000000000000000000");
    assert_eq!(library["codeId"], "d587e5ae");
    for (name, table) in document["shared"].as_object().expect("tables") {
        for column in table.as_object().into_iter().flatten().filter_map(|row| row.1.as_array()) {
            assert_eq!(table["length"], column.len(), "{name}");
        }
    }
}

#[test]
fn weights_and_nothing() {
    let options = FormatOptions {
        weight: StackWeight::Period,
        keep_unrooted: true,
        ..FormatOptions::DEFAULT
    };
    let document_ = document(&one_of_everything(), options);
    let samples = &document_["threads"][2]["samples"];
    assert_eq!((&samples["weight"], &samples["weightType"]), (&json!([4]), &json!("tracing-ms")));
    assert_eq!(samples["threadCPUDelta"], json!([4_000_000]));
    let samples = &document_["threads"][3]["samples"];
    assert_eq!((&samples["weight"], &samples["weightType"]), (&json!([3]), &json!("samples")));
    assert_eq!(document_["threads"][1]["samples"]["stack"][0], Value::Null);
    assert_eq!(document(&empty(), FormatOptions::DEFAULT)["threads"], json!([]));
}

#[test]
fn an_uncompressed_document_is_the_same() {
    let plain = FormatOptions { plain: true, ..FormatOptions::DEFAULT };
    for profile in [one_of_everything(), empty()] {
        let plain = printed(&profile, Format::Firefox, plain.clone());
        let plain: Value = serde_json::from_slice(&plain).expect("valid JSON");
        assert_eq!(plain, document(&profile, FormatOptions::DEFAULT));
    }
}

/// Fields are markers at the time of their sample; a label lasts from the first to the last of consecutive samples.
#[test]
fn values_are_markers() {
    let mut profile = one_of_everything();
    let first = profile.samples.as_slice()[0];
    profile.summary.lost_samples = 0;
    let rows = (0..4).map(|at| first.with_time(Some(Timestamp(1_000_000 * (at + 1)))));
    profile.samples = rows.collect();
    let [query, select, update, bytes] =
        [&b"query"[..], b"select \"1\"", b"update", b"bytes"].map(|it| profile.strings.intern(it));
    profile.fields.add_column(None, query, FieldKind::Text);
    profile.fields.add_column(Some(first.event), bytes, FieldKind::Unsigned);
    for (sample, label) in [(0, select), (1, select), (3, update)] {
        profile.fields.push(0, SampleId::from_index(sample), FieldValue::Text(label));
    }
    profile.fields.push(1, SampleId::from_index(2), FieldValue::Unsigned(4096));
    let document = document(&profile, FormatOptions::DEFAULT);
    let markers = &document["threads"][0]["markers"];
    let values = markers["data"].as_array().expect("data").iter().map(|it| it["values"].clone());
    assert_eq!(values.collect::<Vec<_>>(), ["select \"1\"", "update", "bytes=4096"]);
    assert_eq!(markers["startTime"], json!([0, 3, 2]));
    assert_eq!(markers["endTime"], json!([1, 3, null]));
    assert_eq!(markers["phase"], json!([1, 1, 0]));
    let name = |at: usize| {
        let index = markers["name"][at].as_u64().expect("an index") as usize;
        document["shared"]["stringArray"][index].clone()
    };
    assert_eq!([name(0), name(2)], ["query", "cpu-clock"]);
    let types = document["meta"]["markerSchema"].as_array().expect("types");
    assert_eq!(types.last().expect("a type")["name"], "values");
}
