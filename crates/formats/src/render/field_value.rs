//! Values of fields and labels: as text, as names of columns, and as combinations that samples are counted by.

use hashbrown::HashMap;
use profile::query::engine::{NoValue, RowValue};
use profile::{FieldValue, NoLabel, Profile, RowId as _, SampleId, StringId, Table};

use crate::render::escaped::Escaped;
use crate::render::text::push_number;

/// Appends a value: a number, a text in quotation marks, or a JSON array of numbers.
pub(crate) fn push_value(
    out: &mut Vec<u8>,
    value: FieldValue,
    profile: &Profile,
    strings: &Escaped<'_>,
) {
    match value {
        FieldValue::Signed(number) => push_number(out, number),
        FieldValue::Unsigned(number) => push_number(out, number),
        FieldValue::List(list) => out.extend_from_slice(profile.strings.get(list)),
        FieldValue::Text(text) => {
            out.push(b'"');
            out.extend_from_slice(strings.get(text));
            out.push(b'"');
        }
    }
}

/// Returns a value for people, as bytes that are usually UTF-8; without one, the reason in brackets.
pub(crate) fn value_text(profile: &Profile, value: RowValue) -> Vec<u8> {
    let missing: &[u8] = match value {
        Ok(FieldValue::Signed(number)) => return number.to_string().into_bytes(),
        Ok(FieldValue::Unsigned(number)) => return number.to_string().into_bytes(),
        Ok(FieldValue::Text(id) | FieldValue::List(id)) => return profile.strings.get(id).to_vec(),
        Err(NoValue::NoField) => b"[no value]",
        Err(NoValue::NoLabel(NoLabel::BeforeFirst)) => b"[before the first]",
        Err(NoValue::NoLabel(NoLabel::Ended)) => b"[ended]",
        Err(NoValue::NoLabel(NoLabel::Unknown)) => b"[unknown: events are missing]",
        Err(NoValue::NoLabel(NoLabel::Absent(why))) => {
            return format!("[no value: {why}]").into_bytes();
        }
    };
    missing.to_vec()
}

/// Returns the name of a column in tables with a column for each field: `EVENT/FIELD`, or `label/NAME`.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) fn column_name(profile: &Profile, column: &profile::FieldRows) -> String {
    let event =
        column.event.map_or(&b"label"[..], |event| profile::query::event_name(profile, event));
    [event, profile.strings.get(column.name)].map(String::from_utf8_lossy).join("/")
}

/// Returns a value in JSON. `text` returns a string of the profile.
pub fn value_json(value: FieldValue, text: impl Fn(StringId) -> String) -> serde_json::Value {
    match value {
        FieldValue::Signed(number) => number.into(),
        FieldValue::Unsigned(number) => number.into(),
        FieldValue::Text(id) | FieldValue::List(id) => text(id).into(),
    }
}

/// The distinct combinations of values of a profile. Number 0 is the one without values.
#[derive(Debug)]
pub(crate) struct DistinctValues {
    all: Vec<Vec<(StringId, FieldValue)>>,
    /// `None` if no field was requested.
    of_sample: Option<Table<SampleId, u32>>,
}

impl DistinctValues {
    pub(crate) fn new(profile: &Profile) -> Self {
        let mut all = vec![Vec::new()];
        if profile.fields.is_empty() {
            return Self { all, of_sample: None };
        }
        let mut index: HashMap<Vec<(StringId, FieldValue)>, u32> = HashMap::new();
        index.insert(Vec::new(), 0);
        let rows = profile.samples.iter().enumerate().map(|(at, sample)| {
            let values = profile.fields.of_sample(sample.event, SampleId::from_index(at));
            let values: Vec<_> = values.map(|(column, value)| (column.name, value)).collect();
            *index.entry(values).or_insert_with_key(|values| {
                all.push(values.clone());
                all.len() as u32 - 1
            })
        });
        let of_sample = Some(rows.collect());
        Self { all, of_sample }
    }

    /// Returns the number of the combination that a sample has.
    pub(crate) fn of_sample(&self, sample: SampleId) -> u32 {
        let table = self.of_sample.as_ref();
        table.and_then(|table| table.get(sample)).copied().unwrap_or(0)
    }

    /// Returns the names and values of a combination.
    pub(crate) fn get(&self, number: u32) -> &[(StringId, FieldValue)] {
        self.all.get(number as usize).map_or(&[], Vec::as_slice)
    }
}
