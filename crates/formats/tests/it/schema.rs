//! The output conforms to its JSON Schema.

use address::FieldKind;
use formats::{Format, FormatOptions};
use profile::{FieldValue, SampleId};
use serde_json::Value;

use crate::support::sample_profile::{empty, one_of_everything};
use crate::support::validator::violations;
use crate::{document, printed};

#[track_caller]
fn check(schema: &Value, value: &Value) {
    assert_eq!(violations(schema, value), [""; 0]);
}

fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("valid JSON")
}

#[test]
fn json_fits_its_schema() {
    let schema = parsed(document("stacks.schema.json").as_bytes());
    for profile in [one_of_everything(), empty()] {
        for inlines in [true, false] {
            let options = FormatOptions { inlines, ..FormatOptions::DEFAULT };
            check(&schema, &parsed(&printed(&profile, Format::Json, options.clone())));
        }
    }
}

#[test]
fn ndjson_fits_its_schema() {
    let schema = parsed(document("ndjson.schema.json").as_bytes());
    let text = printed(&one_of_everything(), Format::Ndjson, FormatOptions::DEFAULT);
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        check(&schema, &parsed(line));
    }
}

/// If control groups were recorded, all row-per-sample formats contain them.
#[test]
fn control_groups_fit() {
    let mut profile = one_of_everything();
    let path = profile.strings.intern(b"/user.slice");
    profile.threads.as_mut_slice()[1].cgroup = Some(path);
    let options = FormatOptions::DEFAULT;
    let json = parsed(&printed(&profile, Format::Json, options.clone()));
    check(&parsed(document("stacks.schema.json").as_bytes()), &json);
    let cgroups = serde_json::json!([null, path.as_u32(), null]);
    assert_eq!(json["threads"]["cgroup"], cgroups);
    let schema = parsed(document("ndjson.schema.json").as_bytes());
    let text = printed(&profile, Format::Ndjson, options);
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    for line in lines.map(parsed) {
        check(&schema, &line);
        let expected = if line["tid"] == 123_456 { "/user.slice".into() } else { Value::Null };
        assert_eq!(line["cgroup"], expected);
    }
}

/// Values of fields have their place in the tables and in the lines.
#[test]
fn values_of_fields_fit() {
    let mut profile = one_of_everything();
    let mut id = |text: &[u8]| profile.strings.intern(text);
    let (number, text, list, label) = (id(b"size"), id(b"path"), id(b"args"), id(b"request"));
    let (value, array) = (id(b"/a"), id(b"[1,-2]"));
    let (event, sample) = (profile.samples.as_slice()[1].event, SampleId::new(1));
    let columns = [
        (None, label, FieldKind::Unsigned, FieldValue::Unsigned(7)),
        (Some(event), number, FieldKind::Signed, FieldValue::Signed(i64::MIN)),
        (Some(event), text, FieldKind::Text, FieldValue::Text(value)),
        (Some(event), list, FieldKind::List, FieldValue::List(array)),
    ];
    for (column, (event, name, kind, value)) in columns.into_iter().enumerate() {
        profile.fields.add_column(event, name, kind);
        profile.fields.push(column, sample, value);
    }
    let options = FormatOptions::DEFAULT;
    let json = parsed(&printed(&profile, Format::Json, options.clone()));
    check(&parsed(document("stacks.schema.json").as_bytes()), &json);
    assert_eq!(json["fields"][0]["event"], serde_json::Value::Null);
    assert_eq!(json["fields"][1]["value"], serde_json::json!([i64::MIN]));
    assert_eq!(json["fields"][3]["value"], serde_json::json!([[1, -2]]));
    let schema = parsed(document("ndjson.schema.json").as_bytes());
    let text = printed(&profile, Format::Ndjson, options);
    let line = text.split(|&byte| byte == b'\n').nth(1).map(parsed).expect("a line");
    check(&schema, &line);
    let expected =
        serde_json::json!({ "request": 7, "size": i64::MIN, "path": "/a", "args": [1, -2] });
    assert_eq!(line["fields"], expected);
}

