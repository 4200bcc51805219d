//! Values of tracepoints and of memory samples: selected, printed by each format, and private by default.

use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use serde_json::{Value, json};
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId, sample_type,
};

use super::hotspot::{raw_thing, tracing_data};
use crate::support::arrow::ArrowTable;
use crate::support::run::{Ran, empty_folder, run};

/// Three samples of a tracepoint, the last one with cut data, and one of another event with an address.
fn recording() -> Vec<u8> {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let plain = EventAttr::dwarf(0x00ff_0fff);
    let thing = plain.sample_type | sample_type::RAW | sample_type::IDENTIFIER;
    let memory = plain.sample_type | sample_type::ADDR | sample_type::IDENTIFIER;
    let tracepoint = EventAttr { event_type: 2, config: 77, sample_type: thing, ..plain };
    it.event("system:thing", tracepoint, &[5]);
    it.event("loads:u", EventAttr { sample_type: memory, ..plain }, &[6]);
    it.describe_events();
    it.feature(&Feature::Arch("x86_64")).feature(&Feature::TracingData(&tracing_data()));
    it.record_at(
        &Record::Comm { pid: 3, tid: 4, comm: b"app", exec: false },
        SampleId::at(3, 4, 90),
    );
    let sample = |time| SampleBuilder::at(0x1000, 3, 4, time).with_regs(&[0; 20]);
    let cut = raw_thing(9, b"")[..12].to_vec();
    for (time, raw) in
        [(100, raw_thing(-3, b"hi\0rest")), (110, raw_thing(7, b"\xff\"x")), (120, cut)]
    {
        it.sample_of(0, &SampleBuilder { id: 5, raw, ..sample(time) });
    }
    it.sample_of(1, &SampleBuilder { id: 6, addr: 0x7f00_0000_1000, ..sample(130) });
    it.build()
}

