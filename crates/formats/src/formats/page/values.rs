//! Values and spans in the page: a column of samples for each label, variable or field, and columns of spans.

use std::io;

use hashbrown::HashMap;
use profile::query::engine::{RowValue, ValueColumns};
use profile::{FieldRows, Profile, SpanRow, StringId};

use super::columns::{ColumnShape, column};
use super::schema::{RowColumn, Width};
use crate::render::encoding::json_writer::JsonWriter;
use crate::render::field_value::value_text;
use crate::short_text;

/// Names of the columns of values; a page has no more.
const COLUMNS: [&str; 16] = [
    "value0", "value1", "value2", "value3", "value4", "value5", "value6", "value7", "value8",
    "value9", "value10", "value11", "value12", "value13", "value14", "value15",
];

/// A label, a variable of functions, or the fields of one name.
struct PageValue {
    name: StringId,
    /// `label`, `variable` or `field`.
    kind: &'static str,
    /// The distinct values, in the order of their first samples.
    texts: Vec<RowValue>,
    /// By sample: index of its value.
    of_sample: Vec<u32>,
}

/// A span in units of the page.
struct PageSpan {
    name: usize,
    sample: u32,
    /// Index of its key plus 1; 0 for none.
    key: usize,
    duration: u64,
    own: u64,
}

/// Columns of spans. `duration` and `self` are in nanoseconds.
const SPANS: [RowColumn<PageSpan>; 5] = [
    RowColumn::new("spanName", Width::U8, |row| row.name as u64),
    RowColumn::new("spanSample", Width::U32, |row| row.sample.into()),
    RowColumn::new("spanKey", Width::U32, |row| row.key as u64),
    RowColumn::new("spanDuration", Width::F64, |row| (row.duration as f64).to_bits()),
    RowColumn::new("spanSelf", Width::F64, |row| (row.own as f64).to_bits()),
];

/// The values and spans of a profile; empty unless they were requested.
pub(super) struct PageValues {
    values: Vec<PageValue>,
    span_names: Vec<StringId>,
    span_keys: Vec<StringId>,
    spans: Vec<PageSpan>,
}

impl PageValues {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut all = Self {
            values: Vec::new(),
            span_names: Vec::new(),
            span_keys: Vec::new(),
            spans: Vec::new(),
        };
        for rows in profile.fields.columns() {
            let is_known = all.values.iter().any(|value| value.name == rows.name);
            if !is_known && all.values.len() < COLUMNS.len() {
                all.values.push(PageValue::new(profile, rows));
            }
        }
        let mut keys = HashMap::new();
        for &SpanRow { sample, name, key, duration, own } in profile.fields.spans.rows() {
            let known = all.span_names.iter().position(|it| *it == name);
            let name = known.unwrap_or_else(|| {
                all.span_names.push(name);
                all.span_names.len() - 1
            });
            let key = key.map_or(0, |key| {
                *keys.entry(key).or_insert_with(|| {
                    all.span_keys.push(key);
                    all.span_keys.len()
                })
            });
            // The options describe few spans; others than the first 256 have no number.
            if name <= usize::from(u8::MAX) {
                all.spans.push(PageSpan { name, sample: sample.as_u32(), key, duration, own });
            }
        }
        all
    }

    /// Appends names and texts to the head. Without values and spans, it appends nothing.
    pub(super) fn head(&self, profile: &Profile, json: &mut JsonWriter) {
        if !self.values.is_empty() {
            json.key("values").array(&self.values, |json, value| {
                json.object(|json| {
                    json.key("name").string(profile.strings.get(value.name));
                    json.key("kind").string(value.kind);
                    json.key("texts").array(&value.texts, |json, &text| {
                        json.string(&*short_text(&value_text(profile, text)));
                    });
                    let missing = value.texts.iter().map(|text| u8::from(text.is_err()));
                    json.key("missing").array(missing, JsonWriter::number);
                });
            });
        }
        if !self.spans.is_empty() {
            json.key("spans").object(|json| {
                let text = |json: &mut JsonWriter, &id: &StringId| {
                    json.string(&*short_text(profile.strings.get(id)));
                };
                json.key("names").array(&self.span_names, text);
                json.key("keys").array(&self.span_keys, text);
            });
        }
    }

    /// Returns the shapes of the columns.
    pub(super) fn shapes(&self) -> Vec<ColumnShape> {
        let values = COLUMNS.iter().zip(&self.values);
        let values = values.map(|(name, it)| (*name, it.width(), it.of_sample.len()));
        let mut shapes: Vec<ColumnShape> = values.collect();
        if !self.spans.is_empty() {
            shapes.extend(SPANS.iter().map(|it| (it.name, it.width, self.spans.len())));
        }
        shapes
    }

    /// Writes the columns in the order of their shapes.
    pub(super) fn write(&self, sink: &mut dyn io::Write) -> io::Result<()> {
        for value in &self.values {
            column(sink, value.width(), value.of_sample.iter().map(|&at| at.into()))?;
        }
        if self.spans.is_empty() {
            return Ok(());
        }
        SPANS.iter().try_for_each(|it| column(sink, it.width, self.spans.iter().map(it.number)))
    }
}

