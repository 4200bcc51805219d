//! Labels in the tables of a replay.

use profile::query::StackWalker;
use profile::{Profile, SampleId, SampleRow, Table};

use crate::driver::replayer::Replayer;

impl Replayer<'_> {
    /// Adds the columns of labels to empty tables.
    pub(super) fn add_labels(&mut self) {
        if let Some(labels) = self.planner.labels() {
            self.merged.add_labels(labels.columns());
        }
    }

    /// Removes the labels of samples within times in which events were lost.
    pub(super) fn lose_labels(&mut self) {
        let Some(labels) = self.planner.labels() else { return };
        let losses: Vec<_> = labels.losses().into_iter().map(|(from, to)| from..=to).collect();
        let Profile { fields, samples, .. } = &mut self.merged.profile;
        fields.lose_labels(samples, &losses);
    }

    /// Removes the samples that the filter accepted by labels which they have lost since.
    pub(super) fn drop_unlabelled(&mut self) {
        let Some(labels) = self.planner.labels() else { return };
        let conditions = &self.options.filter.options.conditions;
        let is_wanted = |(name, _): &(String, _)| conditions.iter().any(|it| it.field == *name);
        let wanted: Vec<bool> = labels.columns().iter().map(is_wanted).collect();
        if !wanted.contains(&true) || labels.losses().is_empty() {
            return;
        }
        let Profile { fields, samples, .. } = &mut self.merged.profile;
        let has_labels = |sample: SampleId| {
            let labels = fields.columns().iter().zip(&wanted).filter(|(_, wanted)| **wanted);
            labels.map(|(label, _)| label).all(|label| label.of_sample(sample).is_some())
        };
        let mut rest: Table<SampleId, SampleRow> = Table::default();
        let ids = samples.entries().map(|(id, row)| has_labels(id).then(|| rest.push(*row)));
        let ids: Table<SampleId, Option<SampleId>> = ids.collect();
        self.planner.filtered += (samples.len() - rest.len()) as u64;
        *samples = rest;
        fields.renumber(|sample| ids.get(sample).copied().flatten());
        let walker = StackWalker::new(&self.merged.profile);
        let frames = self.merged.profile.samples.ids().map(|sample| walker.depth(sample)).sum();
        self.merged.profile.summary.frames = frames;
    }
}
