//! The samples inside spans.

use std::ops::RangeInclusive;
use std::sync::Arc;

use address::{Pid, Tid, TimeRanges, Timestamp};
use hashbrown::HashMap;
use options::{SpanLimit, SpanOptions, SpanRule};
use profile::{FieldValue, Profile, SampleId, SampleRow};

use crate::driver::spans::OwnTime;
use crate::plan::history::spans::EndedSpan;
use crate::plan::threads::Thread;
use crate::redactor::Redactor;

/// The times of the wanted spans of a name, by the samples that they contain.
#[derive(Debug)]
pub(super) struct Inside {
    /// The parts of the keys, of each rule of the name.
    rules: Vec<InsideRule>,
    /// Times by rule and part.
    times: HashMap<(usize, Part), TimeRanges>,
}

/// How samples belong to the spans of a rule.
#[derive(Debug)]
struct InsideRule {
    at: usize,
    /// Samples are in the span's process.
    by_pid: bool,
    /// Samples are in the span's thread.
    by_tid: bool,
    /// Column of the label that has the value of the key.
    label: Option<usize>,
}

/// Properties that samples inside a span have.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Part {
    pid: Option<Pid>,
    tid: Option<Tid>,
    label: Option<Arc<[u8]>>,
}

impl Inside {
    /// Selects the spans of a name whose duration is within the limits; of nested ones, the outermost.
    pub(super) fn new(
        name: &str,
        options: &SpanOptions,
        (spans, times): (&[EndedSpan], &[OwnTime]),
        (labels, redactor): (&[String], Option<&Redactor>),
    ) -> Self {
        let named = options.rules.iter().enumerate().filter(|(_, rule)| rule.name == name);
        let rules: Vec<InsideRule> =
            named.map(|(at, rule)| InsideRule::new(at, rule, labels)).collect();
        let rule = |span: &EndedSpan| rules.iter().find(|rule| rule.at == span.rule);
        let durations = spans.iter().filter(|span| rule(span).is_some()).map(EndedSpan::duration);
        let mut durations: Vec<u64> = durations.collect();
        durations.sort_unstable();
        let limit = |limit: &Option<SpanLimit>| match limit.as_ref()? {
            SpanLimit::Duration(nanoseconds) => Some(*nanoseconds),
            SpanLimit::Percentile(percent) => profile::query::percentile(&durations, percent),
        };
        let (longer_than, up_to) = (limit(&options.longer_than), limit(&options.up_to));
        let mut by_part: HashMap<(usize, Part), Vec<RangeInclusive<Timestamp>>> = HashMap::new();
        for (span, time) in spans.iter().zip(times) {
            let Some(rule) = rule(span) else { continue };
            let duration = span.duration();
            let is_wanted = longer_than.is_none_or(|limit| duration > limit)
                && up_to.is_none_or(|limit| duration <= limit);
            if is_wanted && !time.is_nested {
                let mut part = rule.part_of_span(options, span);
                if let (Some(redactor), Some(label)) = (redactor, &mut part.label) {
                    *label = redactor.hash(label).into();
                }
                by_part.entry((rule.at, part)).or_default().push(span.begin.time..=span.end);
            }
        }
        let times = by_part.into_iter().map(|(part, ranges)| (part, ranges.into_iter().collect()));
        Self { rules, times: times.collect() }
    }

    /// Returns true if a sample of a thread is inside one of the spans.
    pub(super) fn has(
        &self,
        profile: &Profile,
        thread: &Thread,
        (id, row): (SampleId, &SampleRow),
    ) -> bool {
        let Some(time) = row.time() else { return false };
        self.rules.iter().any(|rule| {
            let Some(part) = rule.part_of_sample(profile, thread, id) else { return false };
            self.times.get(&(rule.at, part)).is_some_and(|times| times.contains(time))
        })
    }
}

impl InsideRule {
    fn new(at: usize, rule: &SpanRule, labels: &[String]) -> Self {
        let has = |name: &str| rule.key.iter().any(|part| part == name);
        let label = labels.iter().position(|label| has(label));
        let is_by_thread = rule.key.is_empty();
        Self {
            at,
            by_pid: is_by_thread || has(SpanRule::PID),
            by_tid: is_by_thread || has(SpanRule::TID),
            label,
        }
    }

    fn part_of_span(&self, options: &SpanOptions, span: &EndedSpan) -> Part {
        let key = options.rules.get(span.rule).map_or(&[][..], |rule| &rule.key);
        let is_value =
            |(part, _): &(&String, _)| ![SpanRule::PID, SpanRule::TID].contains(&part.as_str());
        let label = span.key.as_ref().filter(|_| self.label.is_some());
        let label = label.and_then(|values| key.iter().zip(values.iter()).find(is_value));
        Part {
            pid: self.by_pid.then_some(span.begin.pid),
            tid: self.by_tid.then_some(span.begin.tid),
            label: label.map(|(_, value)| value.clone()),
        }
    }

    /// Returns the part of a sample; `None` if it lacks the label.
    fn part_of_sample(&self, profile: &Profile, thread: &Thread, id: SampleId) -> Option<Part> {
        let label = match self.label {
            None => None,
            Some(column) => Some(profile.fields.columns().get(column)?.of_sample(id)?),
        };
        let label = label.map(|value| match value {
            FieldValue::Signed(number) => number.to_string().into_bytes().into(),
            FieldValue::Unsigned(number) => number.to_string().into_bytes().into(),
            FieldValue::Text(text) | FieldValue::List(text) => profile.strings.get(text).into(),
        });
        Some(Part {
            pid: self.by_pid.then_some(thread.pid),
            tid: self.by_tid.then_some(thread.tid),
            label,
        })
    }
}
