//! Spans in the tables of a replay: their self times, and the samples that begin them.

use std::cmp::Reverse;

use address::Timestamp;
use hashbrown::HashMap;
use options::{SpanOptions, SpanTime};
use profile::{Profile, SampleId, SpanRow};

use crate::driver::merge::MergedTables;
use crate::plan::history::spans::{EndedSpan, SpanBegin};
use crate::plan::threads::Thread;

/// Times of a span in relation to the other ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnTime {
    /// Duration without the spans directly within it, in nanoseconds.
    pub(super) own: u64,
    /// True if it is within a span of the same rule.
    pub(super) is_nested: bool,
}

/// Returns the self times of spans. Spans with a key can overlap, so their self times are their durations.
pub(super) fn own_times(spans: &[EndedSpan]) -> Vec<OwnTime> {
    let time = |span: &EndedSpan| OwnTime { own: span.duration(), is_nested: false };
    let mut times: Vec<OwnTime> = spans.iter().map(time).collect();
    let by_thread = spans.iter().enumerate().filter(|(_, span)| span.key.is_none());
    let mut order: Vec<(usize, &EndedSpan)> = by_thread.collect();
    order.sort_by_key(|(_, span)| (span.begin.tid, span.begin.time, Reverse(span.end)));
    // The spans of the thread that have not ended at the begin of the current one, the outermost first.
    let mut open: Vec<(usize, &EndedSpan)> = Vec::new();
    for (at, span) in order {
        let is_over = |(_, other): &(usize, &EndedSpan)| {
            other.begin.tid != span.begin.tid || other.end <= span.begin.time
        };
        while open.pop_if(|last| is_over(last)).is_some() {}
        let mut around = open.iter().rev().filter(|(_, other)| other.end >= span.end);
        if let Some((parent, _)) = around.next()
            && let Some(parent) = times.get_mut(*parent)
        {
            parent.own = parent.own.saturating_sub(span.duration());
        }
        let mut outer = open.iter().filter(|(_, other)| other.end >= span.end);
        let is_nested = outer.any(|(_, other)| other.rule == span.rule);
        if let Some(time) = times.get_mut(at) {
            time.is_nested = is_nested;
        }
        open.push((at, span));
    }
    times
}

/// Adds the spans whose first sample is in the profile.
pub(super) fn add_spans(
    merged: &mut MergedTables,
    options: &SpanOptions,
    (spans, times): (&[EndedSpan], &[OwnTime]),
    threads: &[Thread],
) {
    if spans.is_empty() {
        return;
    }
    let MergedTables { profile, redactor, .. } = merged;
    let mut samples: HashMap<SpanBegin, Option<SampleId>> =
        spans.iter().map(|span| (span.begin, None)).collect();
    for (id, row) in profile.samples.entries() {
        let Some(thread) = threads.get(row.thread.index()) else { continue };
        let (pid, tid, event) = (thread.pid, thread.tid, row.event.index() as u16);
        let begin = SpanBegin { pid, tid, time: row.time().unwrap_or(Timestamp(0)), event };
        if let Some(sample) = samples.get_mut(&begin) {
            *sample = Some(id);
        }
    }
    let mut rows = Vec::new();
    for (span, time) in spans.iter().zip(times) {
        let (Some(&Some(sample)), Some(rule)) =
            (samples.get(&span.begin), options.rules.get(span.rule))
        else {
            continue;
        };
        let name = profile.strings.intern(rule.name.as_bytes());
        let key = span.key.as_ref().map(|key| key.join(&b'+'));
        let key = match redactor {
            Some(redactor) => key.map(|key| redactor.hash(&key)),
            None => key,
        };
        let key = key.map(|key| profile.strings.intern(&key));
        rows.push(SpanRow { sample, name, key, duration: span.duration(), own: time.own });
    }
    rows.sort_by_key(|row| (row.sample, row.name));
    rows.into_iter().for_each(|row| profile.fields.spans.push(row));
}

impl MergedTables {
    /// Makes the durations of spans of a name the periods of the samples that begin them. Returns for each sample whether
    /// it begins one.
    pub(super) fn weigh_by_spans(&mut self, name: &str, part: SpanTime) -> Vec<bool> {
        let Profile { fields, samples, strings, .. } = &mut self.profile;
        let name = strings.intern(name.as_bytes());
        fields.spans.weigh(samples, |row| {
            let time = match part {
                SpanTime::Total => row.duration,
                SpanTime::Own => row.own,
            };
            (row.name == name).then_some(time)
        });
        let mut begun = vec![false; samples.len()];
        for row in fields.spans.rows().iter().filter(|row| row.name == name) {
            if let Some(begun) = begun.get_mut(row.sample.index()) {
                *begun = true;
            }
        }
        begun
    }
}
