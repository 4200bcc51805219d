//! Arrow streams have the values of JSON and NDJSON.

use serde_json::{Value, json};
use synth::RecordingParts;

use crate::support::arrow::ArrowTable;
use crate::support::cases::{Case, root};
use crate::support::run::{empty_folder, run_with_input};

/// Fields that are text in JSON and numbers here.
const ADDRESSES: &[&str] = &["addr", "svma", "offset"];

#[test]
fn tables_are_those_of_json() {
    for name in ["inlines-gcc", "syscalls", "two-events"] {
        let case = Case::named(name);
        let json = case.run(&["-q", "-f", "json"]).expect_status(0).json();
        let bytes = case.run(&["-q", "-f", "arrow"]).expect_status(0).stdout;
        let tables = ArrowTable::all(&bytes);
        let names: Vec<&str> = tables.iter().map(ArrowTable::name).collect();
        let all = [
            "samples",
            "stacks",
            "frames",
            "locations",
            "inlines",
            "modules",
            "layouts",
            "threads",
            "events",
        ];
        assert_eq!(names, all);
        for part in ["recording", "summary"] {
            let text = &tables[0].keys[&format!("unwind_perf.{part}")];
            assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), json[part], "{name}");
        }
        for table in &tables {
            assert_eq!(table.batches, 1);
            for (column, values) in &table.columns {
                let ours = values.iter().map(|value| plain(table.name(), column, value));
                let ours: Vec<Value> = ours.collect();
                let place = format!("{name}: {}.{column}", table.name());
                let theirs = match &json[table.name()][column] {
                    // JSON omits a column without values.
                    Value::Null => vec![Value::Null; ours.len()],
                    values => values
                        .as_array()
                        .expect("a column")
                        .iter()
                        .map(|value| named(&json, table.name(), column, value))
                        .collect(),
                };
                assert_eq!(ours, theirs, "{place}");
            }
        }
    }
}

/// Converts a value of ours to its form in JSON.
fn plain(table: &str, column: &str, value: &Value) -> Value {
    let hexadecimal = |value: &Value| value.as_u64().map(|number| json!(format!("{number:#x}")));
    match (table, column) {
        ("locations", "relative" | "offset") => hexadecimal(value).unwrap_or(Value::Null),
        ("layouts", "biases") => value
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| json!([it["module"], it["instance"], hexadecimal(&it["bias"])]))
            .collect(),
        _ => value.clone(),
    }
}

/// Replaces an index in a value of JSON by its name.
fn named(json: &Value, table: &str, column: &str, value: &Value) -> Value {
    let list = match (table, column) {
        ("inlines", "function" | "file" | "declared_file") | ("modules", "path" | "opened") => {
            &json["strings"]
        }
        ("threads", "comm" | "process" | "cgroup") | ("events", "name") => &json["strings"],
        ("samples", "end") => &json["words"]["end"],
        ("frames", "found_by") => &json["words"]["found_by"],
        ("modules", "kind") => &json["words"]["module_kind"],
        _ => return value.clone(),
    };
    value.as_u64().map_or(Value::Null, |index| list[usize::try_from(index).expect("small")].clone())
}

