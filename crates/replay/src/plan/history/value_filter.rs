//! The filter of samples by their fields and labels.

use options::{Condition, FieldSelection};
use perf_data::{FieldColumn, Head, RecordedFields, Sample, TraceValue};

use crate::plan::history::labels::{Labels, ThreadLabels};
use crate::values::{OwnedValue, json_array};

/// Maximum number of fields of an event that one condition looks at. Events have fewer; damaged formats repeat a field.
const MOST_FIELDS: usize = 256;

/// Conditions that samples have to fulfil. A sample without the value does not fulfil a condition.
#[derive(Debug, Default)]
pub(crate) struct ValueFilter(Vec<ResolvedCondition>);

#[derive(Debug)]
struct ResolvedCondition {
    condition: Condition,
    /// Index of the label that the condition names.
    label: Option<usize>,
    /// Otherwise the fields that it names, by event.
    fields: Vec<Vec<FieldColumn>>,
}

impl ValueFilter {
    /// Returns the filter for the events of a head.
    pub(crate) fn new(conditions: &[Condition], labels: Option<&Labels>, head: &Head) -> Self {
        if conditions.is_empty() {
            return Self::default();
        }
        let recorded = RecordedFields::of(head);
        let resolved = conditions.iter().map(|condition| {
            let names = labels.map_or(&[][..], Labels::columns);
            let label = names.iter().position(|(name, _)| *name == condition.field);
            let mut fields: Vec<Vec<FieldColumn>> = vec![Vec::new(); head.events().len()];
            for column in recorded.columns().iter().filter(|_| label.is_none()) {
                let at = usize::from(column.event);
                let (Some(event), Some(of_event)) = (head.events().get(at), fields.get_mut(at))
                else {
                    continue;
                };
                let has_room = of_event.len() < MOST_FIELDS;
                if has_room && FieldSelection::fits(&condition.field, &event.name, &column.name) {
                    of_event.push(column.clone());
                }
            }
            ResolvedCondition { condition: condition.clone(), label, fields }
        });
        Self(resolved.collect())
    }

    /// Returns true if all samples are wanted.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if a sample with these labels fulfils all conditions; one that cannot be decoded fulfils none.
    #[inline]
    pub(crate) fn passes(
        &self,
        sample: Option<&Sample<'_>>,
        labels: Option<&ThreadLabels>,
    ) -> bool {
        self.is_empty() || sample.is_some_and(|sample| self.wants(sample, labels))
    }

    fn wants(&self, sample: &Sample<'_>, labels: Option<&ThreadLabels>) -> bool {
        self.0.iter().all(|it| match it.label {
            Some(label) => {
                let value = labels.and_then(|labels| labels.get(label));
                value.is_some_and(|value| value.fulfils(&it.condition))
            }
            None => {
                let of_event = it.fields.get(usize::from(sample.event)).into_iter().flatten();
                let mut values = of_event.filter_map(|field| field.value(sample));
                values.any(|value| fulfils(&it.condition, &value))
            }
        })
    }
}

impl OwnedValue {
    fn fulfils(&self, condition: &Condition) -> bool {
        match self {
            Self::Signed(number) => condition.holds_for_number(i128::from(*number)),
            Self::Unsigned(number) => condition.holds_for_number(i128::from(*number)),
            Self::Text(text) | Self::List(text) => condition.holds_for_text(text),
            Self::Printed(_) | Self::NoLabel(_) => false,
        }
    }
}

/// Returns true if a value fulfils a condition. The text of a list is its JSON array.
pub(crate) fn fulfils(condition: &Condition, value: &TraceValue<'_>) -> bool {
    match value {
        TraceValue::Signed(number, _) => condition.holds_for_number(i128::from(*number)),
        TraceValue::Unsigned(number, _) => condition.holds_for_number(i128::from(*number)),
        TraceValue::Text(text) => condition.holds_for_text(text),
        TraceValue::List(values) => condition.holds_for_text(json_array(values).as_bytes()),
    }
}