impl PageValue {
    /// Returns the values of a column, and of the other columns of its name.
    fn new(profile: &Profile, rows: &FieldRows) -> Self {
        let name = rows.name;
        let text = String::from_utf8_lossy(profile.strings.get(name));
        let kind = match rows.event {
            Some(_) => "field",
            // A variable is named as FUNCTION(PATH).
            None if text.ends_with(')') => "variable",
            None => "label",
        };
        let columns = ValueColumns::named(profile, &text);
        let mut index = HashMap::new();
        let mut texts = Vec::new();
        let samples = profile.samples.entries();
        let of_sample = samples.map(|(id, sample)| {
            let value = columns.of(sample.event, id);
            *index.entry(value).or_insert_with(|| {
                texts.push(value);
                texts.len() as u32 - 1
            })
        });
        let of_sample = of_sample.collect();
        Self { name, kind, texts, of_sample }
    }

    fn width(&self) -> Width {
        Width::of(self.texts.len())
    }
}

#[cfg(test)]
mod tests {
    use address::FieldKind;
    use profile::{
        EndReason, EventId, EventRow, FieldValue, LayoutId, NoLabel, SampleId, SampleRow, ThreadId,
    };

    use super::*;

    fn head(profile: &Profile) -> String {
        let mut json = JsonWriter::default();
        json.object(|json| PageValues::new(profile).head(profile, json));
        String::from_utf8(json.into_bytes()).unwrap()
    }

    #[test]
    fn values_and_spans_have_columns_if_they_were_requested() {
        let mut profile = Profile::default();
        let [name, query, text, request, key] = ["cycles", "query", "select", "request", "7"]
            .map(|it| profile.strings.intern(it.as_bytes()));
        profile.events.push(EventRow { name, kind: 0, config: 0, frequency: false, rate: 1 });
        let (thread, event, layout) = (ThreadId::new(0), EventId::new(0), LayoutId::new(0));
        for _ in 0..3 {
            let end = EndReason::Root;
            profile.samples.push(SampleRow::new(thread, event, end, None, layout));
        }
        assert_eq!(head(&profile), "{}");
        assert!(PageValues::new(&profile).shapes().is_empty());
        profile.fields.add_column(None, query, FieldKind::Text);
        profile.fields.push_unlabelled(0, SampleId::new(0), NoLabel::Ended);
        profile.fields.push(0, SampleId::new(1), FieldValue::Text(text));
        let (sample, key) = (SampleId::new(1), Some(key));
        let span = SpanRow { sample, name: request, key, duration: 1 << 40, own: 5 };
        profile.fields.spans.push(span);
        let expected = r#"{"values":[{"name":"query","kind":"label","texts":["[ended]","select","[no value]"],"missing":[1,0,1]}],"spans":{"names":["request"],"keys":["7"]}}"#;
        assert_eq!(head(&profile), expected);
        let values = PageValues::new(&profile);
        let shapes = values.shapes().into_iter();
        let shapes: Vec<_> = shapes.map(|(name, width, n)| (name, width.name(), n)).collect();
        assert_eq!(
            shapes,
            [
                ("value0", "u8", 3),
                ("spanName", "u8", 1),
                ("spanSample", "u32", 1),
                ("spanKey", "u32", 1),
                ("spanDuration", "f64", 1),
                ("spanSelf", "f64", 1),
            ]
        );
        let mut bytes = Vec::new();
        values.write(&mut bytes).unwrap();
        assert_eq!(bytes.len(), 6 * 8);
        assert_eq!((&bytes[..3], bytes[16], bytes[24]), (&[0, 1, 2][..], 1, 1));
        assert_eq!(bytes[32..40], ((1_u64 << 40) as f64).to_le_bytes());
    }
}
