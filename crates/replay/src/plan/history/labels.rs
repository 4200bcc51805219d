//! Labels: each sample of a thread has the value of the thread's last event with a field.
//!
//! ```text
//!   report(query=a) | sample: a | sample: a | report(query=b) | sample: b | end event | sample: none
//! ```
//!
//! All events are applied in time order, including samples that the filter rejects. A label needs every event: after a
//! loss, threads have no label until their next event, and samples during the loss lose theirs.

use std::collections::VecDeque;
use std::sync::Arc;

use address::{FieldKind, Tid};
use hashbrown::HashMap;
use options::{Condition, FieldSelection, LabelOptions, fits_event};
use perf_data::{FieldColumn, Head, Record, RecordedFields, Sample, TraceValue};
use profile::NoLabel;

use crate::plan::history::value_filter::fulfils;
use crate::values::OwnedValue;

/// Number of ended threads that keep their labels.
const EXITED: usize = 64;

/// The labels of a thread, in the order of their names.
pub(crate) type ThreadLabels = Arc<[OwnedValue]>;

/// The state of all threads.
#[derive(Debug)]
pub(crate) struct Labels {
    options: LabelOptions,
    /// The distinct labels and the type of their values.
    columns: Vec<(String, FieldKind)>,
    /// By event.
    effects: Vec<Effects>,
    threads: HashMap<Tid, ThreadLabels>,
    /// Labels of threads without an event since the beginning or the last loss.
    others: ThreadLabels,
    before_first: ThreadLabels,
    /// Threads that ended, in the order of their ends, if no other thread has their id.
    exited: VecDeque<Tid>,
    /// Number of events that affect labels and were recorded only in part.
    sampled: u64,
}

/// Effects of an event on the labels of its thread.
#[derive(Debug, Default)]
struct Effects {
    begins: Vec<Begin>,
    ends: bool,
    handover: Option<FieldColumn>,
}

/// Begin of a label.
#[derive(Debug)]
struct Begin {
    label: usize,
    field: FieldColumn,
    /// If one of them does not hold, the label ends instead.
    when: Vec<(FieldColumn, Condition)>,
}

impl Labels {
    /// Returns the state at the start of a recording.
    pub(crate) fn new(options: &LabelOptions) -> Self {
        let mut columns: Vec<(String, FieldKind)> = Vec::new();
        for label in &options.labels {
            if !columns.iter().any(|(name, _)| *name == label.name) {
                columns.push((label.name.clone(), FieldKind::Text));
            }
        }
        let before_first: ThreadLabels =
            columns.iter().map(|_| OwnedValue::NoLabel(NoLabel::BeforeFirst)).collect();
        Self {
            options: options.clone(),
            columns,
            effects: Vec::new(),
            threads: HashMap::new(),
            others: Arc::clone(&before_first),
            before_first,
            exited: VecDeque::new(),
            sampled: 0,
        }
    }

    /// The names of the labels, and the type of their values.
    pub(crate) fn columns(&self) -> &[(String, FieldKind)] {
        &self.columns
    }

    /// Number of events that affect labels and were recorded only in part. Then no sample has a label.
    pub(crate) const fn partial_events(&self) -> u64 {
        self.sampled
    }