/// The stored outputs of real recordings, which the command's tests compare with, conform as well.
#[test]
fn expected_outputs_of_recordings_fit() {
    let cases = format!("{}/../../testdata/cases", env!("CARGO_MANIFEST_DIR"));
    let [json, ndjson] = ["stacks.schema.json", "ndjson.schema.json"]
        .map(|schema| parsed(document(schema).as_bytes()));
    let mut checked = [0, 0];
    for case in std::fs::read_dir(&cases).expect("the cases") {
        let folder = case.expect("a case").path();
        if let Ok(text) = std::fs::read(folder.join("expected.json")) {
            check(&json, &parsed(&text));
            checked[0] += 1;
        }
        if let Ok(text) = std::fs::read(folder.join("expected.ndjson")) {
            for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                check(&ndjson, &parsed(line));
            }
            checked[1] += 1;
        }
    }
    assert_eq!(checked, [5, 19], "cases with JSON and with NDJSON");
}

#[test]
fn the_schemas_reject() {
    let schema = parsed(document("ndjson.schema.json").as_bytes());
    let text = printed(&one_of_everything(), Format::Ndjson, FormatOptions::DEFAULT);
    let line = parsed(text.split(|&byte| byte == b'\n').next().expect("a line"));
    let cases: [(&str, Value, &str); 4] = [
        ("end", "tired".into(), "is none of"),
        ("extra", 1.into(), "is not in the schema"),
        ("cpu", (-1).into(), "is below 0"),
        ("frames", Value::Null, "not of type"),
    ];
    for (name, value, complaint) in cases {
        let mut line = line.clone();
        line[name] = value;
        let found = violations(&schema, &line);
        assert!(found.len() == 1 && found[0].contains(complaint), "{name}: {found:?}");
    }
}

/// Returns a column of numbers, with `None` for `null`.
fn column(document: &Value, table: &str, name: &str) -> Vec<Option<u64>> {
    let column = document[table][name].as_array().unwrap_or_else(|| panic!("{table}.{name}"));
    assert_eq!(
        column.len() as u64,
        document[table]["length"].as_u64().expect("a length"),
        "{table}.{name}"
    );
    column.iter().map(Value::as_u64).collect()
}

/// Every index is within its table, with and without inlines.
#[test]
fn indexes_stay_inside() {
    for inlines in [true, false] {
        let options = FormatOptions { inlines, ..FormatOptions::DEFAULT };
        let json = parsed(&printed(&one_of_everything(), Format::Json, options.clone()));
        let length = |table: &str| json[table]["length"].as_u64().expect("a length");
        let strings = json["strings"].as_array().expect("strings").len() as u64;
        let words = |name: &str| json["words"][name].as_array().expect("words").len() as u64;
        let indexes = [
            ("events", "name", strings),
            ("modules", "path", strings),
            ("modules", "opened", strings),
            ("modules", "kind", words("module_kind")),
            ("inlines", "function", strings),
            ("inlines", "file", strings),
            ("locations", "module", length("modules")),
            ("frames", "location", length("locations")),
            ("frames", "found_by", words("found_by")),
            ("stacks", "frame", length("frames")),
            ("threads", "comm", strings),
            ("samples", "thread", length("threads")),
            ("samples", "event", length("events")),
            ("samples", "end", words("end")),
            ("samples", "stack", length("stacks")),
            ("samples", "layout", length("layouts")),
        ];
        for (table, name, limit) in indexes {
            for index in column(&json, table, name).into_iter().flatten() {
                assert!(index < limit, "{table}.{name}: {index} of {limit}");
            }
        }
        let first = column(&json, "locations", "first_inline");
        let lengths = column(&json, "locations", "n_inlines");
        let ends = first
            .iter()
            .zip(&lengths)
            .map(|(first, length)| first.expect("known") + length.expect("known"));
        assert_eq!(ends.max(), Some(length("inlines")));
        for (node, parent) in column(&json, "stacks", "parent").into_iter().enumerate() {
            assert!(parent.is_none_or(|parent| parent < node as u64));
        }
    }
}