/// The rows of a stream are written while it arrives, before the account of the run is known.
#[test]
fn rows_of_a_stream() {
    let case = Case::named("two-events");
    let stream = RecordingParts::read(&case.bytes()).expect("a plain file").pipe();
    let sysroot = root().join("testdata/sysroot");
    let files = ["--sysroot", sysroot.to_str().expect("a name"), "-q", "-f"];
    let folder = empty_folder("arrow-stream");
    let run = |format: &[&str]| {
        run_with_input(&folder, &[&files, format, &["-"]].concat(), &stream).expect_status(0)
    };
    let bytes = run(&["arrow", "--rows"]).stdout;
    let [table] = &ArrowTable::all(&bytes)[..] else { panic!("one stream") };
    assert!(!table.keys.contains_key("unwind_perf.summary"));
    let (rows, lines) = (table.rows(), run(&["ndjson"]).lines());
    assert_eq!((rows.len(), lines.len()), (52, 52));
    for (row, line) in rows.iter().zip(&lines) {
        assert_eq!((&row["time_ns"], &row["tid"]), (&line["time_ns"], &line["tid"]));
        let functions = |value: &Value| {
            let frames = value["frames"].as_array().expect("frames").iter();
            frames.map(|frame| frame["function"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(functions(row), functions(line));
    }
}

#[test]
fn rows_are_the_lines_of_ndjson() {
    for (name, samples) in [("inlines-gcc", 35), ("syscalls", 48), ("two-events", 52)] {
        let case = Case::named(name);
        let json = case.run(&["-q", "-f", "json"]).expect_status(0).json();
        let lines = case.run(&["-q", "-f", "ndjson"]).expect_status(0).lines();
        let bytes = case.run(&["-q", "-f", "arrow", "--rows"]).expect_status(0).stdout;
        let [table] = &ArrowTable::all(&bytes)[..] else { panic!("one stream") };
        assert_eq!(table.keys["unwind_perf.schema"], "unwind-perf-samples");
        let rows = table.rows();
        assert_eq!((rows.len(), lines.len()), (samples, samples), "{name}");
        for (mut row, line) in rows.into_iter().zip(lines) {
            let fields = row.as_object_mut().expect("fields");
            assert_eq!(fields.remove("weight"), Some(line["period"].clone()));
            assert_eq!(fields.remove("host"), json["recording"].get("hostname").cloned());
            assert_eq!(fields.remove("recording"), Some(json!("perf.data")));
            assert!(fields.remove("build_id").is_some_and(|id| id.is_string()), "{name}");
            assert_eq!(
                fields.remove("complete"),
                Some(json!(
                    ["root", "kernel-only", "guest"]
                        .contains(&line["end"].as_str().expect("a word"))
                ))
            );
            for frame in fields["frames"].as_array_mut().expect("a list") {
                for (field, value) in frame.as_object_mut().expect("fields") {
                    if ADDRESSES.contains(&field.as_str()) {
                        *value = json!(format!("{:#x}", value.as_u64().expect("an address")));
                    }
                }
            }
            assert_eq!(row, line, "{name}");
        }
    }
}

/// A recording states the time of day if it was made with `perf record -k`.
#[test]
fn the_start_is_known_by_the_recorded_clock() {
    const CLOCK_DATA: u16 = 29;
    let case = Case::named("two-events");
    let mut parts = RecordingParts::read(&case.bytes()).expect("a plain file");
    let folder = empty_folder("arrow-clock");
    let table = |parts: &RecordingParts| {
        std::fs::write(folder.join("perf.data"), parts.file()).expect("written");
        let ran = run_with_input(&folder, &["perf.data", "-q", "-f", "arrow", "--rows"], b"");
        ArrowTable::all(&ran.stdout).remove(0)
    };
    let plain = table(&parts);
    assert_eq!(plain.keys.get("unwind_perf.start_utc_ns"), None);
    let times = plain.rows().into_iter().map(|row| row["time_ns"].as_u64().expect("a time"));
    let first = times.min().expect("a sample");
    // Version 1, CLOCK_MONOTONIC, and one time on both clocks.
    let day = 1_700_000_000_000_000_000_u64;
    let words = [day.to_le_bytes(), (first - 5).to_le_bytes()].concat();
    parts.feature(CLOCK_DATA, &[&[1, 0, 0, 0, 1, 0, 0, 0], &words[..]].concat());
    let keys = table(&parts).keys;
    assert_eq!(keys["unwind_perf.start_utc_ns"], "1700000000000000005");
}

#[test]
fn options_of_other_formats_are_refused() {
    let case = Case::named("plt");
    for (arguments, option, format) in [
        (["-f", "json", "--rows"].as_slice(), "--rows", "json"),
        (&["-f", "arrow", "--service-name", "x"], "--service-name", "arrow"),
    ] {
        let run = case.run(arguments).expect_status(2);
        let expected = format!("unwind-perf: {option} has no effect on the format {format}\n");
        assert_eq!(run.stderr, expected);
    }
}
