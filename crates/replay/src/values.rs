//! Values of the requested fields and labels in a slice.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_data::TraceValue;
use profile::{EventId, FieldValue, NoLabel, StringId, Strings};

use crate::redactor::Redactor;

/// The value of a field or label in a sample.
#[derive(Clone, Debug)]
pub(crate) struct SliceValue {
    /// Index of the sample in the slice.
    pub(crate) sample: u32,
    /// Index of the column; for the text of the whole sample, of the event.
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
    /// Text of the whole sample, by the format of its event.
    Printed(Box<[u8]>),
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
            Self::Text(_) | Self::Printed(_) | Self::NoLabel(_) => self,
        }
    }

    /// Size of the text, in bytes.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::List(text) => text.len(),
            Self::Printed(text) => text.len(),
            Self::Signed(_) | Self::Unsigned(_) | Self::NoLabel(_) => 0,
        }
    }
}

impl SliceValue {
    pub(crate) const fn new(sample: u32, column: usize, value: OwnedValue) -> Self {
        Self { sample, column: column as u32, value }
    }

    /// Creates the text of a sample of an event.
    pub(crate) fn printed(sample: u32, event: u16, text: Vec<u8>) -> Self {
        Self { sample, column: event.into(), value: OwnedValue::Printed(text.into()) }
    }

    /// Returns the event and the text of the whole sample, if the value is one.
    pub(crate) fn as_printed(&self) -> Option<(EventId, &[u8])> {
        match &self.value {
            OwnedValue::Printed(text) => Some((EventId::new(self.column as u16), text)),
            _ => None,
        }
    }

    /// Returns the value with its text in `texts`, or the reason that there is none.
    pub(crate) fn interned(&self, texts: &mut ValueTexts<'_>) -> Result<FieldValue, NoLabel> {
        Ok(match &self.value {
            OwnedValue::NoLabel(reason) => return Err(*reason),
            // A long text of many samples is read once.
            OwnedValue::Text(text) if Arc::strong_count(text) > 1 => {
                let known = texts.shared.get(&text.as_ptr()).copied();
                let id = known.unwrap_or_else(|| texts.intern(text));
                texts.shared.insert(text.as_ptr(), id);
                FieldValue::Text(id)
            }
            OwnedValue::Text(text) => FieldValue::Text(texts.intern(text)),
            OwnedValue::Printed(text) => FieldValue::Text(texts.intern(text)),
            OwnedValue::List(text) if texts.redactor.is_some() => {
                FieldValue::Text(texts.intern(text))
            }
            OwnedValue::List(text) => FieldValue::List(texts.intern(text)),
            OwnedValue::Signed(number) => match texts.redacted_number(*number) {
                Some(text) => FieldValue::Text(text),
                None => FieldValue::Signed(*number),
            },
            OwnedValue::Unsigned(number) => match texts.redacted_number(*number) {
                Some(text) => FieldValue::Text(text),
                None => FieldValue::Unsigned(*number),
            },
        })
    }

    /// Size in memory, in bytes. Text that samples share is counted elsewhere.
    pub(crate) fn bytes(&self) -> usize {
        let is_shared = match &self.value {
            OwnedValue::Text(text) | OwnedValue::List(text) => Arc::strong_count(text) > 1,
            OwnedValue::Signed(_)
            | OwnedValue::Unsigned(_)
            | OwnedValue::Printed(_)
            | OwnedValue::NoLabel(_) => false,
        };
        size_of::<Self>() + if is_shared { 0 } else { self.value.text_bytes() }
    }
}

/// The texts of values in a profile.
pub(crate) struct ValueTexts<'m> {
    strings: &'m mut Strings,
    /// Ids of texts that samples of the slice share, by address.
    shared: HashMap<*const u8, StringId>,
    /// Replaces values by hashes, if requested.
    redactor: Option<&'m Redactor>,
}

impl<'m> ValueTexts<'m> {
    pub(crate) fn new(strings: &'m mut Strings, redactor: Option<&'m Redactor>) -> Self {
        Self { strings, shared: HashMap::new(), redactor }
    }

    /// Returns the id of a text or, if values are replaced, of its hash.
    pub(crate) fn intern(&mut self, text: &[u8]) -> StringId {
        match self.redactor {
            Some(redactor) => self.strings.intern(&redactor.hash(text)),
            None => self.strings.intern(text),
        }
    }

    fn redacted_number(&mut self, number: impl ToString) -> Option<StringId> {
        let redactor = self.redactor?;
        Some(self.strings.intern(&redactor.hash(number.to_string().as_bytes())))
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
