//! Spans: times from an event to a later one. The sample of the event that begins a span has its duration, labels and
//! stack.

use super::{SampleRow, Table};
use crate::id::{SampleId, StringId};

/// The spans that samples begin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpanTable {
    /// Ascending by sample.
    rows: Vec<SpanRow>,
    /// True if the period of each sample is the duration of a span, in nanoseconds.
    is_weight: bool,
}

/// A span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanRow {
    /// The sample that begins it.
    pub sample: SampleId,
    /// Name of spans of its kind.
    pub name: StringId,
    /// Values of the key, joined by `+`; `None` if the span ended in its thread without a key.
    pub key: Option<StringId>,
    /// Time from begin to end, in nanoseconds.
    pub duration: u64,
    /// The same without the spans of the thread that began and ended within it, in nanoseconds.
    pub own: u64,
}

impl SpanTable {
    /// Adds a span, which begins in the sample of the last one or in a later sample.
    pub fn push(&mut self, row: SpanRow) {
        self.rows.push(row);
    }

    /// The spans, ascending by sample.
    #[must_use]
    pub fn rows(&self) -> &[SpanRow] {
        &self.rows
    }

    /// The spans that a sample begins.
    #[must_use]
    pub fn of_sample(&self, sample: SampleId) -> &[SpanRow] {
        let from = self.rows.partition_point(|row| row.sample < sample);
        let rest = self.rows.get(from..).unwrap_or_default();
        rest.get(..rest.partition_point(|row| row.sample == sample)).unwrap_or_default()
    }

    /// Returns true if the periods of samples are durations of spans, in nanoseconds.
    #[must_use]
    pub const fn is_weight(&self) -> bool {
        self.is_weight
    }

    /// Makes the durations of spans the periods of the samples that begin them. Other samples must be removed.
    pub fn weigh(
        &mut self,
        samples: &mut Table<SampleId, SampleRow>,
        time: impl Fn(&SpanRow) -> Option<u64>,
    ) {
        self.is_weight = true;
        for row in &self.rows {
            if let (Some(sample), Some(time)) = (samples.get_mut(row.sample), time(row)) {
                *sample = sample.with_period(Some(time));
            }
        }
    }

    pub(super) fn renumber(&mut self, mut new: impl FnMut(SampleId) -> Option<SampleId>) {
        self.rows.retain_mut(|row| match new(row.sample) {
            Some(sample) => {
                row.sample = sample;
                true
            }
            None => false,
        });
    }

    pub(super) fn each_string(&mut self, visit: &mut impl FnMut(&mut StringId)) {
        for row in &mut self.rows {
            visit(&mut row.name);
            row.key.iter_mut().for_each(&mut *visit);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<SpanRow>()
    }
}
