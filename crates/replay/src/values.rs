//! Values of the requested fields in a slice.

use perf_data::TraceValue;
use profile::{FieldValue, Strings};

/// The value of a field in a sample.
#[derive(Clone, Debug)]
pub(crate) struct SliceValue {
    /// Index of the sample in the slice.
    pub(crate) sample: u32,
    /// Index of the column.
    pub(crate) column: u32,
    value: OwnedValue,
}

#[derive(Clone, Debug)]
enum OwnedValue {
    Signed(i64),
    Unsigned(u64),
    Text(Box<[u8]>),
    /// A JSON array.
    List(Box<[u8]>),
}

impl SliceValue {
    pub(crate) fn new(sample: u32, column: usize, value: TraceValue<'_>) -> Self {
        let value = match value {
            TraceValue::Signed(number, _) => OwnedValue::Signed(number),
            TraceValue::Unsigned(number, _) => OwnedValue::Unsigned(number),
            TraceValue::Text(text) => OwnedValue::Text(text.into()),
            TraceValue::List(values) => OwnedValue::List(json_array(&values).into_bytes().into()),
        };
        Self { sample, column: column as u32, value }
    }

    /// Returns the value with its text in `strings`.
    pub(crate) fn interned(&self, strings: &mut Strings) -> FieldValue {
        match &self.value {
            OwnedValue::Signed(number) => FieldValue::Signed(*number),
            OwnedValue::Unsigned(number) => FieldValue::Unsigned(*number),
            OwnedValue::Text(text) => FieldValue::Text(strings.intern(text)),
            OwnedValue::List(text) => FieldValue::List(strings.intern(text)),
        }
    }

    /// Size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let text = match &self.value {
            OwnedValue::Signed(_) | OwnedValue::Unsigned(_) => 0,
            OwnedValue::Text(text) | OwnedValue::List(text) => text.len(),
        };
        size_of::<Self>() + text
    }
}

/// Returns numbers as a JSON array.
fn json_array(values: &[TraceValue<'_>]) -> String {
    let number = |value: &TraceValue<'_>| match value {
        TraceValue::Signed(number, _) => number.to_string(),
        TraceValue::Unsigned(number, _) => number.to_string(),
        TraceValue::Text(_) | TraceValue::List(_) => "null".to_owned(),
    };
    let numbers: Vec<_> = values.iter().map(number).collect();
    format!("[{}]", numbers.join(","))
}
