//! Values that samples carry besides their stack and weight: fields of tracepoints, probes and memory accesses, and
//! labels from earlier events of their threads.

use address::{FieldKind, TimeRanges};

use super::{BranchTable, FieldRows, FieldValue, NoLabel, SampleRow, SpanTable, Table};
use crate::id::{EventId, SampleId, StringId};

/// The columns of values. Only requested fields and labels have one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldTable {
    columns: Vec<FieldRows>,
    /// Indexes of the columns of labels.
    labels: Vec<usize>,
    /// Indexes of the columns of values of functions' variables.
    variables: Vec<usize>,
    /// Indexes of the columns of each event.
    of_event: Vec<Vec<usize>>,
    /// The spans that samples begin.
    pub spans: SpanTable,
    /// The recent branches of samples.
    pub branches: BranchTable,
    /// Texts of whole samples by their event, ascending by sample.
    texts: Vec<Vec<(SampleId, StringId)>>,
}

impl FieldTable {
    /// Returns true if there is no column, and no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.texts.is_empty()
    }

    /// Returns true if samples have neither values nor spans nor branches.
    #[must_use]
    pub fn has_nothing(&self) -> bool {
        self.is_empty() && self.spans.rows().is_empty() && self.branches.is_empty()
    }

    /// Returns true if labels or variables were requested.
    #[must_use]
    pub const fn has_labels(&self) -> bool {
        !self.labels.is_empty() || !self.variables.is_empty()
    }

    /// The columns: labels, then variables, then fields in the order of events.
    #[must_use]
    pub fn columns(&self) -> &[FieldRows] {
        &self.columns
    }

    /// Adds a column without values for a field of an event or for a label; the first one has index 0.
    pub fn add_column(&mut self, event: Option<EventId>, name: StringId, kind: FieldKind) {
        let index = self.columns.len();
        match event.map(EventId::index) {
            None => self.labels.push(index),
            Some(event) => {
                if self.of_event.len() <= event {
                    self.of_event.resize(event + 1, Vec::new());
                }
                if let Some(columns) = self.of_event.get_mut(event) {
                    columns.push(index);
                }
            }
        }
        self.columns.push(FieldRows::new(event, name, kind));
    }

    /// Adds a column without values for a variable of a function. Its type follows from the values:
    /// [`Self::settle_variables`].
    pub fn add_variable(&mut self, name: StringId) {
        self.variables.push(self.columns.len());
        self.columns.push(FieldRows::new(None, name, FieldKind::Text));
    }

    /// Sets the types of the columns of variables. `text` returns a number as text, for columns that have both.
    pub fn settle_variables(&mut self, mut text: impl FnMut(FieldValue) -> FieldValue) {
        for &index in &self.variables {
            let Some(rows) = self.columns.get_mut(index) else { continue };
            let all = |is: fn(&FieldValue) -> bool| rows.values.iter().all(is);
            rows.kind = match () {
                () if rows.values.is_empty() => FieldKind::Text,
                () if all(|it| matches!(it, FieldValue::Unsigned(_))) => FieldKind::Unsigned,
                () if all(|it| matches!(it, FieldValue::Signed(_))) => FieldKind::Signed,
                () => FieldKind::Text,
            };
            if rows.kind == FieldKind::Text {
                rows.values.iter_mut().for_each(|value| *value = text(*value));
            }
        }
    }

    /// Adds the value of a sample, which comes after those before in its column.
    pub fn push(&mut self, column: usize, sample: SampleId, value: FieldValue) {
        if let Some(column) = self.columns.get_mut(column) {
            column.samples.push(sample);
            column.values.push(value);
        }
    }

    /// Adds the text of a whole sample, which comes after those before of its event.
    pub fn push_text(&mut self, event: EventId, sample: SampleId, text: StringId) {
        if self.texts.len() <= event.index() {
            self.texts.resize(event.index() + 1, Vec::new());
        }
        if let Some(texts) = self.texts.get_mut(event.index()) {
            texts.push((sample, text));
        }
    }

    /// Returns the text of a whole sample, as the kernel prints it.
    #[must_use]
    pub fn text(&self, event: EventId, sample: SampleId) -> Option<StringId> {
        let texts = self.texts.get(event.index())?;
        let at = texts.binary_search_by_key(&sample, |(sample, _)| *sample).ok()?;
        texts.get(at).map(|(_, text)| *text)
    }

    /// Iterates over the texts of whole samples.
    pub fn texts(&self) -> impl Iterator<Item = StringId> {
        self.texts.iter().flatten().map(|(_, text)| *text)
    }

    /// Replaces texts of whole samples.
    pub fn map_texts(&mut self, mut new: impl FnMut(StringId) -> StringId) {
        self.texts.iter_mut().flatten().for_each(|(_, text)| *text = new(*text));
    }

    /// Adds the reason that a sample, which comes after those before in its column, has no label.
    pub fn push_unlabelled(&mut self, column: usize, sample: SampleId, reason: NoLabel) {
        if let Some(column) = self.columns.get_mut(column) {
            column.unlabelled.push((sample, reason));
        }
    }

    /// Returns the labels of a sample, the values of variables and its fields, in this order. Names are unique: a field
    /// with the name of a label that the sample has is omitted.
    pub fn of_sample(
        &self,
        event: EventId,
        sample: SampleId,
    ) -> impl Iterator<Item = (&FieldRows, FieldValue)> {
        let of_event = self.of_event.get(event.index()).map_or(&[][..], Vec::as_slice);
        let all = self.labels.iter().chain(&self.variables).chain(of_event);
        let columns = all.filter_map(|&index| self.columns.get(index));
        let labels = || self.labels.iter().filter_map(|&index| self.columns.get(index));
        let is_label = move |name| {
            labels().any(|label| label.name == name && label.of_sample(sample).is_some())
        };
        let columns =
            columns.filter(move |column| column.event.is_none() || !is_label(column.name));
        columns.filter_map(move |column| Some((column, column.of_sample(sample)?)))
    }

    /// Gives the samples new ids, in the same order; values of samples without one are removed.
    pub fn renumber(&mut self, mut new: impl FnMut(SampleId) -> Option<SampleId>) {
        for FieldRows { samples, values, unlabelled, .. } in &mut self.columns {
            unlabelled.retain_mut(|(sample, _)| match new(*sample) {
                Some(id) => {
                    *sample = id;
                    true
                }
                None => false,
            });
            let ids: Vec<_> = samples.iter().map(|sample| new(*sample)).collect();
            let mut remains = ids.iter().map(Option::is_some);
            values.retain(|_| remains.next().unwrap_or(false));
            *samples = ids.into_iter().flatten().collect();
        }
        for texts in &mut self.texts {
            texts.retain_mut(|(sample, _)| match new(*sample) {
                Some(id) => {
                    *sample = id;
                    true
                }
                None => false,
            });
        }
        self.branches.renumber(&mut new);
        self.spans.renumber(new);
    }

    /// Gives samples the labels and variables of others. Pairs of an inserted sample and the one that it is derived from,
    /// both with their final ids, ascending by the first.
    pub fn copy_labels(&mut self, pairs: &[(SampleId, SampleId)]) {
        for &index in self.labels.iter().chain(&self.variables) {
            let Some(rows) = self.columns.get_mut(index) else { continue };
            let copied = pairs.iter().filter_map(|&(to, from)| Some((to, rows.label(from)?)));
            let mut all: Vec<_> = rows.labels().chain(copied).collect();
            all.sort_unstable_by_key(|(sample, _)| *sample);
            rows.set_labels(all.into_iter());
        }
    }

    /// Removes the labels of the samples within times in which events were lost.
    pub fn lose_labels(&mut self, samples: &Table<SampleId, SampleRow>, losses: &TimeRanges) {
        if losses.is_empty() {
            return;
        }
        let is_lost = |sample: SampleId| {
            let time = samples.get(sample).and_then(SampleRow::time);
            time.is_some_and(|time| losses.contains(time))
        };
        for &index in &self.labels {
            let Some(rows) = self.columns.get_mut(index) else { continue };
            let labels: Vec<_> = rows.labels().collect();
            rows.set_labels(labels.into_iter().map(|(sample, label)| match is_lost(sample) {
                true => (sample, Err(NoLabel::Unknown)),
                false => (sample, label),
            }));
        }
    }

    /// Returns the number of samples without a label since events were not recorded.
    #[must_use]
    pub fn unknown_labels(&self) -> u64 {
        let labels = self.labels.iter().filter_map(|&index| self.columns.get(index));
        let reasons = labels.flat_map(|rows| &rows.unlabelled);
        let unknown = reasons.filter(|(_, reason)| *reason == NoLabel::Unknown);
        let mut samples: Vec<SampleId> = unknown.map(|(sample, _)| *sample).collect();
        samples.sort_unstable();
        samples.dedup();
        samples.len() as u64
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
        self.spans.each_string(visit);
        self.texts.iter_mut().flatten().for_each(|(_, text)| visit(text));
    }

    /// Memory of the columns, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let of = |rows: &FieldRows| {
            rows.samples.capacity() * size_of::<SampleId>()
                + rows.values.capacity() * size_of::<FieldValue>()
                + rows.unlabelled.capacity() * size_of::<(SampleId, NoLabel)>()
        };
        let texts = self.texts.iter().map(|it| it.capacity() * size_of::<(SampleId, StringId)>());
        self.columns.iter().map(of).chain(texts).sum::<usize>()
            + self.spans.heap_bytes()
            + self.branches.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use address::Timestamp;

    use super::*;

    #[test]
    fn values_go_with_their_samples() {
        let mut fields = FieldTable::default();
        let (event, name) = (EventId::new(3), StringId::new(1));
        fields.add_column(Some(event), name, FieldKind::Signed);
        fields.add_column(Some(EventId::new(4)), name, FieldKind::Text);
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

    #[test]
    fn texts_go_with_their_samples() {
        let mut fields = FieldTable::default();
        assert!(fields.is_empty());
        let (event, id) = (EventId::new(1), SampleId::new);
        for sample in [2, 5, 9] {
            fields.push_text(event, id(sample), StringId::new(10 + sample));
        }
        assert!(!fields.is_empty());
        fields.renumber(|sample| (sample != id(5)).then(|| id(sample.as_u32() + 1)));
        fields.map_texts(|text| StringId::new(text.as_u32() + 100));
        let texts = [3, 6, 10].map(|sample| fields.text(event, id(sample)));
        assert_eq!(texts, [Some(StringId::new(112)), None, Some(StringId::new(119))]);
        assert_eq!(fields.text(EventId::new(0), id(3)), None);
        assert!(fields.columns().is_empty());
    }

    #[test]
    fn labels_cover_samples_of_all_events() {
        let mut fields = FieldTable::default();
        let name = StringId::new(1);
        fields.add_column(None, name, FieldKind::Unsigned);
        let id = SampleId::new;
        fields.push_unlabelled(0, id(0), NoLabel::BeforeFirst);
        fields.push(0, id(1), FieldValue::Unsigned(7));
        fields.push_unlabelled(0, id(2), NoLabel::Ended);
        fields.push(0, id(3), FieldValue::Unsigned(8));
        let events = [2, 9].map(|event| fields.of_sample(EventId::new(event), id(1)).count());
        assert_eq!(events, [1, 1]);
        // A sample is inserted after the first ones, with the label of sample 1.
        fields.renumber(|sample| Some(id(sample.as_u32() + u32::from(sample.as_u32() > 1))));
        fields.copy_labels(&[(id(2), id(1))]);
        let labels = |fields: &FieldTable| {
            let label = |sample| match fields.columns()[0].label(id(sample))? {
                Ok(FieldValue::Unsigned(number)) => Some(Ok(number)),
                Ok(_) => None,
                Err(reason) => Some(Err(reason.as_str())),
            };
            [0, 1, 2, 3, 4, 5].map(label)
        };
        let (first, ended) = (Some(Err("before-first")), Some(Err("ended")));
        assert_eq!(labels(&fields), [first, Some(Ok(7)), Some(Ok(7)), ended, Some(Ok(8)), None]);
        let row = |time| {
            let (thread, event) = (crate::id::ThreadId::new(0), EventId::new(0));
            let layout = crate::id::LayoutId::new(0);
            SampleRow::new(thread, event, crate::EndReason::Root, None, layout)
                .with_time(Some(Timestamp(time)))
        };
        let samples = Table::from_vec([10, 20, 30, 40, 50].map(row).to_vec());
        let losses = [(45, 60), (15, 20), (50, 55), (16, 18)];
        let losses = losses.map(|(from, to)| Timestamp(from)..=Timestamp(to));
        fields.lose_labels(&samples, &losses.into_iter().collect());
        let unknown = Some(Err("unknown"));
        assert_eq!(labels(&fields), [first, unknown, Some(Ok(7)), ended, unknown, None]);
        assert_eq!(fields.unknown_labels(), 2);
    }
}
