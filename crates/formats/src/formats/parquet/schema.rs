//! Columns of the Parquet file: names and types, which are those of NDJSON, and encodings.

use parquet::basic::{Compression, Encoding, Type as PhysicalType, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, SchemaDescriptor, Type};

use crate::render::start::start_utc_ns;
use crate::render::text::push_json;
use profile::{Profile, StringId};

/// The columns in Parquet's schema language; `docs/OUTPUT.md` describes their meaning.
const SCHEMA: &str = "message samples {
    OPTIONAL INT64 time_ns (INTEGER(64, false));
    REQUIRED INT32 pid;
    REQUIRED INT32 tid;
    REQUIRED BYTE_ARRAY comm (STRING);
    REQUIRED BYTE_ARRAY process (STRING);
    OPTIONAL INT32 cpu (INTEGER(32, false));
    REQUIRED BYTE_ARRAY event (STRING);
    OPTIONAL INT64 period (INTEGER(64, false));
    REQUIRED INT64 weight (INTEGER(64, false));
    REQUIRED BYTE_ARRAY end (STRING);
    REQUIRED BOOLEAN complete;
    OPTIONAL BYTE_ARRAY cgroup (STRING);
    OPTIONAL BYTE_ARRAY recording (STRING);
    OPTIONAL BYTE_ARRAY host (STRING);
    OPTIONAL BYTE_ARRAY build_id (STRING);
    REQUIRED group frames (LIST) {
        REPEATED group list {
            REQUIRED group element {
                REQUIRED INT64 addr (INTEGER(64, false));
                OPTIONAL BYTE_ARRAY module (STRING);
                OPTIONAL BYTE_ARRAY build_id (STRING);
                OPTIONAL INT64 svma (INTEGER(64, false));
                OPTIONAL INT64 offset (INTEGER(64, false));
                OPTIONAL BYTE_ARRAY function (STRING);
                OPTIONAL INT64 function_offset (INTEGER(64, false));
                OPTIONAL BYTE_ARRAY file (STRING);
                OPTIONAL INT32 line (INTEGER(32, false));
                REQUIRED BOOLEAN inlined;
                REQUIRED BYTE_ARRAY found_by (STRING);
                REQUIRED BOOLEAN kernel;
            }
        }
    }
}";

/// The columns in the order of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParquetColumn {
    TimeNs,
    Pid,
    Tid,
    Comm,
    Process,
    Cpu,
    Event,
    Period,
    Weight,
    End,
    Complete,
    Cgroup,
    Recording,
    Host,
    ProgramBuildId,
    Addr,
    Module,
    BuildId,
    Svma,
    Offset,
    Function,
    FunctionOffset,
    File,
    Line,
    Inlined,
    FoundBy,
    Kernel,
}

impl ParquetColumn {
    pub(super) const ALL: &[Self] = &[
        Self::TimeNs,
        Self::Pid,
        Self::Tid,
        Self::Comm,
        Self::Process,
        Self::Cpu,
        Self::Event,
        Self::Period,
        Self::Weight,
        Self::End,
        Self::Complete,
        Self::Cgroup,
        Self::Recording,
        Self::Host,
        Self::ProgramBuildId,
        Self::Addr,
        Self::Module,
        Self::BuildId,
        Self::Svma,
        Self::Offset,
        Self::Function,
        Self::FunctionOffset,
        Self::File,
        Self::Line,
        Self::Inlined,
        Self::FoundBy,
        Self::Kernel,
    ];
}

/// Columns of samples that readers filter by. They have minimum and maximum, so that readers can skip row groups.
const SOUGHT: &[&str] = &[
    "time_ns",
    "pid",
    "tid",
    "comm",
    "process",
    "cpu",
    "event",
    "weight",
    "end",
    "recording",
    "host",
    "build_id",
];

/// Maximum size of a dictionary, in bytes. A large C++ program has megabytes of names.
const DICTIONARY_BYTES: usize = 16 << 20;

/// Types of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParquetTypes {
    /// Those of the numbers that the columns contain, of which many are unsigned.
    Exact,
    /// Types that engines support: signed numbers of 64 bits instead of unsigned ones, and text instead of JSON.
    Plain,
}

/// Required columns that are optional in plain files, as in the Arrow stream.
const OPTIONAL_IF_PLAIN: &[&str] = &["comm", "process", "event"];

impl ParquetTypes {
    /// Returns the parsed schema.
    pub(super) fn schema(self) -> Result<Type, ParquetError> {
        match self {
            Self::Exact => parse_message_type(SCHEMA),
            Self::Plain => {
                let lines: Vec<String> = SCHEMA.lines().map(plain_line).collect();
                parse_message_type(&lines.join("\n"))
            }
        }
    }
}

