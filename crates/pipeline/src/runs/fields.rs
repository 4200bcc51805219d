//! Fields of samples that the options of a run name.

use options::FieldSelection;
use perf_data::{FieldColumn, Head, RecordedFields, SelectedFields};

use crate::error::Error;

/// Returns true if a pattern selects a field of the recording.
fn selects(pattern: &str, column: &FieldColumn, head: &Head) -> bool {
    let event = head.events().get(usize::from(column.event));
    event.is_some_and(|event| FieldSelection::fits(pattern, &event.name, &column.name))
}

/// Returns fields as `EVENT/FIELD`, for an error.
fn names<'f>(fields: impl Iterator<Item = &'f FieldColumn>, head: &Head) -> Vec<String> {
    let name = |column: &FieldColumn| {
        let event = head.events().get(usize::from(column.event))?;
        Some(format!("{}/{}", event.name, column.name.escape_ascii()))
    };
    fields.filter_map(name).collect()
}

/// Refuses patterns that select no field.
pub(super) fn check_selection(selection: &FieldSelection, head: &Head) -> Result<(), Error> {
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

/// Returns the events whose samples are weighed by a field, with its name.
pub(super) fn weights(pattern: &str, head: &Head) -> Vec<(u16, Box<[u8]>)> {
    let mut fields = SelectedFields::default();
    fields.weigh_by(head, |event, name| FieldSelection::fits(pattern, &event.name, name));
    fields.weights().map(|column| (column.event, column.name.clone())).collect()
}

/// Returns the events whose samples are weighed by a field.
///
/// # Errors
/// If the pattern selects no field of numbers.
pub(super) fn weighed_events(pattern: &str, head: &Head) -> Result<Vec<u16>, Error> {
    let events: Vec<u16> = weights(pattern, head).into_iter().map(|(event, _)| event).collect();
    if !events.is_empty() {
        return Ok(events);
    }
    let (fields, pattern) = (RecordedFields::of(head), pattern.to_owned());
    if fields.columns().iter().any(|column| selects(&pattern, column, head)) {
        let numbers = fields.columns().iter().filter(|column| column.kind.is_number());
        return Err(Error::WeightNotNumber { pattern, recorded: names(numbers, head) });
    }
    let recorded = names(fields.columns().iter(), head);
    Err(Error::UnknownField { option: "weight_field", pattern, recorded })
}
