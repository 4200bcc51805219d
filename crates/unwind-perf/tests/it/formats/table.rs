//! The Parquet file of a recording has the values of its NDJSON, row by row.

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Value, json};

use crate::support::cases::Case;

/// Fields that are text in JSON and numbers here.
const ADDRESSES: &[&str] = &["addr", "svma", "offset"];

/// Returns a row in the form of NDJSON: null values are omitted.
fn object(row: &Row) -> Value {
    let fields = row.get_column_iter().filter_map(|(name, field)| {
        let value = match field {
            Field::Null => return None,
            Field::ULong(number) if ADDRESSES.contains(&name.as_str()) => {
                json!(format!("{number:#x}"))
            }
            Field::ULong(number) => json!(number),
            Field::UInt(number) => json!(number),
            Field::Int(number) => json!(number),
            Field::Bool(flag) => json!(flag),
            Field::Str(text) => json!(text),
            Field::Group(row) => object(row),
            Field::ListInternal(list) => list
                .elements()
                .iter()
                .map(|one| match one {
                    Field::Group(row) => object(row),
                    other => panic!("{other:?} is no frame"),
                })
                .collect(),
            other => panic!("{name}: {other:?}"),
        };
        Some((name.clone(), value))
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

#[test]
fn rows_are_the_lines_of_ndjson() {
    for (name, samples) in [("inlines-gcc", 35), ("syscalls", 48), ("two-events", 52)] {
        let case = Case::named(name);
        let lines = case.run(&["-q", "-f", "ndjson"]).expect_status(0).lines();
        let bytes = case.run(&["-q", "-f", "parquet"]).expect_status(0).stdout;
        let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file");
        let rows: Vec<Value> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|row| object(&row.expect("a row")))
            .collect();
        assert_eq!((rows.len(), lines.len()), (samples, samples), "{name}");
        for (mut row, line) in rows.into_iter().zip(lines) {
            let fields = row.as_object_mut().expect("fields");
            assert_eq!(fields.remove("weight"), Some(line["period"].clone()));
            assert_eq!(fields.remove("recording"), Some(json!("perf.data")));
            fields.remove("host");
            assert!(fields.remove("build_id").is_some_and(|id| id.is_string()), "{name}");
            let complete = fields.remove("complete").expect("a flag");
            assert_eq!(
                complete,
                json!(
                    ["root", "kernel-only", "guest"]
                        .contains(&line["end"].as_str().expect("a word"))
                )
            );
            assert_eq!(row, line, "{name}");
        }
    }
}

#[test]
fn a_sample_to_its_last_field() {
    let bytes = Case::named("spin-lld").run(&["-q", "-f", "parquet"]).expect_status(0).stdout;
    let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file");
    let row = reader.get_row_iter(None).expect("rows").next().expect("a row").expect("a row");
    let expected = format!(
        "{{time_ns: 2754417290128, pid: 26512, tid: 26512, comm: \"spin-lld\", process: \"spin-lld\", cpu: null, \
         event: \"cpu-clock:u\", period: 3344481, weight: 3344481, end: \"root\", complete: true, \
         cgroup: null, recording: \"perf.data\", host: \"testbox\", build_id: \"3bc184b5ddfcd01b\", frames: [{{addr: {}, module: \"/tmp/unwind-perf-testdata/spin-lld/spin-lld\", \
         build_id: \"3bc184b5ddfcd01b\", svma: {}, offset: {}, function: \"spin\", function_offset: 78, \
         file: \"/tmp/unwind-perf-testdata/spin-lld/./spin.h\", line: 7, inlined: false, \
         found_by: \"sampled\", kernel: false}}, {{addr: ",
        0x558d_b382_f8ae_u64, 0x18ae, 0x8ae
    );
    let row = row.to_string();
    assert!(row.starts_with(&expected), "{row}\n{expected}");
}
