//! Limits of row groups and parts, and errors of the output.
#![allow(clippy::disallowed_methods, reason = "a test writes to a full device")]

use std::fs::File;
use std::sync::Mutex;

use parquet::data_type::Int64Type;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use parquet::schema::parser::parse_message_type;

use super::*;

/// A part in memory.
#[derive(Clone, Default)]
struct Part(Arc<Mutex<Vec<u8>>>);

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file with rows of one number.
fn numbers(values: &[i64]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message t { REQUIRED INT64 a; }").expect("a schema"));
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).expect("file");
    let mut group = file.next_row_group().expect("a row group");
    let mut column = group.next_column().expect("valid").expect("a column");
    column.typed::<Int64Type>().write_batch(values, None, None).expect("written");
    column.close().expect("a column");
    group.close().expect("a row group");
    file.into_inner().expect("a file")
}

/// Merges files of 100 numbers. Returns the rows of each row group of each part.
fn merged(files: i64, limits: GroupLimits, part_bytes: u64) -> Vec<Vec<i64>> {
    let inputs: Vec<TableFile> = (0..files)
        .map(|name| TableFile { path: name.to_string().into(), constants: Vec::new() })
        .collect();
    let open = |path: &Path| -> io::Result<TableBytes> {
        let first: i64 = path.to_str().expect("UTF-8").parse().expect("a number");
        Ok(Box::new(numbers(&(first * 100..first * 100 + 100).collect::<Vec<_>>())))
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut create = || -> io::Result<PartFile> {
        let part = Part::default();
        parts.push(part.clone());
        Ok(Box::new(part))
    };
    let table = merge_with(&inputs, &open, &mut create, limits, part_bytes).expect("merged");
    let readers = parts.iter().map(|part| {
        let bytes = Bytes::from(part.0.lock().expect("no panic").clone());
        assert!(bytes.len() as u64 <= part_bytes);
        SerializedFileReader::new(bytes).expect("a Parquet file")
    });
    let (mut expected, mut groups) = (0, Vec::new());
    for reader in readers {
        for row in reader.get_row_iter(None).expect("rows") {
            assert_eq!(row.expect("a row").get_long(0).ok(), Some(expected));
            expected += 1;
        }
        let rows = reader.metadata().row_groups().iter().map(|group| group.num_rows());
        groups.push(rows.collect::<Vec<_>>());
    }
    assert_eq!(expected, files * 100);
    let sums = groups.iter().map(|rows| rows.iter().sum::<i64>().unsigned_abs());
    assert_eq!(sums.collect::<Vec<_>>(), table.parts);
    groups
}

const LIMITS: GroupLimits = GroupLimits { rows: GROUP_ROWS, bytes: GROUP_BYTES };

/// 64 row groups are added at once.
#[test]
fn row_groups_and_parts_have_limits() {
    assert_eq!(merged(150, LIMITS, PART_BYTES), [[15_000]]);
    let rows = GroupLimits { rows: 6_400, ..LIMITS };
    assert_eq!(merged(150, rows, PART_BYTES), [[6_400, 6_400, 2_200]]);
    let bytes = GroupLimits { bytes: 3_201, ..LIMITS };
    assert_eq!(merged(150, bytes, PART_BYTES), [vec![12_800, 2_200]]);
    // A row group of 6,400 numbers takes some 12 kB.
    assert_eq!(merged(150, rows, 40_000), [vec![6_400, 6_400], vec![2_200]]);
    assert_eq!(merged(150, rows, 60_000), [vec![6_400, 6_400, 2_200]]);
}

#[test]
fn without_rows_there_is_one_part() {
    assert_eq!(merged(0, LIMITS, PART_BYTES), [Vec::<i64>::new()]);
}

#[test]
fn errors_of_the_output_are_returned() {
    let inputs = [TableFile { path: "0".into(), constants: Vec::new() }];
    let open = |_: &Path| -> io::Result<TableBytes> { Ok(Box::new(numbers(&[1]))) };
    let mut create = || -> io::Result<PartFile> { Ok(Box::new(File::create("/dev/full")?)) };
    let error = merge_tables(&inputs, &open, &mut create).expect_err("a full device");
    let MergeError::Output(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