    /// Size of the state, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let labels = self.columns.len() * size_of::<OwnedValue>();
        let texts = self.threads.values().flat_map(|labels| labels.iter());
        self.threads.allocation_size()
            + self.threads.len() * labels
            + texts.map(OwnedValue::text_bytes).sum::<usize>()
    }

    /// Reads the events of a head.
    pub(crate) fn learn(&mut self, head: &Head) {
        let fields = RecordedFields::of(head);
        let events = head.events();
        // The columns exist since the first head.
        let is_first = self.effects.is_empty();
        self.effects = events.iter().map(|_| Effects::default()).collect();
        let mut kinds: Vec<Option<FieldKind>> = vec![None; self.columns.len()];
        for column in fields.columns() {
            let event = usize::from(column.event);
            let (Some(of), Some(effects)) = (events.get(event), self.effects.get_mut(event)) else {
                continue;
            };
            let is = |pattern: &str| FieldSelection::fits(pattern, &of.name, &column.name);
            for rule in self.options.labels.iter().filter(|rule| is(&rule.field)) {
                let label = self.columns.iter().position(|(name, _)| *name == rule.name);
                let Some(label) = label else { continue };
                if effects.begins.iter().any(|begin| begin.label == label) {
                    continue;
                }
                if let Some(kind) = kinds.get_mut(label) {
                    *kind = Some(kind.map_or(column.kind, |kind| common(kind, column.kind)));
                }
                let begin = Begin { label, field: column.clone(), when: Vec::new() };
                effects.begins.push(begin);
            }
            let can_receive = effects.handover.is_none() && column.kind.is_number();
            if can_receive && self.options.handovers.iter().any(|it| is(it)) {
                effects.handover = Some(column.clone());
            }
        }
        self.learn_conditions(head, &fields);
        for ((_, known), kind) in self.columns.iter_mut().zip(kinds).filter(|_| is_first) {
            *known = kind.unwrap_or(*known);
        }
        self.sampled = 0;
        for (event, effects) in events.iter().zip(&mut self.effects) {
            effects.ends = self.options.ends.iter().any(|pattern| fits_event(pattern, &event.name));
            let is_complete = !event.attr.flags.freq() && event.attr.sample_period <= 1;
            if effects.is_any() && !is_complete {
                self.sampled += 1;
            }
        }
        if self.sampled > 0 {
            self.lose();
        }
    }

    fn learn_conditions(&mut self, head: &Head, fields: &RecordedFields) {
        for ((event, index), effects) in head.events().iter().zip(0..).zip(&mut self.effects) {
            if effects.begins.is_empty() {
                continue;
            }
            let field_of = |condition: &Condition| {
                let is = |it: &&FieldColumn| {
                    FieldSelection::fits(&condition.field, &event.name, &it.name)
                };
                fields.of_event(index).iter().find(is)
            };
            let when = self.options.when.iter();
            let when: Vec<_> =
                when.filter_map(|it| Some((field_of(it)?.clone(), it.clone()))).collect();
            for begin in &mut effects.begins {
                begin.when.clone_from(&when);
            }
        }
    }

    /// Applies a sample of a thread, unless it cannot be decoded. Returns the labels of the thread.
    pub(crate) fn sample(&mut self, tid: Tid, sample: Option<&Sample<'_>>) -> ThreadLabels {
        if let Some(sample) = sample {
            self.apply(tid, sample);
        }
        Arc::clone(self.of(tid))
    }

    fn of(&self, tid: Tid) -> &ThreadLabels {
        self.threads.get(&tid).unwrap_or(&self.others)
    }

    fn apply(&mut self, tid: Tid, sample: &Sample<'_>) {
        let Some(effects) = self.effects.get(usize::from(sample.event)) else { return };
        // The idle tasks of all processors have one id, and ended ones have another.
        if self.sampled > 0 || !effects.is_any() || tid.0 <= 0 {
            return;
        }
        let before = self.of(tid);
        let mut labels: Vec<OwnedValue> = before.to_vec();
        if effects.ends {
            labels.fill(OwnedValue::NoLabel(NoLabel::Ended));
        }
        for begin in &effects.begins {
            let is_text = self.columns.get(begin.label).is_some_and(|it| it.1 == FieldKind::Text);
            let value = begin.value(sample);
            if let Some(place) = labels.get_mut(begin.label) {
                *place = if is_text { value.into_text() } else { value };
            }
        }
        let receiver = effects.handover.as_ref().and_then(|field| field.value(sample));
        let receiver = receiver.and_then(|value| match value {
            TraceValue::Signed(id, _) => i32::try_from(id).ok(),
            TraceValue::Unsigned(id, _) => i32::try_from(id).ok(),
            TraceValue::Text(_) | TraceValue::List(_) => None,
        });
        let labels: ThreadLabels = labels.into();
        if let Some(receiver) = receiver.filter(|id| *id > 0) {
            self.threads.insert(Tid(receiver), Arc::clone(&labels));
        }
        self.threads.insert(tid, labels);
    }

    /// Applies a record that is not a sample.
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        if self.sampled > 0 {
            return;
        }
        match record {
            Record::Fork(task) if !task.synthesized => {
                self.exited.retain(|tid| *tid != task.tid);
                self.threads.insert(task.tid, Arc::clone(&self.before_first));
            }
            Record::Exit(task) => self.exited(task.tid),
            _ => {}
        }
    }

    /// Forgets a thread some time after its end: the kernel still releases its memory, and is sampled meanwhile.
    fn exited(&mut self, tid: Tid) {
        self.exited.push_back(tid);
        if self.exited.len() > EXITED
            && let Some(tid) = self.exited.pop_front()
        {
            self.threads.remove(&tid);
        }
    }

    /// Returns true if an event changes labels.
    pub(crate) fn affects(&self, event: u16) -> bool {
        self.effects.get(usize::from(event)).is_some_and(Effects::is_any)
    }

    /// Removes the labels of all threads, since events were lost.
    pub(crate) fn lose(&mut self) {
        // Clearing a map takes as long as it once was large.
        self.threads = HashMap::new();
        self.others = self.columns.iter().map(|_| OwnedValue::NoLabel(NoLabel::Unknown)).collect();
    }
}

impl Begin {
    /// Returns the label after the event.
    fn value(&self, sample: &Sample<'_>) -> OwnedValue {
        let holds = |(field, condition): &(FieldColumn, Condition)| {
            field.value(sample).is_some_and(|value| fulfils(condition, &value))
        };
        if !self.when.iter().all(holds) {
            return OwnedValue::NoLabel(NoLabel::Ended);
        }
        let value = self.field.value(sample);
        value.map_or(OwnedValue::NoLabel(NoLabel::Unknown), OwnedValue::of)
    }
}

impl Effects {
    const fn is_any(&self) -> bool {
        self.ends || !self.begins.is_empty() || self.handover.is_some()
    }
}

/// Returns a type that can express values of both.
fn common(one: FieldKind, other: FieldKind) -> FieldKind {
    if one == other { one } else { FieldKind::Text }
}
