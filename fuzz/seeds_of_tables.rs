//! Seeds of the target that reads Parquet files. Most are not compressed, so that their pages can be changed.

use std::sync::Arc;

use formats::StackReader;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::write;

/// The columns of aggregated stacks.
const STACKS: &str = "message stacks {
    REQUIRED BYTE_ARRAY event (STRING);
    REQUIRED BYTE_ARRAY process (STRING);
    REQUIRED BYTE_ARRAY comm (STRING);
    REQUIRED INT64 samples;
    REQUIRED INT64 weight;
    REQUIRED BYTE_ARRAY end (STRING);
    REQUIRED BOOLEAN complete;
    REQUIRED group frames (LIST) { REPEATED group list { REQUIRED group element {
        OPTIONAL BYTE_ARRAY module (STRING);
        OPTIONAL BYTE_ARRAY build_id (STRING);
        OPTIONAL INT64 offset;
        OPTIONAL BYTE_ARRAY function (STRING);
        REQUIRED BYTE_ARRAY found_by (STRING);
        REQUIRED BOOLEAN kernel;
        REQUIRED BOOLEAN whole;
    } } }
}";
/// Columns of other kinds.
const OTHERS: &str = "message t {
    OPTIONAL INT64 a;
    REQUIRED INT32 b;
    OPTIONAL BYTE_ARRAY c (STRING);
    REQUIRED BOOLEAN d;
}";
/// Rows of a file.
const ROWS: usize = 4;
/// Repetition levels of the frames of four rows: three, one, two and one.
const REPEATED: [i16; 7] = [0, 1, 1, 0, 0, 1, 0];

/// Returns the text of an entry of a column.
fn text(column: &str, at: usize) -> ByteArray {
    let text = match column {
        "end" => ["root", "no-unwind-info"][at % 2].to_owned(),
        "found_by" => ["sampled", "cfi", "frame-pointer"][at % 3].to_owned(),
        "build_id" => format!("{:040x}", at + 1),
        _ => format!("{column}{}", at % 2),
    };
    ByteArray::from(text.as_str())
}

/// Writes a file with these columns.
fn table(schema: &str, properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema, properties.into()).expect("a file");
    let mut group = file.next_row_group().expect("a row group");
    while let Some(mut column) = group.next_column().expect("a column") {
        macro_rules! put {
            ($writer:expr, $value:expr) => {{
                let descriptor = $writer.get_descriptor();
                let name = descriptor.name().to_owned();
                let (most, lists) = (descriptor.max_def_level(), descriptor.max_rep_level() > 0);
                let entries = if lists { REPEATED.len() } else { ROWS };
                // Optional values are missing in every third entry.
                let is_optional = most > i16::from(lists);
                let is_missing = |at: usize| is_optional && at % 3 == 2;
                let defined: Vec<i16> =
                    (0..entries).map(|at| most - i16::from(is_missing(at))).collect();
                let values: Vec<_> = (0..entries)
                    .filter(|&at| !is_missing(at))
                    .map(|at| $value(&*name, at))
                    .collect();
                let defined = (most > 0).then_some(&defined[..]);
                let repeated = lists.then_some(&REPEATED[..]);
                $writer.write_batch(&values, defined, repeated).expect("written");
            }};
        }
        match column.untyped() {
            ColumnWriter::BoolColumnWriter(writer) => put!(writer, |_: &str, at| at % 2 == 1),
            ColumnWriter::Int32ColumnWriter(writer) => put!(writer, |_: &str, at| at as i32 - 1),
            ColumnWriter::Int64ColumnWriter(writer) => {
                put!(writer, |_: &str, at| at as i64 * 4096 + 1)
            }
            ColumnWriter::ByteArrayColumnWriter(writer) => put!(writer, text),
            _ => unreachable!("no such column"),
        }
        column.close().expect("a column");
    }
    group.close().expect("a row group");
    file.into_inner().expect("a file")
}

pub fn write_all() {
    let plain = || WriterProperties::builder().set_compression(Compression::UNCOMPRESSED);
    let packed = Compression::ZSTD(ZstdLevel::default());
    for (kind, schema) in [("stacks", STACKS), ("others", OTHERS)] {
        let save = |name: &str, properties| {
            let file = table(schema, properties);
            if kind == "stacks" {
                StackReader::default().add(file.clone()).expect("rows that are read to the end");
            }
            write("table", &format!("{kind}-{name}"), &file);
        };
        save("dictionary", plain().build());
        save("plain", plain().set_dictionary_enabled(false).build());
        save("second", plain().set_writer_version(WriterVersion::PARQUET_2_0).build());
        save("packed", plain().set_compression(packed).build());
    }
    let deltas = plain().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BINARY_PACKED);
    let numbers = "message t { OPTIONAL INT64 a; REQUIRED INT32 b; }";
    write("table", "deltas", &table(numbers, deltas.build()));
}
