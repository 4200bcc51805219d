//! Fields of samples that the options of a run name.

use options::FieldSelection;
use perf_data::{FieldColumn, Head};

use crate::error::Error;

/// The fields of a recording, with the names of their events.
struct RecordedFields(Vec<(String, FieldColumn)>);

impl RecordedFields {
    fn of(head: &Head) -> Self {
        let named = |column: FieldColumn| {
            let event = head.events().get(usize::from(column.event))?;
            Some((event.name.clone(), column))
        };
        Self(FieldColumn::all(head).into_iter().filter_map(named).collect())
    }

    /// Returns the fields that a pattern selects.
    fn selected<'f>(&'f self, pattern: &'f str) -> impl Iterator<Item = &'f FieldColumn> {
        let selected =
            self.0.iter().filter(|(event, it)| FieldSelection::fits(pattern, event, &it.name));
        selected.map(|(_, column)| column)
    }

    fn names(&self, is_wanted: impl Fn(&FieldColumn) -> bool) -> Vec<String> {
        let wanted = self.0.iter().filter(|(_, column)| is_wanted(column));
        wanted.map(|(event, column)| format!("{event}/{}", column.name.escape_ascii())).collect()
    }
}

/// Refuses patterns that select no field.
pub(super) fn check_selection(selection: &FieldSelection, head: &Head) -> Result<(), Error> {
    if selection.is_empty() {
        return Ok(());
    }
    let fields = RecordedFields::of(head);
    let is_unknown = |pattern: &&String| {
        *pattern != FieldSelection::ALL && fields.selected(pattern).next().is_none()
    };
    match selection.patterns.iter().find(is_unknown) {
        None => Ok(()),
        Some(pattern) => {
            Err(Error::UnknownField { pattern: pattern.clone(), recorded: fields.names(|_| true) })
        }
    }
}

/// Returns the events whose samples are weighed by a field, with the name of the first one that fits.
pub(super) fn weights(pattern: &str, head: &Head) -> Vec<(u16, Box<[u8]>)> {
    let fields = RecordedFields::of(head);
    let numbers = fields.selected(pattern).filter(|column| column.kind.is_number());
    let mut weights: Vec<_> = numbers.map(|column| (column.event, column.name.clone())).collect();
    weights.dedup_by_key(|(event, _)| *event);
    weights
}

/// Returns the events whose samples are weighed by a field.
///
/// # Errors
/// If the pattern selects no field of numbers.
pub(super) fn weighed_events(pattern: &str, head: &Head) -> Result<Vec<u16>, Error> {
    let fields = RecordedFields::of(head);
    if fields.selected(pattern).next().is_none() {
        let (pattern, recorded) = (pattern.to_owned(), fields.names(|_| true));
        return Err(Error::UnknownField { pattern, recorded });
    }
    let events: Vec<u16> = weights(pattern, head).into_iter().map(|(event, _)| event).collect();
    if events.is_empty() {
        let recorded = fields.names(|column| column.kind.is_number());
        return Err(Error::WeightNotNumber { pattern: pattern.to_owned(), recorded });
    }
    Ok(events)
}
