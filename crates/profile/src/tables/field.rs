//! Values that samples carry besides their stack and weight: fields of tracepoints, probes and memory accesses.

use address::FieldKind;

use crate::id::{EventId, SampleId, StringId};

/// The columns of values. Only requested fields have one.
#[derive(Debug, Clone, Default)]
pub struct FieldTable {
    columns: Vec<FieldRows>,
    /// Indexes of the columns of each event.
    of_event: Vec<Vec<usize>>,
}

/// The values of one field of one event.
#[derive(Debug, Clone)]
pub struct FieldRows {
    /// Event whose samples have the field.
    pub event: EventId,
    /// Name, unique among the fields of the event.
    pub name: StringId,
    /// Type of the values.
    pub kind: FieldKind,
    /// Samples with a value, ascending.
    samples: Vec<SampleId>,
    /// Their values.
    values: Vec<FieldValue>,
}

/// Value of a field in one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldValue {
    /// A signed number.
    Signed(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// Bytes that are usually UTF-8.
    Text(StringId),
    /// Numbers in decimal, as a JSON array.
    List(StringId),
}

impl FieldTable {
    /// Returns true if no field was requested.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The columns, in the order of events and of their fields.
    #[must_use]
    pub fn columns(&self) -> &[FieldRows] {
        &self.columns
    }

    /// Adds a column without values; the first one has index 0.
    pub fn add_column(&mut self, event: EventId, name: StringId, kind: FieldKind) {
        let (samples, values) = (Vec::new(), Vec::new());
        if self.of_event.len() <= event.index() {
            self.of_event.resize(event.index() + 1, Vec::new());
        }
        if let Some(columns) = self.of_event.get_mut(event.index()) {
            columns.push(self.columns.len());
        }
        self.columns.push(FieldRows { event, name, kind, samples, values });
    }

    /// Adds the value of a sample, which comes after those before in its column.
    pub fn push(&mut self, column: usize, sample: SampleId, value: FieldValue) {
        if let Some(column) = self.columns.get_mut(column) {
            column.samples.push(sample);
            column.values.push(value);
        }
    }

    /// Returns the fields of a sample of an event, in the order of the columns.
    pub fn of_sample(
        &self,
        event: EventId,
        sample: SampleId,
    ) -> impl Iterator<Item = (&FieldRows, FieldValue)> {
        let of_event = self.of_event.get(event.index()).map_or(&[][..], Vec::as_slice);
        let columns = of_event.iter().filter_map(|&index| self.columns.get(index));
        columns.filter_map(move |column| Some((column, column.of_sample(sample)?)))
    }

    /// Gives the samples new ids, in the same order; values of samples without one are removed.
    pub fn renumber(&mut self, mut new: impl FnMut(SampleId) -> Option<SampleId>) {
        for FieldRows { samples, values, .. } in &mut self.columns {
            let ids: Vec<_> = samples.iter().map(|sample| new(*sample)).collect();
            let mut remains = ids.iter().map(Option::is_some);
            values.retain(|_| remains.next().unwrap_or(false));
            *samples = ids.into_iter().flatten().collect();
        }
    }

    /// Calls `visit` with each id of a string.
    pub(crate) fn each_string(&mut self, visit: &mut impl FnMut(&mut StringId)) {
        for column in &mut self.columns {
            visit(&mut column.name);
            for value in &mut column.values {
                if let FieldValue::Text(id) | FieldValue::List(id) = value {
                    visit(id);
                }
            }
        }
    }

    /// Memory of the columns, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let of = |rows: &FieldRows| {
            rows.samples.capacity() * size_of::<SampleId>()
                + rows.values.capacity() * size_of::<FieldValue>()
        };
        self.columns.iter().map(of).sum()
    }
}

impl FieldRows {
    /// Returns the value of a sample.
    #[must_use]
    pub fn of_sample(&self, sample: SampleId) -> Option<FieldValue> {
        let at = self.samples.binary_search(&sample).ok()?;
        self.values.get(at).copied()
    }

    /// The samples with a value, ascending.
    #[must_use]
    pub fn samples(&self) -> &[SampleId] {
        &self.samples
    }

    /// The values of [`Self::samples`].
    #[must_use]
    pub fn values(&self) -> &[FieldValue] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_with_their_samples() {
        let mut fields = FieldTable::default();
        let (event, name) = (EventId::new(3), StringId::new(1));
        fields.add_column(event, name, FieldKind::Signed);
        fields.add_column(EventId::new(4), name, FieldKind::Text);
        for sample in [2, 5, 9] {
            fields.push(0, SampleId::new(sample), FieldValue::Signed(-i64::from(sample)));
        }
        fields.push(1, SampleId::new(3), FieldValue::Text(name));
        let at = |fields: &FieldTable, sample| {
            let found = fields.of_sample(event, SampleId::new(sample));
            found.map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(at(&fields, 5), [FieldValue::Signed(-5)]);
        assert!(at(&fields, 3).is_empty());
        fields
            .renumber(|sample| (sample.as_u32() != 5).then(|| SampleId::new(sample.as_u32() + 1)));
        assert_eq!([at(&fields, 3), at(&fields, 10)].concat(), [-2, -9].map(FieldValue::Signed));
        assert!(at(&fields, 6).is_empty());
        assert_eq!(fields.columns()[1].of_sample(SampleId::new(4)), Some(FieldValue::Text(name)));
    }
}