fn printed(args: &[&str]) -> Ran {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let folder = empty_folder(&format!("fields-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    run(&folder, &[&["perf.data", "-q"], args].concat())
}

#[test]
fn values_are_printed_only_if_they_are_selected() {
    let values = |args: &[&str]| -> Vec<Value> {
        let lines = printed(&[&["-f", "ndjson"], args].concat()).expect_status(0).lines();
        lines.into_iter().map(|line| line["fields"].clone()).collect()
    };
    assert_eq!(values(&[]), vec![Value::Null; 4]);
    let first = json!({ "number": -3, "text": "hi", "wide": 1_u64 << 40, "list": [1, 2] });
    let second = json!({ "number": 7, "text": "\u{fffd}\"x", "wide": 1_u64 << 40, "list": [1, 2] });
    let third = json!({ "number": 9 });
    let memory = json!({ "addr": 0x7f00_0000_1000_u64 });
    assert_eq!(values(&["--with-fields", "all"]), [first, second, third.clone(), memory.clone()]);
    let selected = values(&["--with-fields", "system:*/number,loads/addr"]);
    assert_eq!(selected, [json!({ "number": -3 }), json!({ "number": 7 }), third, memory]);
    // Filters of samples leave the values with their samples.
    let later = values(&["--with-fields", "number", "--time", "0.000000105,"]);
    assert_eq!(later, [json!({ "number": 7 }), json!({ "number": 9 }), Value::Null]);
}

#[test]
fn tables_have_a_column_for_each_field() {
    let table = printed(&["--with-fields", "number,text"]).expect_status(0).json();
    let string = |id: &Value| table["strings"][id.as_u64().expect("an id") as usize].clone();
    let fields = table["fields"].as_array().expect("fields");
    let names: Vec<_> = fields.iter().map(|it| (string(&it["name"]), it["type"].clone())).collect();
    assert_eq!(names, [(json!("number"), json!("signed")), (json!("text"), json!("text"))]);
    assert_eq!(fields[0]["value"], json!([-3, 7, 9]));
    assert_eq!((&fields[1]["sample"], &fields[1]["length"]), (&json!([0, 1]), &json!(2)));
    let texts: Vec<_> = fields[1]["value"].as_array().expect("ids").iter().map(string).collect();
    assert_eq!(texts, [json!("hi"), json!("\u{fffd}\"x")]);
    let findings = table["summary"]["findings"].as_array().expect("findings");
    let missing = findings.iter().find(|it| it["kind"] == "field-missing").expect("a finding");
    assert_eq!(missing["count"], 1);
    let without = printed(&[]).expect_status(0).json();
    assert_eq!(without.get("fields"), None);
}

#[test]
fn parquet_has_typed_columns() {
    let bytes = printed(&["-f", "parquet", "--with-fields", "all"]).expect_status(0).stdout;
    let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    let rows: Vec<_> = rows.map(|row| row.expect("a row")).collect();
    let names: Vec<_> = rows[0].get_column_iter().map(|(name, _)| name.as_str()).collect();
    let first = names.iter().position(|name| *name == "system:thing/number").expect("a column");
    let fields = ["number", "text", "wide", "list"].map(|name| format!("system:thing/{name}"));
    assert_eq!(names[first..first + 4], fields);
    assert_eq!(names[first + 4], "loads:u/addr");
    let numbers: Vec<_> = rows.iter().map(|row| row.get_long(first).ok()).collect();
    assert_eq!(numbers, [Some(-3), Some(7), Some(9), None]);
    assert_eq!(rows[0].get_string(first + 1).expect("text"), "hi");
    assert_eq!(rows[1].get_ulong(first + 2).expect("a number"), 1 << 40);
    assert_eq!(rows[0].get_string(first + 3).expect("text"), "[1,2]");
    assert_eq!(rows[3].get_ulong(first + 4).expect("an address"), 0x7f00_0000_1000);
}

/// Both forms of Arrow have the columns of Parquet.
#[test]
fn arrow_has_typed_columns() {
    for rows in [&[][..], &["--rows"]] {
        let args = [&["-f", "arrow", "--with-fields", "all"], rows].concat();
        let args = [&args[..], &["--label", "query=system:thing/text"]].concat();
        let table = ArrowTable::all(&printed(&args).expect_status(0).stdout).swap_remove(0);
        let fields: Vec<_> = table.columns.iter().rev().take(6).rev().collect();
        let column = |at: usize| (fields[at].0.as_str(), &fields[at].1[..]);
        let text = ["hi", "\u{fffd}\"x"];
        // A tracepoint by frequency labels nothing.
        assert_eq!(column(0), ("label/query", &[const { Value::Null }; 4][..]));
        let numbers = [json!(-3), json!(7), json!(9), Value::Null];
        assert_eq!(column(1), ("system:thing/number", &numbers[..]));
        let texts = [json!(text[0]), json!(text[1]), Value::Null, Value::Null];
        assert_eq!(column(2), ("system:thing/text", &texts[..]));
        assert_eq!((column(3).0, &column(3).1[0]), ("system:thing/wide", &json!(1_u64 << 40)));
        assert_eq!((column(4).0, &column(4).1[1]), ("system:thing/list", &json!("[1,2]")));
        assert_eq!((column(5).0, &column(5).1[3]), ("loads:u/addr", &json!(0x7f00_0000_1000_u64)));
    }
}

#[test]
fn perf_script_prints_names_and_values() {
    let heads = |args: &[&str]| -> Vec<String> {
        let ran = printed(&[&["-f", "perf-script", "-F"], args].concat()).expect_status(0);
        String::from_utf8_lossy(&ran.stdout).lines().map(str::to_owned).collect()
    };
    let all = heads(&["event", "--with-fields", "all"]);
    assert_eq!(all[0], r#"system:thing:  number=-3 text="hi" wide=1099511627776 list=[1,2]"#);
    assert_eq!(all[3], "     loads:u:  addr=139637976731648");
    assert_eq!(heads(&["event", "--with-fields", "number"])[2], "system:thing:  number=9");
    assert_eq!(heads(&["event"])[0], "system:thing: ");
}

#[test]
fn a_field_of_numbers_is_a_weight() {
    let folded = |weight| {
        let ran = printed(&["-f", "folded", "--root", "none", "--weight", weight]).expect_status(0);
        ran.text().to_owned()
    };
    // A negative number is no weight, and the sample is counted as one without the field.
    assert_eq!(folded("number"), "[truncated];[unknown] 16\n");
    assert_eq!(folded("system:thing/wide"), format!("[truncated];[unknown] {}\n", 2_u64 << 40));
    let folder = empty_folder("fields-weight");
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    let top = run(&folder, &["top", "--weight", "thing*/number", "--format", "json", "perf.data"]);
    let expected =
        "--weight thing*/number is none of samples, period, off-cpu, nor a field: no event has";
    assert!(top.status == 2 && top.stderr.contains(expected), "{}", top.stderr);
    let top = run(&folder, &["top", "--weight", "*/number", "--format", "json", "perf.data"]);
    let top = top.expect_status(0).json();
    assert_eq!((&top["event"], &top["total"]), (&json!("system:thing/number"), &json!(16)));
    let text = printed(&["-f", "folded", "--weight", "text"]).expect_status(2);
    let expected = "--weight text: the values of this field are not numbers; fields of numbers: \
                    system:thing/number, system:thing/wide, loads:u/addr";
    assert!(text.stderr.contains(expected), "{}", text.stderr);
}

#[test]
fn unknown_fields_are_refused_with_those_that_exist() {
    let error = printed(&["--with-fields", "thing/size"]).expect_status(2);
    let expected = "--with-fields thing/size: no event has this field; there are system:thing/number, \
                    system:thing/text, system:thing/wide, system:thing/list, loads:u/addr";
    assert!(error.stderr.contains(expected), "{}", error.stderr);
    let error = printed(&["-f", "folded", "--with-fields", "all"]).expect_status(2);
    assert!(error.stderr.contains("with_fields has no effect on the format folded"));
    // Options in JSON select fields, too.
    let folder = empty_folder("fields-json");
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    std::fs::write(folder.join("options"), r#"{"with_fields": "number"}"#).expect("written");
    let with_options = |args: &[&str]| {
        let ran = run(&folder, &[args, &["-q", "--options-json", "options", "perf.data"]].concat());
        (ran.status, ran.stderr)
    };
    assert_eq!(with_options(&["-f", "ndjson"]).0, 0);
    for (args, expected) in [
        (&["-f", "speedscope"][..], "with_fields has no effect on the format speedscope"),
        (&["flamegraph", "-o", "x.svg"], "with_fields has no effect on the format flamegraph"),
        (&["top"], "with_fields has no effect on tables; print fields with unwind-perf -f ndjson"),
        (
            &["annotate", "x"],
            "with_fields has no effect on tables; print fields with unwind-perf -f ndjson",
        ),
    ] {
        let (status, stderr) = with_options(args);
        assert!(status == 2 && stderr.contains(expected), "{args:?}: {stderr}");
    }
}

#[test]
fn info_lists_the_fields() {
    let folder = empty_folder("fields-info");
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    let info = run(&folder, &["info", "--json", "perf.data"]).json();
    let fields = info["fields"].as_array().expect("fields");
    assert_eq!(fields.len(), 5);
    assert_eq!(fields[1], json!({ "event": "system:thing", "field": "text", "type": "text" }));
}
