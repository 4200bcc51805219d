//! Data of records and samples besides stacks: events of threads, fields of tracepoints, and counts of groups.

use std::sync::Arc;

use address::{Pid, Tid};
use formats::{Details, FieldValue, SampleExtra, TaskChange, TaskEvent};
use hashbrown::HashMap;
use perf_data::{
    Batch, Endian, Head, ReadFormat, Record, Sample, TimedRecord, TraceFormat, TraceValue,
    TracingData,
};
use profile::{EventId, Strings};

use crate::hotspot::details::is_tracepoint;

/// State that lasts from one batch to the next.
#[derive(Default, Debug)]
pub(super) struct Records {
    /// Event index by event id.
    by_id: HashMap<u64, EventId>,
    /// Last count by event id. Counters accumulate from sample to sample.
    counts: HashMap<u64, u64>,
    head: Option<Arc<Head>>,
    /// Number of tracepoint fields omitted because they overlap others.
    pub(super) overlapping: usize,
}

impl Records {
    /// Adds the events, counts and fields of a batch to `details`.
    pub(super) fn read(&mut self, batch: &Batch, strings: &mut Strings, details: &mut Details) {
        let events = batch.records().filter_map(|record| task_event(&record, strings));
        details.tasks.extend(events);
        let head = batch.head();
        if self.head.as_ref().is_none_or(|known| !Arc::ptr_eq(known, head)) {
            let ids = (0_u16..).map(EventId::new).zip(head.events());
            self.by_id = ids.flat_map(|(at, it)| it.ids.iter().map(move |&id| (id, at))).collect();
            self.head = Some(Arc::clone(head));
        }
        let groups: Vec<bool> =
            head.events().iter().map(|it| it.attr.read_format.has(ReadFormat::GROUP)).collect();
        let tracepoints = head.events().iter().any(is_tracepoint);
        if !tracepoints && !groups.contains(&true) {
            return;
        }
        let features = head.features();
        let data = features.tracing_data.and_then(TracingData::parse);
        let endian = data.as_ref().map_or(head.endian(), TracingData::endian);
        let formats: Vec<Option<&TraceFormat<'_>>> = head
            .events()
            .iter()
            .map(|it| {
                let format = data.as_ref().and_then(|data| data.format(it.attr.config));
                format.filter(|_| is_tracepoint(it))
            })
            .collect();
        self.overlapping = formats.iter().flatten().map(|format| format.overlapping).sum();
        for entry in batch.samples() {
            let at = usize::from(entry.event);
            let format = formats.get(at).copied().flatten();
            let is_group = groups.get(at) == Some(&true);
            if format.is_none() && !is_group {
                continue;
            }
            let Ok(sample) = batch.sample(entry) else { continue };
            let costs = if is_group { self.costs(&sample) } else { Vec::new() };
            let fields = format
                .and_then(|format| sample.raw.map(|raw| fields(format, raw, endian, strings)));
            let event = EventId::new(entry.event);
            let (time, pid, tid) = (entry.time, entry.pid, entry.tid);
            details.extras.push(SampleExtra { time, pid, tid, event, costs, fields });
        }
    }

    /// Returns the counts of a group's events since the previous sample.
    fn costs(&mut self, sample: &Sample<'_>) -> Vec<(EventId, u64)> {
        let values = sample.read.iter().flat_map(|read| read.iter());
        let costs = values.filter_map(|value| {
            let id = value.id?;
            let event = *self.by_id.get(&id)?;
            let before = self.counts.insert(id, value.value).unwrap_or(0);
            Some((event, value.value.saturating_sub(before)))
        });
        costs.collect()
    }
}

/// Returns the event of a thread that a record states.
fn task_event(record: &TimedRecord<'_>, strings: &mut Strings) -> Option<TaskEvent> {
    let trailer = &record.trailer;
    let own = || (trailer.pid.unwrap_or(Pid(-1)), trailer.tid.unwrap_or(Tid(-1)));
    let ((pid, tid), what) = match &record.record {
        Record::Comm(comm) => ((comm.pid, comm.tid), TaskChange::Named(strings.intern(comm.comm))),
        Record::Fork(task) => ((task.pid, task.tid), TaskChange::Started(task.ppid)),
        Record::Exit(task) => ((task.pid, task.tid), TaskChange::Ended),
        Record::Lost(lost) | Record::LostSamples(lost) => (own(), TaskChange::Lost(lost.lost)),
        Record::Switch(switch) => (own(), TaskChange::Switched(switch.out)),
        _ => return None,
    };
    Some(TaskEvent { time: record.time, pid, tid, cpu: trailer.cpu, what })
}

/// Returns the decoded fields of a tracepoint.
fn fields(
    format: &TraceFormat<'_>,
    raw: &[u8],
    endian: Endian,
    strings: &mut Strings,
) -> Vec<(profile::StringId, FieldValue)> {
    let values = format.values(raw, endian);
    values.map(|(name, value)| (strings.intern(name), field_value(value))).collect()
}

fn field_value(value: TraceValue<'_>) -> FieldValue {
    match value {
        TraceValue::Signed(number, 8) => FieldValue::I64(number),
        TraceValue::Signed(number, _) => FieldValue::I32(number as i32),
        TraceValue::Unsigned(number, 8) => FieldValue::U64(number),
        TraceValue::Unsigned(number, _) => FieldValue::U32(number as u32),
        TraceValue::Text(bytes) => FieldValue::Bytes(bytes.into()),
        TraceValue::List(values) => FieldValue::List(values.into_iter().map(field_value).collect()),
    }
}
