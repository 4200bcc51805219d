//! Rows of a table by the values of a field or a label.

use options::FieldSelection;

use super::selection::Selection;
use crate::id::{EventId, SampleId};
use crate::profile::Profile;
use crate::query::cost::Cost;
use crate::query::grouped::event_name;
use crate::reason::WaitKind;
use crate::tables::{FieldRows, FieldValue, NoLabel};

/// Value that a row stands for, or the reason that its samples have none.
pub type RowValue = Result<FieldValue, NoValue>;

/// Reason that samples have no value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NoValue {
    /// Their event does not have the field, or the sample lacks it.
    NoField,
    /// Their thread has no label.
    NoLabel(NoLabel),
}

impl NoValue {
    /// The keyword.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoField => "no-field",
            Self::NoLabel(reason) => reason.as_str(),
        }
    }
}

/// The columns with the values of one name.
#[derive(Clone, Debug, Default)]
pub struct ValueColumns<'p> {
    label: Option<&'p FieldRows>,
    /// Fields by event, if there is no such label.
    of_event: Vec<Vec<&'p FieldRows>>,
}

impl<'p> ValueColumns<'p> {
    /// Returns the column of the label of that name or, if there is none, those of the fields that a pattern
    /// `EVENT/FIELD` or `FIELD` selects.
    #[must_use]
    pub fn named(profile: &'p Profile, name: &str) -> Self {
        let all = || profile.fields.columns().iter();
        let is_label = |rows: &&FieldRows| {
            rows.event.is_none() && profile.strings.get(rows.name) == name.as_bytes()
        };
        let mut columns = Self { label: all().find(is_label), of_event: Vec::new() };
        if columns.label.is_some() {
            return columns;
        }
        columns.of_event.resize(profile.events.len(), Vec::new());
        for rows in all() {
            let Some(id) = rows.event else { continue };
            let event = String::from_utf8_lossy(event_name(profile, id));
            if FieldSelection::fits(name, &event, profile.strings.get(rows.name))
                && let Some(of_event) = columns.of_event.get_mut(id.index())
            {
                of_event.push(rows);
            }
        }
        columns
    }

    /// Returns the value of a sample of an event.
    ///
    /// # Errors
    /// Returns the reason that the sample has no value.
    pub fn of(&self, event: EventId, sample: SampleId) -> RowValue {
        let fields = self.of_event.get(event.index()).into_iter().flatten();
        let mut values = self.label.iter().chain(fields).filter_map(|rows| rows.label(sample));
        match values.next() {
            Some(value) => value.map_err(NoValue::NoLabel),
            None => Err(NoValue::NoField),
        }
    }
}

/// The value, the kind of wait and the cost of a sample.
pub(super) type SampleValue = (RowValue, Option<WaitKind>, Cost);

impl Selection<'_> {
    /// Iterates over the matching samples with their values in the columns of a name.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = SampleValue> {
        let columns = ValueColumns::named(self.profile, name);
        self.samples()
            .map(move |(id, sample, cost)| (columns.of(sample.event, id), sample.wait(), cost))
    }
}
