//! Fields of samples that the options of a run name.

use options::{Condition, FieldSelection, LabelOptions, SpanOptions, fits_event};
use perf_data::{FieldColumn, Head, RecordedFields, SelectedFields};

use super::spans::begins;
use crate::error::Error;

/// Returns true if a pattern selects a field of the recording.
fn selects(pattern: &str, column: &FieldColumn, head: &Head) -> bool {
    let event = head.events().get(usize::from(column.event));
    event.is_some_and(|event| FieldSelection::fits(pattern, &event.name, &column.name))
}

/// Returns fields as `EVENT/FIELD`, for an error.
pub(super) fn names<'f>(fields: impl Iterator<Item = &'f FieldColumn>, head: &Head) -> Vec<String> {
    let name = |column: &FieldColumn| {
        let event = head.events().get(usize::from(column.event))?;
        Some(format!("{}/{}", event.name, column.name.escape_ascii()))
    };
    fields.filter_map(name).collect()
}

/// Refuses patterns that select no field.
pub(in crate::runs) fn check_selection(
    selection: &FieldSelection,
    head: &Head,
) -> Result<(), Error> {
    if selection.is_empty() {
        return Ok(());
    }
    let fields = RecordedFields::of(head);
    let is_unknown = |pattern: &&String| {
        *pattern != FieldSelection::ALL
            && !fields.columns().iter().any(|column| selects(pattern, column, head))
    };
    match selection.patterns.iter().find(is_unknown) {
        None => Ok(()),
        Some(pattern) => Err(Error::UnknownField {
            option: "with_fields",
            pattern: pattern.clone(),
            recorded: names(fields.columns().iter(), head),
        }),
    }
}

/// Refuses labels and conditions that name unknown fields or events, or compare values with those of another type.
pub(in crate::runs) fn check_values(
    conditions: &[Condition],
    labels: &LabelOptions,
    head: &Head,
) -> Result<(), Error> {
    if conditions.is_empty() && labels.is_empty() {
        return Ok(());
    }
    let fields = RecordedFields::of(head);
    let found = |option: &'static str, pattern: &str| {
        let found: Vec<_> =
            fields.columns().iter().filter(|column| selects(pattern, column, head)).collect();
        if found.is_empty() {
            let recorded = names(fields.columns().iter(), head);
            return Err(Error::UnknownField { option, pattern: pattern.to_owned(), recorded });
        }
        Ok(found)
    };
    for label in &labels.labels {
        found("label", &label.field)?;
    }
    for field in &labels.handovers {
        if !found("handover", field)?.iter().any(|column| column.kind.is_number()) {
            let numbers = fields.columns().iter().filter(|column| column.kind.is_number());
            let (pattern, recorded) = (field.clone(), names(numbers, head));
            return Err(Error::FieldNotNumber { option: "handover", pattern, recorded });
        }
    }
    for event in &labels.ends {
        if !head.events().iter().any(|it| fits_event(event, &it.name)) {
            let recorded = head.events().iter().map(|it| it.name.to_string()).collect();
            return Err(Error::UnknownEvent { option: "label_end", name: event.clone(), recorded });
        }
    }
    let of_labels = labels.when.iter().map(|condition| ("label_when", condition));
    let of_samples = conditions.iter().map(|condition| ("where", condition));
    for (option, condition) in of_labels.chain(of_samples) {
        let of_label =
            labels.labels.iter().filter(|it| option == "where" && it.name == condition.field);
        let mut fields = Vec::new();
        for label in of_label {
            fields.extend(found("label", &label.field)?);
        }
        if fields.is_empty() {
            fields = found(option, &condition.field)?;
        }
        if !fields.iter().any(|column| condition.suits(column.kind)) {
            let is_text = fields.iter().any(|column| !column.kind.is_number());
            let kinds = if is_text { "text" } else { "numbers" };
            return Err(Error::ConditionType { option, condition: condition.to_string(), kinds });
        }
    }
    Ok(())
}

/// The weight of samples: a field, or the durations of spans.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighing<'o> {
    /// Pattern of the field, or name of the spans.
    pub(crate) pattern: &'o str,
    pub(crate) spans: &'o SpanOptions,
}

/// Returns the events whose samples are weighed, with their names by the weight.
pub(in crate::runs) fn weights(weighing: Weighing<'_>, head: &Head) -> Vec<(u16, Vec<u8>)> {
    let Weighing { pattern, spans } = weighing;
    if let Some((name, _)) = spans.weight(pattern) {
        let begins = begins(spans, name, head).into_iter();
        return begins.map(|event| (event, pattern.as_bytes().to_vec())).collect();
    }
    let mut fields = SelectedFields::default();
    fields.weigh_by(head, |event, name| FieldSelection::fits(pattern, &event.name, name));
    let named = |column: &FieldColumn| {
        let event = head.events().get(usize::from(column.event))?;
        Some((column.event, [event.name.as_bytes(), b"/", &column.name].concat()))
    };
    fields.weights().filter_map(named).collect()
}

/// Returns the events whose samples are weighed.
///
/// # Errors
/// If the pattern selects no field of numbers.
pub(in crate::runs) fn weighed_events(
    weighing: Weighing<'_>,
    head: &Head,
) -> Result<Vec<u16>, Error> {
    let events: Vec<u16> = weights(weighing, head).into_iter().map(|(event, _)| event).collect();
    if !events.is_empty() {
        return Ok(events);
    }
    let (fields, pattern) = (RecordedFields::of(head), weighing.pattern.to_owned());
    if fields.columns().iter().any(|column| selects(&pattern, column, head)) {
        let numbers = fields.columns().iter().filter(|column| column.kind.is_number());
        let recorded = names(numbers, head);
        return Err(Error::FieldNotNumber { option: "weight_field", pattern, recorded });
    }
    let recorded = names(fields.columns().iter(), head);
    Err(Error::UnknownField { option: "weight_field", pattern, recorded })
}
