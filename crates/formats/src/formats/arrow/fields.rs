//! Columns for the values of requested fields and labels, after the other columns of samples.

use std::ops::Range;
use std::sync::Arc;

use address::FieldKind;
use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, Int32Array, Int64Array, StringArray, UInt64Array};
use arrow_schema::ArrowError;
use hashbrown::HashMap;
use profile::{FieldRows, FieldValue, Profile, RowId as _, SampleId, StringId};

use super::stream::Column;
use crate::render::field_value::column_name;
use crate::render::truncation::in_table;

/// Returns the first `most` columns for a range of samples.
pub(super) fn columns(
    profile: &Profile,
    samples: &Range<usize>,
    most: usize,
) -> Result<Vec<Column>, ArrowError> {
    let columns = profile.fields.columns().iter().take(most);
    columns.map(|rows| column(rows, samples, profile)).collect()
}

fn column(
    rows: &FieldRows,
    samples: &Range<usize>,
    profile: &Profile,
) -> Result<Column, ArrowError> {
    let name = column_name(profile, rows);
    let values = || samples.clone().map(|at| rows.of_sample(SampleId::from_index(at)));
    let text = |value: FieldValue| -> Option<StringId> {
        match value {
            FieldValue::Text(id) | FieldValue::List(id) => Some(id),
            FieldValue::Signed(_) | FieldValue::Unsigned(_) => None,
        }
    };
    Ok(match rows.kind {
        FieldKind::Signed => {
            let number = |value| match value {
                FieldValue::Signed(number) => Some(number),
                _ => None,
            };
            Column::optional(name, values().map(|it| number(it?)).collect::<Int64Array>())
        }
        FieldKind::Unsigned => {
            let number = |value| match value {
                FieldValue::Unsigned(number) => Some(number),
                _ => None,
            };
            Column::optional(name, values().map(|it| number(it?)).collect::<UInt64Array>())
        }
        FieldKind::Text | FieldKind::List => {
            Column::optional(name, texts(values().map(|value| text(value?)), profile)?)
        }
    })
}

/// Returns a column of texts, with a dictionary of those of the range.
fn texts(
    rows: impl Iterator<Item = Option<StringId>>,
    profile: &Profile,
) -> Result<DictionaryArray<Int32Type>, ArrowError> {
    let mut index: HashMap<StringId, i32> = HashMap::new();
    let mut names = Vec::new();
    let numbers = rows.map(|row| {
        let next = i32::try_from(names.len()).ok()?;
        Some(*index.entry(row?).or_insert_with_key(|id| {
            let text = in_table(profile.strings.get(*id));
            names.push(String::from_utf8_lossy(&text).into_owned());
            next
        }))
    });
    let numbers: Int32Array = numbers.collect();
    DictionaryArray::try_new(numbers, Arc::new(StringArray::from(names)))
}
