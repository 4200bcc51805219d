//! Merged Parquet files: their rows, and files that are damaged or do not fit.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use formats::{
    Format, FormatOptions, MergeError, MergedTable, PartFile, StackReader, TableBytes, TableFile,
    merge_tables,
};
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use profile::Profile;

use crate::parquet_file::rows;
use crate::printed;
use crate::support::sample_profile::{empty, one_of_everything};

/// A part in memory.
#[derive(Clone, Default)]
struct Part(Arc<Mutex<Vec<u8>>>);

impl io::Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Merges files named `0`, `1` and so on. Each has the constant `from` with its name.
fn merge(files: &[Vec<u8>]) -> Result<(MergedTable, Vec<u8>), MergeError> {
    merge_with("from", files)
}

/// Merges files like [`merge`], with another name of the constant.
fn merge_with(constant: &str, files: &[Vec<u8>]) -> Result<(MergedTable, Vec<u8>), MergeError> {
    let file = |name: usize| TableFile {
        path: name.to_string().into(),
        constants: vec![(constant.to_owned(), name.to_string())],
    };
    let inputs: Vec<TableFile> = (0..files.len()).map(file).collect();
    let open = |path: &Path| -> io::Result<TableBytes> {
        let place: usize = path.to_str().expect("UTF-8").parse().expect("a number");
        Ok(Box::new(files[place].clone()))
    };
    let part = Part::default();
    let mut create = || -> io::Result<PartFile> { Ok(Box::new(part.clone())) };
    let merged = merge_tables(&inputs, &open, &mut create)?;
    let bytes = part.0.lock().expect("no panic").clone();
    Ok((merged, bytes))
}

fn reader(bytes: &[u8]) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::copy_from_slice(bytes)).expect("a Parquet file")
}

fn message(files: &[Vec<u8>]) -> String {
    merge(files).expect_err("an error").to_string()
}

/// Writes a file with the values 1, 2 and so on in its columns of numbers.
fn table(schema: &str, values: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = WriterProperties::builder().set_dictionary_enabled(false);
    let has_deltas =
        !schema.get_fields().iter().any(|it| it.get_physical_type() == PhysicalType::DOUBLE);
    let encoding = if has_deltas { Encoding::DELTA_BINARY_PACKED } else { Encoding::PLAIN };
    let properties = properties.set_encoding(encoding).build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties.into()).expect("file");
    let mut group = file.next_row_group().expect("a row group");
    while let Some(mut column) = group.next_column().expect("a column") {
        let levels = vec![1; values];
        match column.untyped() {
            ColumnWriter::Int64ColumnWriter(writer) => {
                let all: Vec<i64> = (1..=values as i64).collect();
                let levels = (writer.get_descriptor().max_def_level() > 0).then_some(&levels[..]);
                writer.write_batch(&all, levels, None).expect("written");
            }
            ColumnWriter::Int32ColumnWriter(writer) => {
                let all: Vec<i32> = (1..=values as i32).map(|number| -number).collect();
                writer.write_batch(&all, None, None).expect("written");
            }
            ColumnWriter::DoubleColumnWriter(writer) => {
                writer.write_batch(&vec![1.0; values], None, None).expect("written");
            }
            _ => panic!("another type"),
        }
        column.close().expect("a column");
    }
    group.close().expect("a row group");
    file.into_inner().expect("a file")
}

#[test]
fn rows_are_those_of_the_files() {
    let print = |profile: &Profile, stacks| {
        let options = FormatOptions { stacks, ..FormatOptions::DEFAULT };
        printed(profile, Format::Parquet, options)
    };
    for stacks in [false, true] {
        let full = print(&one_of_everything(), stacks);
        let files = [full.clone(), print(&empty(), stacks), full];
        let (merged, bytes) = merge(&files).expect("merged");
        let of = |bytes: &[u8]| rows(&reader(bytes));
        let [first, _, last] = [0, 1, 2].map(|file| of(&files[file]));
        let n = first.len() as u64;
        assert_eq!((merged.parts, merged.inputs), (vec![2 * n], vec![n, 0, n]));
        let inner = |row: &str| row[1..row.len() - 1].to_owned();
        let first = first.iter().map(|row| format!("{{{}, from: \"0\"}}", inner(row)));
        let last = last.iter().map(|row| format!("{{{}, from: \"2\"}}", inner(row)));
        assert_eq!(of(&bytes), first.chain(last).collect::<Vec<_>>());
        let keys = |bytes: &[u8]| {
            let keys = reader(bytes).metadata().file_metadata().key_value_metadata().cloned();
            let mut keys: Vec<_> =
                keys.into_iter().flatten().map(|pair| (pair.key, pair.value)).collect();
            keys.retain(|(key, _)| key.ends_with(".schema") || key.ends_with(".version"));
            keys
        };
        assert_eq!(keys(&bytes), keys(&files[0]));
        assert_eq!(keys(&bytes).len(), 2);
    }
}

