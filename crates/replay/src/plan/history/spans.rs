//! Spans: the time from an event that begins one to the event that ends it.
//!
//! ```text
//!   thread 7:  begin ---- begin ==== end ---- end       by thread: an end belongs to the last begin
//!   key 5:     begin(5) ---- begin(6) ---- end(5)       by key: in any thread
//! ```
//!
//! All events are applied in time order, including samples that the filter rejects. A loss ends all open spans without a
//! result, since their ends may be missing.

use std::sync::Arc;

use address::{Pid, Tid, TimeRanges, Timestamp};
use hashbrown::HashMap;
use options::{FieldSelection, SpanEvent, SpanOptions, SpanRule, fits_event};
use perf_data::{
    Event, FieldColumn, Head, Record, RecordedFields, Sample, SampleEntry, TraceValue,
};

use crate::plan::history::value_filter::fulfils;
use crate::values::OwnedValue;

/// Most spans of one kind that a thread can have begun at a time. Older ones are dropped.
const DEEPEST: usize = 256;

/// The spans of all threads.
#[derive(Debug)]
pub(crate) struct Spans {
    pub(crate) options: SpanOptions,
    /// By event.
    effects: Vec<Vec<Effect>>,
    /// Begun spans without a key, by thread and rule, the outermost first.
    by_thread: HashMap<(Tid, usize), Vec<SpanBegin>>,
    /// Begun spans with a key, by rule and key.
    by_key: HashMap<(usize, SpanKey), SpanBegin>,
    ended: Vec<EndedSpan>,
    /// Size of the keys, in bytes.
    key_bytes: usize,
    pub(crate) counts: SpanCounts,
}

/// The parts of a key, as text.
pub(crate) type SpanKey = Box<[Arc<[u8]>]>;

/// Numbers of events without a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// Begins without an end.
    pub unended: u64,
    /// Ends without a begin.
    pub unbegun: u64,
    /// Begins and ends in whose time events were lost.
    pub unknown: u64,
    /// Events of spans that were recorded only in part. Then there are no spans.
    pub partial_events: u64,
}

/// An event that begins or ends spans of a rule.
#[derive(Debug)]
struct Effect {
    rule: usize,
    is_begin: bool,
    /// The fields of the condition, one of which has to fulfil it.
    condition: Option<(options::Condition, Vec<FieldColumn>)>,
    key: Vec<KeyPart>,
}

#[derive(Debug)]
enum KeyPart {
    Pid,
    Tid,
    Field(FieldColumn),
}

/// The event that begins a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpanBegin {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) time: Timestamp,
    pub(crate) event: u16,
}

/// A span with its end.
#[derive(Clone, Debug)]
pub(crate) struct EndedSpan {
    /// Index of its rule.
    pub(crate) rule: usize,
    pub(crate) begin: SpanBegin,
    pub(crate) end: Timestamp,
    pub(crate) key: Option<SpanKey>,
}

impl EndedSpan {
    /// The time from begin to end, in nanoseconds.
    pub(crate) const fn duration(&self) -> u64 {
        self.end.0.saturating_sub(self.begin.time.0)
    }
}

impl Spans {
    /// Returns the state at the start of a recording.
    pub(crate) fn new(options: &SpanOptions) -> Self {
        Self {
            options: options.clone(),
            effects: Vec::new(),
            by_thread: HashMap::new(),
            by_key: HashMap::new(),
            ended: Vec::new(),
            key_bytes: 0,
            counts: SpanCounts::default(),
        }
    }

    /// Reads the events of a head.
    pub(crate) fn learn(&mut self, head: &Head) {
        let fields = RecordedFields::of(head);
        self.effects = Vec::new();
        self.counts.partial_events = 0;
        for (event, index) in head.events().iter().zip(0..) {
            let fields = fields.of_event(index);
            let rules = || self.options.rules.iter().enumerate();
            // An end precedes a begin, so that one event can do both.
            let ends = rules().filter_map(|(at, it)| effect((at, it), false, event, fields));
            let begins = rules().filter_map(|(at, it)| effect((at, it), true, event, fields));
            let effects: Vec<Effect> = ends.chain(begins).collect();
            let is_complete = !event.attr.flags.freq() && event.attr.sample_period <= 1;
            self.counts.partial_events += u64::from(!effects.is_empty() && !is_complete);
            self.effects.push(effects);
        }
    }

    /// Returns true if an event begins or ends spans.
    pub(crate) fn affects(&self, event: u16) -> bool {
        self.effects.get(usize::from(event)).is_some_and(|effects| !effects.is_empty())
    }

