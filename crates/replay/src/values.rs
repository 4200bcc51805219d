//! Values of the requested fields and labels in a slice.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_data::TraceValue;
use profile::{FieldValue, NoLabel, StringId, Strings};

/// The value of a field or label in a sample.
#[derive(Clone, Debug)]
pub(crate) struct SliceValue {
    /// Index of the sample in the slice.
    pub(crate) sample: u32,
    /// Index of the column.
    pub(crate) column: u32,
    value: OwnedValue,
}

/// A value, or the reason that a label has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnedValue {
    Signed(i64),
    Unsigned(u64),
    Text(Arc<[u8]>),
    /// A JSON array.
    List(Arc<[u8]>),
    NoLabel(NoLabel),
}

impl OwnedValue {
    pub(crate) fn of(value: TraceValue<'_>) -> Self {
        match value {
            TraceValue::Signed(number, _) => Self::Signed(number),
            TraceValue::Unsigned(number, _) => Self::Unsigned(number),
            TraceValue::Text(text) => Self::Text(text.into()),
            TraceValue::List(values) => Self::List(json_array(&values).into_bytes().into()),
        }
    }

    /// Returns a number as text.
    pub(crate) fn into_text(self) -> Self {
        match self {
            Self::Signed(number) => Self::Text(number.to_string().into_bytes().into()),
            Self::Unsigned(number) => Self::Text(number.to_string().into_bytes().into()),
            Self::List(text) => Self::Text(text),
            Self::Text(_) | Self::NoLabel(_) => self,
        }
    }

    /// Size of the text, in bytes.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::List(text) => text.len(),
            Self::Signed(_) | Self::Unsigned(_) | Self::NoLabel(_) => 0,
        }
    }
}

impl SliceValue {
    pub(crate) const fn new(sample: u32, column: usize, value: OwnedValue) -> Self {
        Self { sample, column: column as u32, value }
    }

    /// Returns the value with its text in `strings`, or the reason that there is none. `shared` has the ids of texts that
    /// samples of the slice share, by address.
    pub(crate) fn interned(
        &self,
        strings: &mut Strings,
        shared: &mut HashMap<*const u8, StringId>,
    ) -> Result<FieldValue, NoLabel> {
        Ok(match &self.value {
            OwnedValue::Signed(number) => FieldValue::Signed(*number),
            OwnedValue::Unsigned(number) => FieldValue::Unsigned(*number),
            // A long text of many samples is read once.
            OwnedValue::Text(text) if Arc::strong_count(text) > 1 => {
                let id = shared.entry(text.as_ptr()).or_insert_with(|| strings.intern(text));
                FieldValue::Text(*id)
            }
            OwnedValue::Text(text) => FieldValue::Text(strings.intern(text)),
            OwnedValue::List(text) => FieldValue::List(strings.intern(text)),
            OwnedValue::NoLabel(reason) => return Err(*reason),
        })
    }

    /// Size in memory, in bytes. Text that samples share is counted elsewhere.
    pub(crate) fn bytes(&self) -> usize {
        let is_shared = match &self.value {
            OwnedValue::Text(text) | OwnedValue::List(text) => Arc::strong_count(text) > 1,
            OwnedValue::Signed(_) | OwnedValue::Unsigned(_) | OwnedValue::NoLabel(_) => false,
        };
        size_of::<Self>() + if is_shared { 0 } else { self.value.text_bytes() }
    }
}

/// Returns numbers as a JSON array.
pub(crate) fn json_array(values: &[TraceValue<'_>]) -> String {
    let number = |value: &TraceValue<'_>| match value {
        TraceValue::Signed(number, _) => number.to_string(),
        TraceValue::Unsigned(number, _) => number.to_string(),
        TraceValue::Text(_) | TraceValue::List(_) => "null".to_owned(),
    };
    let numbers: Vec<_> = values.iter().map(number).collect();
    format!("[{}]", numbers.join(","))
}
