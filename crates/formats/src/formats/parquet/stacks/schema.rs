//! Columns of aggregated stacks: names, types and encodings.

use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use super::super::schema::writer_properties;

/// Version of the columns.
pub(super) const VERSION: &str = "1";
/// Name of stacks without names.
pub(super) const SCHEMA: &str = "unwind-perf-stacks";
/// Name of stacks with names.
const NAMED: &str = "unwind-perf-named-stacks";
/// Key of the name.
pub(in super::super) const SCHEMA_KEY: &str = "unwind_perf.schema";
/// Key of the version.
pub(in super::super) const VERSION_KEY: &str = "unwind_perf.version";

/// Columns of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowColumn {
    Event,
    Process,
    Comm,
    Samples,
    Weight,
    End,
    Complete,
}

/// Columns of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListColumn {
    Module,
    BuildId,
    Offset,
    Function,
    FunctionOffset,
    File,
    Line,
    Inlined,
    FoundBy,
    Kernel,
    Whole,
}

/// Columns of the rows, in their order.
pub(super) const ROWS: &[(RowColumn, &str)] = &[
    (RowColumn::Event, "REQUIRED BYTE_ARRAY event (STRING)"),
    (RowColumn::Process, "REQUIRED BYTE_ARRAY process (STRING)"),
    (RowColumn::Comm, "REQUIRED BYTE_ARRAY comm (STRING)"),
    (RowColumn::Samples, "REQUIRED INT64 samples"),
    (RowColumn::Weight, "REQUIRED INT64 weight"),
    (RowColumn::End, "REQUIRED BYTE_ARRAY end (STRING)"),
    (RowColumn::Complete, "REQUIRED BOOLEAN complete"),
];

const MODULE: (ListColumn, &str) = (ListColumn::Module, "OPTIONAL BYTE_ARRAY module (STRING)");
const BUILD_ID: (ListColumn, &str) = (ListColumn::BuildId, "OPTIONAL BYTE_ARRAY build_id (STRING)");
const OFFSET: (ListColumn, &str) = (ListColumn::Offset, "OPTIONAL INT64 offset");
const FUNCTION: (ListColumn, &str) =
    (ListColumn::Function, "OPTIONAL BYTE_ARRAY function (STRING)");
const FOUND_BY: (ListColumn, &str) = (ListColumn::FoundBy, "REQUIRED BYTE_ARRAY found_by (STRING)");
const KERNEL: (ListColumn, &str) = (ListColumn::Kernel, "REQUIRED BOOLEAN kernel");

/// Columns of frames without names, in their order.
pub(super) const FRAMES: &[(ListColumn, &str)] = &[
    MODULE,
    BUILD_ID,
    OFFSET,
    FUNCTION,
    FOUND_BY,
    KERNEL,
    (ListColumn::Whole, "REQUIRED BOOLEAN whole"),
];

/// Columns of frames with names, in their order.
pub(super) const NAMED_FRAMES: &[(ListColumn, &str)] = &[
    MODULE,
    BUILD_ID,
    OFFSET,
    FUNCTION,
    (ListColumn::FunctionOffset, "OPTIONAL INT64 function_offset"),
    (ListColumn::File, "OPTIONAL BYTE_ARRAY file (STRING)"),
    (ListColumn::Line, "OPTIONAL INT32 line"),
    (ListColumn::Inlined, "REQUIRED BOOLEAN inlined"),
    FOUND_BY,
    KERNEL,
];

/// Columns of rows that readers filter by.
const SOUGHT: &[&str] = &["event", "process", "comm", "weight", "end"];

/// Returns the schema with these columns of frames.
///
/// # Errors
/// None for the columns here.
pub(super) fn schema(frames: &[(ListColumn, &str)]) -> Result<Type, ParquetError> {
    let mut text = "message stacks {".to_owned();
    for (_, column) in ROWS {
        text.push_str(column);
        text.push_str("; ");
    }
    text.push_str("REQUIRED group frames (LIST) { REPEATED group list { REQUIRED group element {");
    for (_, column) in frames {
        text.push_str(column);
        text.push_str("; ");
    }
    text.push_str("} } } }");
    parse_message_type(&text)
}

/// Returns the encodings of the columns and the metadata of the file.
pub(super) fn properties(named: bool) -> WriterProperties {
    let name = if named { NAMED } else { SCHEMA };
    let keys = [(SCHEMA_KEY, name), (VERSION_KEY, VERSION)];
    let keys = keys.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    writer_properties(keys.to_vec(), SOUGHT).build()
}