/// Returns a line of the schema with the type of plain files.
fn plain_line(line: &str) -> String {
    let is_optional = OPTIONAL_IF_PLAIN.iter().any(|name| line.contains(&format!(" {name} (")));
    let line = if is_optional { line.replace("REQUIRED", "OPTIONAL") } else { line.to_owned() };
    let line = line.replace(" (INTEGER(64, false))", "");
    if line.contains(" (INTEGER(32, false))") {
        line.replace("INT32", "INT64").replace(" (INTEGER(32, false))", "")
    } else {
        line
    }
}

/// Returns the encodings of the columns, and the metadata of the file.
pub(super) fn properties(profile: &Profile, types: ParquetTypes) -> WriterProperties {
    let time = ColumnPath::from("time_ns");
    writer_properties(key_values(profile, types), SOUGHT)
        // Times do not repeat, but differ little.
        .set_column_dictionary_enabled(time.clone(), false)
        .set_column_encoding(time, Encoding::DELTA_BINARY_PACKED)
        .build()
}

/// Returns the encodings of merged columns, which are those of the merged files.
pub(super) fn merged_properties(
    keys: Vec<KeyValue>,
    schema: &SchemaDescriptor,
) -> WriterProperties {
    // Lists have no statistics, as in the merged files.
    let rows = || schema.columns().iter().filter(|column| column.max_rep_level() == 0);
    let names: Vec<&str> = rows().map(|column| column.name()).collect();
    let mut builder = writer_properties(keys, &names);
    // Another program's column of that name, or a folder's, may be text.
    let is_time = |column: &ColumnDescPtr| {
        column.name() == "time_ns" && column.physical_type() == PhysicalType::INT64
    };
    if rows().any(is_time) {
        let time = ColumnPath::from("time_ns");
        builder = builder
            .set_column_dictionary_enabled(time.clone(), false)
            .set_column_encoding(time, Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}

/// Returns the usual encodings of columns. `sought` names columns that readers filter by.
pub(super) fn writer_properties(keys: Vec<KeyValue>, sought: &[&str]) -> WriterPropertiesBuilder {
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("unwind-perf ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(keys))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_statistics_enabled(EnabledStatistics::None);
    for &name in sought {
        builder =
            builder.set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Chunk);
    }
    builder
}

/// Returns the metadata of the file: its type, and the facts of its recording.
fn key_values(profile: &Profile, types: ParquetTypes) -> Vec<KeyValue> {
    let info = &profile.recording;
    let text = |id: StringId| String::from_utf8_lossy(profile.strings.get(id)).into_owned();
    let mut pairs = vec![
        KeyValue::new("unwind_perf.schema".to_owned(), "unwind-perf-samples".to_owned()),
        KeyValue::new("unwind_perf.version".to_owned(), "1".to_owned()),
    ];
    if !info.command_line.is_empty() {
        let mut line = Vec::new();
        for &word in &info.command_line {
            line.extend_from_slice(if line.is_empty() { b"[\"" } else { b",\"" });
            push_json(&mut line, profile.strings.get(word));
            line.push(b'"');
        }
        line.push(b']');
        let line = String::from_utf8_lossy(&line).into_owned();
        pairs.push(KeyValue::new("unwind_perf.command_line".to_owned(), line));
    }
    let known = [
        ("hostname", info.hostname),
        ("os_release", info.os_release),
        ("arch", info.arch),
        ("perf_version", info.perf_version),
        ("cpu_desc", info.cpu_desc),
    ];
    pairs.extend(
        known
            .into_iter()
            .filter_map(|(key, id)| Some(KeyValue::new(format!("unwind_perf.{key}"), text(id?)))),
    );
    if let (ParquetTypes::Plain, Some(start)) = (types, start_utc_ns(profile)) {
        pairs.push(KeyValue::new("unwind_perf.start_utc_ns".to_owned(), start.to_string()));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_where_the_schema_has_them() {
        let schema = parquet::schema::types::SchemaDescriptor::new(
            ParquetTypes::Exact.schema().unwrap().into(),
        );
        let plain = |name: &str| name.replace('_', "").to_lowercase();
        let names: Vec<String> =
            schema.columns().iter().map(|column| plain(column.name())).collect();
        let columns: Vec<String> = ParquetColumn::ALL
            .iter()
            .map(|column| plain(&format!("{column:?}").replace("Program", "")))
            .collect();
        assert_eq!(names, columns);
        assert!(
            ParquetColumn::ALL.iter().enumerate().all(|(place, &column)| column as usize == place)
        );
        let plain = ParquetTypes::Plain.schema().unwrap();
        let plain = parquet::schema::types::SchemaDescriptor::new(plain.into());
        assert_eq!(plain.num_columns(), names.len());
        for column in plain.columns() {
            let is_number = column.physical_type() == parquet::basic::Type::INT64;
            assert!(column.logical_type_ref().is_none() || !is_number, "{column:?}");
        }
        for name in SOUGHT.iter().chain(&["time_ns"]) {
            assert!(schema.columns().iter().any(|column| column.path().string() == *name));
        }
    }
}
