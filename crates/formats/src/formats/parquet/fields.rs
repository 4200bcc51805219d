//! Columns for the values of requested fields, named `EVENT/FIELD`, after the columns of the schema.

use std::ops::Range;
use std::sync::Arc;

use address::FieldKind;
use hashbrown::HashMap;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;
use profile::{FieldRows, FieldValue, Profile, RowId as _, SampleId, StringId};

use super::schema::ParquetTypes;
use crate::render::field_value::column_name;

/// Returns the schema with a column for each requested field.
pub(super) fn with_fields(
    schema: Type,
    profile: &Profile,
    types: ParquetTypes,
) -> Result<Type, ParquetError> {
    if profile.fields.is_empty() {
        return Ok(schema);
    }
    let mut columns = schema.get_fields().to_vec();
    for column in profile.fields.columns() {
        columns.push(Arc::new(column_type(column, profile, types)?));
    }
    Type::group_type_builder(schema.name()).with_fields(columns).build()
}

fn column_type(
    column: &FieldRows,
    profile: &Profile,
    types: ParquetTypes,
) -> Result<Type, ParquetError> {
    let is_plain = types == ParquetTypes::Plain;
    let (physical, logical) = match column.kind {
        FieldKind::Signed => (PhysicalType::INT64, None),
        FieldKind::Unsigned if is_plain => (PhysicalType::INT64, None),
        FieldKind::Unsigned => {
            let logical = LogicalType::integer(64, false);
            (PhysicalType::INT64, Some(logical))
        }
        FieldKind::List if is_plain => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        FieldKind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        FieldKind::List => (PhysicalType::BYTE_ARRAY, Some(LogicalType::Json)),
    };
    Type::primitive_type_builder(&column_name(profile, column), physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// Writes the values of a range of samples.
pub(super) fn fill(
    column: &FieldRows,
    samples: Range<usize>,
    profile: &Profile,
    writer: &mut ColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let all = column.samples();
    let bound = |index| all.partition_point(|sample| *sample < SampleId::from_index(index));
    let rows = bound(samples.start)..bound(samples.end);
    let mut levels = vec![0_i16; samples.len()];
    for sample in all.get(rows.clone()).unwrap_or_default() {
        if let Some(level) = levels.get_mut(sample.index() - samples.start) {
            *level = 1;
        }
    }
    let values = column.values().get(rows).unwrap_or_default();
    let number = |value: &FieldValue| match *value {
        FieldValue::Signed(number) => number,
        FieldValue::Unsigned(number) => number.cast_signed(),
        FieldValue::Text(_) | FieldValue::List(_) => 0,
    };
    // Samples share the text of a label.
    let mut texts: HashMap<StringId, ByteArray> = HashMap::new();
    let mut text = |value: &FieldValue| match *value {
        FieldValue::Text(id) | FieldValue::List(id) => {
            let text = || String::from_utf8_lossy(profile.strings.get(id)).into_owned();
            texts.entry(id).or_insert_with(|| ByteArray::from(text().into_bytes())).clone()
        }
        FieldValue::Signed(_) | FieldValue::Unsigned(_) => ByteArray::from(Vec::new()),
    };
    match writer {
        ColumnWriter::Int64ColumnWriter(writer) => {
            write::<Int64Type>(writer, values.iter().map(number).collect(), &levels)
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            write::<ByteArrayType>(writer, values.iter().map(&mut text).collect(), &levels)
        }
        _ => Err(ParquetError::General("a field is neither a number nor text".to_owned())),
    }
}

fn write<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: Vec<T::T>,
    levels: &[i16],
) -> Result<(), ParquetError> {
    writer.write_batch(&values, Some(levels), None).map(drop)
}