#[test]
fn merged_stacks_are_read_as_stacks() {
    let options = FormatOptions { stacks: true, ..FormatOptions::DEFAULT };
    let file = printed(&one_of_everything(), Format::Parquet, options);
    let (_, bytes) = merge(&[file.clone(), file.clone()]).expect("merged");
    let read = |files: &[&Vec<u8>]| {
        let mut reader = StackReader::default();
        for file in files {
            reader.add((*file).clone()).expect("stacks");
        }
        reader.finish().rows
    };
    assert_eq!(read(&[&bytes]), read(&[&file, &file]));
}

#[test]
fn columns_are_merged_by_name() {
    let one = table("message t { REQUIRED INT64 a; REQUIRED INT32 b; }", 2);
    let other = table("message t { REQUIRED INT32 b; OPTIONAL INT64 c; }", 40);
    let (merged, bytes) = merge(&[one, other]).expect("merged");
    let expected = [
        "OPTIONAL INT64 a;",
        "REQUIRED INT32 b;",
        "OPTIONAL INT64 c;",
        "OPTIONAL BYTE_ARRAY from (STRING);",
    ];
    assert_eq!(merged.columns, expected);
    let rows = rows(&reader(&bytes));
    assert_eq!(rows.len(), 42);
    assert_eq!(rows[1], r#"{a: 2, b: -2, c: null, from: "0"}"#);
    assert_eq!(rows[2], r#"{a: null, b: -1, c: 1, from: "1"}"#);
    assert_eq!(rows[41], r#"{a: null, b: -40, c: 40, from: "1"}"#);
    let column = reader(&bytes).metadata().row_group(0).column(0).clone();
    assert_eq!(column.column_type(), PhysicalType::INT64);
}

#[test]
fn files_that_do_not_fit_are_named() {
    let one = table("message t { REQUIRED INT64 a; }", 1);
    let other = |column: &str| table(&format!("message t {{ {column}; }}"), 1);
    assert_eq!(
        message(&[one.clone(), other("REQUIRED INT32 a")]),
        "cannot merge 1 with 0: the column a has another type"
    );
    assert_eq!(
        message(&[one.clone(), other("REQUIRED INT64 a (INTEGER(64, false))")]),
        "cannot merge 1 with 0: the column a has another type"
    );
    assert_eq!(
        message(&[one.clone(), other("REQUIRED INT64 from")]),
        "cannot merge 1: it has the column from twice, or also in its path"
    );
    assert_eq!(
        message(&[one.clone(), other("REQUIRED DOUBLE b")]),
        "cannot merge 1: the column b is DOUBLE, which is not supported"
    );
    let rows = printed(&one_of_everything(), Format::Parquet, FormatOptions::DEFAULT);
    assert_eq!(
        message(&[one.clone(), rows]),
        "cannot merge 1 with 0: one has unwind-perf-samples of version 1, the other unknown rows"
    );
    let foreign = message(&[one, b"a text, not a table".to_vec()]);
    assert!(
        foreign.starts_with("cannot read 1: not a Parquet file, or a damaged one: "),
        "{foreign}"
    );
}

/// The columns of ours have encodings by their names, which others can have as well.
#[test]
fn columns_of_text_can_have_the_names_of_numbers() {
    let numbers = table("message t { REQUIRED INT32 b; }", 2);
    let (_, bytes) = merge_with("time_ns", &[numbers]).expect("merged");
    assert_eq!(rows(&reader(&bytes)), ["{b: -1, time_ns: \"0\"}", "{b: -2, time_ns: \"0\"}"]);
}

/// No damage ends in a panic, and errors name the file.
#[test]
fn damaged_files_are_named() {
    let options = FormatOptions { stacks: true, ..FormatOptions::DEFAULT };
    let whole = printed(&one_of_everything(), Format::Parquet, options);
    let delta = table("message t { OPTIONAL INT64 a; REQUIRED INT32 b; }", 100);
    let mut errors = 0;
    for file in [whole, delta] {
        for at in (0..file.len()).step_by(3) {
            for bits in [0x01, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] ^= bits;
                if let Err(error) = merge(&[file.clone(), damaged]) {
                    assert!(error.to_string().contains(" 1"), "{error}");
                    errors += 1;
                }
            }
            if at % 16 == 0 {
                assert!(merge(&[file[..at].to_vec()]).is_err());
            }
        }
    }
    assert!(errors > 300, "{errors}");
}
