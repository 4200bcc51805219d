//! State of threads that follows from earlier events: labels and spans. They need every event, so losses are applied to
//! both.

pub(crate) mod labels;
pub(crate) mod losses;
pub(crate) mod spans;
pub(crate) mod value_filter;

use address::{TimeRanges, Timestamp};
use options::{LabelOptions, SpanOptions};
use perf_data::{Head, Sample, SampleEntry, TimedRecord};

use self::labels::{Labels, ThreadLabels};
use self::losses::Losses;
use self::spans::Spans;

/// The labels and spans of all threads.
#[derive(Debug)]
pub(crate) struct History {
    losses: Losses,
    pub(crate) labels: Option<Labels>,
    pub(crate) spans: Option<Spans>,
}

impl History {
    /// Returns the state at the start of a recording; `None` if neither labels nor spans are requested.
    pub(crate) fn new(labels: &LabelOptions, spans: &SpanOptions) -> Option<Self> {
        let labels = (!labels.is_empty()).then(|| Labels::new(labels));
        let spans = (!spans.is_empty()).then(|| Spans::new(spans));
        let is_any = labels.is_some() || spans.is_some();
        is_any.then(|| Self { losses: Losses::default(), labels, spans })
    }

    /// Reads the events of a head.
    pub(crate) fn learn(&mut self, head: &Head) {
        if let Some(labels) = &mut self.labels {
            labels.learn(head);
        }
        if let Some(spans) = &mut self.spans {
            spans.learn(head);
        }
    }

    /// Applies a sample, unless it cannot be decoded. Returns the labels of its thread.
    pub(crate) fn sample(
        &mut self,
        entry: &SampleEntry,
        sample: Option<&Sample<'_>>,
    ) -> Option<ThreadLabels> {
        if let Some(sample) = sample {
            self.losses.sample(sample);
            if let Some(spans) = &mut self.spans {
                spans.sample(entry, sample);
            }
        }
        self.labels.as_mut().map(|labels| labels.sample(entry.tid, sample))
    }

    /// Applies a record that is not a sample.
    pub(crate) fn record(&mut self, record: &TimedRecord<'_>) {
        let Self { losses, labels, spans } = self;
        let affects = |event| {
            labels.as_ref().is_some_and(|it| it.affects(event))
                || spans.as_ref().is_some_and(|it| it.affects(event))
        };
        let is_loss = losses.record(record, affects);
        if let Some(labels) = labels {
            labels.record(&record.record);
            if is_loss {
                labels.lose();
            }
        }
        if let Some(spans) = spans {
            spans.record(&record.record);
            if is_loss {
                spans.lose();
            }
        }
    }

    /// Returns the times without labels.
    pub(crate) fn without_labels(&self) -> TimeRanges {
        match self.labels.as_ref().map_or(0, Labels::partial_events) {
            0 => self.losses(),
            _ => std::iter::once(Timestamp(0)..=Timestamp(u64::MAX)).collect(),
        }
    }

    /// Returns the times in which events may be missing.
    pub(crate) fn losses(&self) -> TimeRanges {
        self.losses.times()
    }

    /// Size of the state, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.losses.heap_bytes()
            + self.labels.as_ref().map_or(0, Labels::heap_bytes)
            + self.spans.as_ref().map_or(0, Spans::heap_bytes)
    }
}