    /// Applies a sample.
    #[inline]
    pub(crate) fn sample(&mut self, entry: &SampleEntry, sample: &Sample<'_>) {
        let Self { effects, counts, by_thread, by_key, ended, key_bytes, .. } = self;
        let Some(effects) = effects.get(usize::from(entry.event)) else { return };
        if counts.partial_events > 0 {
            return;
        }
        for effect in effects {
            if !effect.applies(sample) {
                continue;
            }
            let SampleEntry { pid, tid, time, event, .. } = *entry;
            let begin = SpanBegin { pid, tid, time, event };
            let rule = effect.rule;
            let key = match effect.key.is_empty() {
                true => None,
                false => match effect.key(begin, sample) {
                    Some(key) => Some(key),
                    // A damaged record lacks its fields.
                    None => {
                        counts.unknown += 1;
                        continue;
                    }
                },
            };
            match (key, effect.is_begin) {
                (Some(key), true) => {
                    *key_bytes += key.iter().map(|part| part.len()).sum::<usize>();
                    let before = by_key.insert((rule, key), begin);
                    counts.unended += u64::from(before.is_some());
                }
                (Some(key), false) => match by_key.remove_entry(&(rule, key)) {
                    Some(((rule, key), begin)) => {
                        ended.push(EndedSpan { rule, begin, end: time, key: Some(key) });
                    }
                    None => counts.unbegun += 1,
                },
                // The idle tasks of all processors have one id, and ended ones have another.
                (None, _) if tid.0 <= 0 => counts.unknown += 1,
                (None, true) => {
                    let open = by_thread.entry((tid, rule)).or_default();
                    if open.len() == DEEPEST {
                        open.remove(0);
                        counts.unended += 1;
                    }
                    open.push(begin);
                }
                (None, false) => match by_thread.get_mut(&(tid, rule)).and_then(Vec::pop) {
                    Some(begin) => ended.push(EndedSpan { rule, begin, end: time, key: None }),
                    None => counts.unbegun += 1,
                },
            }
        }
    }

    /// Applies a record that is not a sample: spans of a thread do not outlive it.
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        let Record::Exit(task) = record else { return };
        for rule in 0..self.options.rules.len() {
            let open = self.by_thread.remove(&(task.tid, rule)).unwrap_or_default();
            self.counts.unended += open.len() as u64;
        }
    }

    /// Forgets all begun spans, since events were lost.
    pub(crate) fn lose(&mut self) {
        self.counts.unknown += self.open() as u64;
        (self.by_thread, self.by_key) = (HashMap::new(), HashMap::new());
    }

    fn open(&self) -> usize {
        self.by_thread.values().map(Vec::len).sum::<usize>() + self.by_key.len()
    }

    /// Returns the spans, except those in whose time events were lost, and the numbers of events without a span.
    pub(crate) fn finish(&self, losses: &TimeRanges) -> (Vec<EndedSpan>, SpanCounts) {
        let mut counts = self.counts;
        counts.unended += self.open() as u64;
        let is_lost = |span: &EndedSpan| losses.overlaps(span.begin.time, span.end);
        let known = self.ended.iter().filter(|span| !is_lost(span)).cloned();
        let known: Vec<EndedSpan> = known.collect();
        counts.unknown += (self.ended.len() - known.len()) as u64;
        (known, counts)
    }

    /// Size of the state, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.by_thread.allocation_size()
            + self.open() * size_of::<SpanBegin>()
            + self.by_key.allocation_size()
            + self.key_bytes
            + self.ended.capacity() * size_of::<EndedSpan>()
    }
}

/// Returns the effect of an event on the spans of a rule, if it has one.
fn effect(
    (at, rule): (usize, &SpanRule),
    is_begin: bool,
    event: &Event,
    fields: &[FieldColumn],
) -> Option<Effect> {
    let SpanEvent { event: pattern, condition } = if is_begin { &rule.begin } else { &rule.end };
    if !fits_event(pattern, &event.name) {
        return None;
    }
    let of = |pattern: &str| {
        let is = |field: &&FieldColumn| FieldSelection::fits(pattern, &event.name, &field.name);
        fields.iter().filter(is).cloned().collect::<Vec<_>>()
    };
    let condition = condition.as_ref().map(|it| (it.clone(), of(&it.field)));
    let part = |part: &String| match part.as_str() {
        SpanRule::PID => Some(KeyPart::Pid),
        SpanRule::TID => Some(KeyPart::Tid),
        name => of(name).into_iter().next().map(KeyPart::Field),
    };
    let key = rule.key.iter().map(part).collect::<Option<Vec<_>>>()?;
    Some(Effect { rule: at, is_begin, condition, key })
}

impl Effect {
    fn applies(&self, sample: &Sample<'_>) -> bool {
        let Some((condition, fields)) = &self.condition else { return true };
        let mut values = fields.iter().filter_map(|field| field.value(sample));
        values.any(|value| fulfils(condition, &value))
    }

    /// Returns the key in an event; `None` if the record lacks a field.
    fn key(&self, at: SpanBegin, sample: &Sample<'_>) -> Option<SpanKey> {
        let part = |part: &KeyPart| match part {
            KeyPart::Pid => Some(at.pid.0.to_string().into_bytes().into()),
            KeyPart::Tid => Some(at.tid.0.to_string().into_bytes().into()),
            KeyPart::Field(field) => field.value(sample).map(text_of),
        };
        self.key.iter().map(part).collect()
    }
}

fn text_of(value: TraceValue<'_>) -> Arc<[u8]> {
    match OwnedValue::of(value).into_text() {
        OwnedValue::Text(text) => text,
        // Fields are not labels, and numbers are text now.
        _ => Arc::default(),
    }
}
