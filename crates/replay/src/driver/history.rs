//! Fields, labels and spans in the tables of a replay.

use std::sync::Arc;

use options::FieldSelection;
use perf_data::Head;
use profile::query::StackWalker;
use profile::{Profile, SampleId, SampleRow, Table};

use crate::driver::inside::Inside;
use crate::driver::replayer::{ReplayOptions, Replayer};
use crate::driver::spans::{add_spans, own_times};
use crate::plan::history::labels::Labels;
use crate::plan::history::spans::SpanCounts;
use crate::plan::threads::Thread;

/// Numbers of events without a label or span.
#[derive(Clone, Copy, Debug, Default)]
pub struct HistoryCounts {
    /// Number of events that affect labels and were recorded only in part. Then no sample has a label.
    pub partial_label_events: u64,
    /// Events without a span.
    pub spans: SpanCounts,
}

impl Replayer<'_> {
    /// Returns the pattern of the field that is the weight; `None` if the weight is a span.
    pub(super) fn field_weight(&self) -> Option<&str> {
        let name = self.options.weight_field.as_deref()?;
        self.options.spans.weight(name).is_none().then_some(name)
    }

    fn labels(&self) -> Option<&Labels> {
        self.planner.history()?.labels.as_ref()
    }

    /// Adds the requested fields of a head.
    pub(super) fn learn_fields(&mut self, head: &Head) {
        let ReplayOptions { fields, trace_text, branches, .. } = &self.options;
        if *branches {
            self.merged.note_single(head);
        }
        if fields.is_empty() && self.field_weight().is_none() && !trace_text {
            return;
        }
        let mut fields = self.fields.as_deref().cloned().unwrap_or_default();
        let known = fields.columns().len();
        fields.add(head, |event, name| self.options.fields.selects(&event.name, name));
        if self.options.trace_text {
            fields.print_texts(head);
        }
        if let Some(pattern) = self.field_weight() {
            fields.weigh_by(head, |event, name| FieldSelection::fits(pattern, &event.name, name));
        }
        self.merged.add_columns(fields.columns().get(known..).unwrap_or_default());
        self.fields = Some(Arc::new(fields));
    }

    /// Adds the columns of labels and variables to empty tables.
    pub(super) fn add_labels(&mut self) {
        let labels = self.planner.history().and_then(|it| it.labels.as_ref());
        if let Some(labels) = labels {
            self.merged.add_labels(labels.columns());
        }
        if let Some(variables) = &self.options.variables {
            self.merged.add_variables(variables.texts());
        }
    }

    /// Removes the labels of samples within times in which events were lost.
    pub(super) fn lose_labels(&mut self) {
        let Some(history) = self.planner.history() else { return };
        let losses = history.without_labels();
        let Profile { fields, samples, .. } = &mut self.merged.profile;
        fields.lose_labels(samples, &losses);
    }

    /// Applies losses to the labels, and adds the spans. Removes the samples that the filter accepted by labels which they
    /// have lost since, and those outside of the wanted spans.
    pub(super) fn finish_history(&mut self) -> HistoryCounts {
        self.lose_labels();
        self.drop_unlabelled();
        self.merged.settle_variables();
        let partial_label_events = self.labels().map_or(0, Labels::partial_events);
        HistoryCounts { partial_label_events, spans: self.finish_spans() }
    }

    fn drop_unlabelled(&mut self) {
        let Some(labels) = self.labels() else { return };
        let conditions = &self.options.filter.options.conditions;
        let is_wanted = |(name, _): &(String, _)| conditions.iter().any(|it| it.field == *name);
        let wanted: Vec<bool> = labels.columns().iter().map(is_wanted).collect();
        let has_losses = self.planner.history().is_some_and(|it| !it.without_labels().is_empty());
        if !wanted.contains(&true) || !has_losses {
            return;
        }
        let fields = &self.merged.profile.fields;
        let has_labels = |sample: SampleId| {
            let labels = fields.columns().iter().zip(&wanted).filter(|(_, wanted)| **wanted);
            labels.map(|(label, _)| label).all(|label| label.of_sample(sample).is_some())
        };
        let ids = self.merged.profile.samples.ids();
        let wanted: Vec<bool> = ids.map(has_labels).collect();
        self.retain_samples(&wanted);
    }

    /// Adds the spans. Removes the samples outside of the wanted ones, and, if their durations are the weight, those that
    /// begin none.
    fn finish_spans(&mut self) -> SpanCounts {
        let Some(history) = self.planner.history() else { return SpanCounts::default() };
        let Some(of_threads) = &history.spans else { return SpanCounts::default() };
        let (spans, counts) = of_threads.finish(&history.losses());
        let options = of_threads.options.clone();
        let times = own_times(&spans);
        let threads: Vec<Thread> = self.planner.threads().to_vec();
        add_spans(&mut self.merged, &options, (&spans, &times), &threads);
        if let Some(name) = &options.inside {
            let labels: Vec<String> = self
                .labels()
                .map(|labels| labels.columns().iter().map(|(name, _)| name.clone()).collect())
                .unwrap_or_default();
            let inside = Inside::new(
                name,
                &options,
                (&spans, &times),
                (&labels, self.merged.redactor.as_ref()),
            );
            let profile = &self.merged.profile;
            let wanted = profile.samples.entries().map(|(id, row)| {
                let thread = threads.get(row.thread.index());
                thread.is_some_and(|thread| inside.has(profile, thread, (id, row)))
            });
            let wanted: Vec<bool> = wanted.collect();
            self.retain_samples(&wanted);
        }
        if let Some((name, part)) =
            self.options.weight_field.as_deref().and_then(|name| options.weight(name))
        {
            let begun = self.merged.weigh_by_spans(name, part);
            self.retain_samples(&begun);
        }
        counts
    }

    /// Removes the samples that are not wanted; the others keep their order.
    fn retain_samples(&mut self, wanted: &[bool]) {
        let Profile { fields, samples, .. } = &mut self.merged.profile;
        let mut rest: Table<SampleId, SampleRow> = Table::default();
        let of_sample = samples.iter().zip(wanted);
        let ids = of_sample.map(|(row, wanted)| wanted.then(|| rest.push(*row)));
        let ids: Table<SampleId, Option<SampleId>> = ids.collect();
        self.planner.filtered += (samples.len() - rest.len()) as u64;
        *samples = rest;
        fields.renumber(|sample| ids.get(sample).copied().flatten());
        let walker = StackWalker::new(&self.merged.profile);
        let frames = self.merged.profile.samples.ids().map(|sample| walker.depth(sample)).sum();
        self.merged.profile.summary.frames = frames;
    }
}
