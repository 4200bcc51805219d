//! The one sequential pass over a recording: an index of the samples, every other record that replaying needs, and
//! counts. Of a sample only its header and a few words in front are touched.

use address::{Pid, Tid, Timestamp};

use super::recording::Recording;
use crate::finding::{Finding, Findings};
use crate::record::{CpuMode, Record, RecordKind, SampleId, Schema};
use crate::stream::{Found, RecordCounts, Walker};

/// A sample's place and what a planner needs of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleEntry {
    /// Time; 0 where there is none.
    pub time: Timestamp,
    /// Position of the record; in a plain file its offset.
    pub position: u64,
    /// Process; -1 after its end, or where samples do not say.
    pub pid: Pid,
    /// Thread; -1 after its end, or where samples do not say.
    pub tid: Tid,
    /// Processor; `u32::MAX` where samples do not say.
    pub cpu: u32,
    /// Index of the event.
    pub event: u16,
    /// Flags of the header.
    pub misc: u16,
}

impl SampleEntry {
    /// An entry that only says where a sample of that event is.
    pub(crate) fn unplaced(position: u64, event: u16) -> Self {
        let (time, pid, tid) = (Timestamp(0), Pid(-1), Tid(-1));
        Self { time, position, pid, tid, cpu: u32::MAX, event, misc: 0 }
    }

    /// The mode of the processor.
    #[must_use]
    pub fn cpu_mode(&self) -> CpuMode {
        CpuMode::from_misc(self.misc)
    }
}

/// A record that is no sample, with its time.
#[derive(Clone, Copy, Debug)]
pub struct TimedRecord<'d> {
    /// Time; 0 where there is none.
    pub time: Timestamp,
    /// Position of the record; in a plain file its offset.
    pub position: u64,
    /// Index of the event that it belongs to.
    pub event: u16,
    /// Flags of the header.
    pub misc: u16,
    /// What it says.
    pub record: Record<'d>,
    /// Its trailer.
    pub trailer: SampleId,
}

/// The result of the pass.
#[derive(Clone, Debug, Default)]
pub struct Scan<'d> {
    /// The samples by (time, position); those without time first.
    pub samples: Vec<SampleEntry>,
    /// The records that replaying needs, in the same order. `FINISHED_ROUND`, SWITCH, AUX areas, counts and the like are
    /// only counted.
    pub records: Vec<TimedRecord<'d>>,
    /// All records by type.
    pub counts: RecordCounts,
}

/// Whether records of the type are kept. Those that are not come in great numbers, or say nothing about stacks.
pub(crate) const fn is_kept(kind: RecordKind) -> bool {
    use RecordKind as K;
    matches!(
        kind,
        K::MMAP
            | K::MMAP2
            | K::COMM
            | K::EXIT
            | K::FORK
            | K::LOST
            | K::LOST_SAMPLES
            | K::THROTTLE
            | K::UNTHROTTLE
            | K::NAMESPACES
            | K::KSYMBOL
            | K::BPF_EVENT
            | K::CGROUP
            | K::TEXT_POKE
            | K::CALLCHAIN_DEFERRED
            | K::HEADER_BUILD_ID
            | K::THREAD_MAP
            | K::EVENT_UPDATE
            | K::TIME_CONV
            | K::READ
            | K::BPF_METADATA
            | K::AUX_OUTPUT_HW_ID
            | K::SIMPLEPERF_CALLCHAIN
    )
}

impl<'d> Scan<'d> {
    pub(crate) fn run(recording: &Recording<'d>, findings: &mut Findings) -> Self {
        let schema = recording.schema();
        let mut scan = Self::default();
        let mut walker = Walker::new(recording.source(), schema.header_rules());
        while let Some(found) = walker.next(findings) {
            let kind = found.header.kind;
            scan.counts.add(kind, found.bytes.len() as u64 + found.payload);
            if kind == RecordKind::SAMPLE {
                scan.samples.extend(index_sample(schema, &found, &mut scan.counts, findings));
            } else if is_kept(kind) {
                scan.records.extend(index_record(schema, &found, &mut scan.counts, findings));
            } else if matches!(kind, RecordKind::COMPRESSED | RecordKind::COMPRESSED2) {
                findings.push(Finding::CompressedRecord { offset: found.position });
            } else if !kind.is_known(schema.simpleperf) {
                findings.push(Finding::UnknownRecord { offset: found.position, kind });
            }
        }
        scan.counts.skipped_bytes = walker.skipped();
        scan.counts.losses.finish(schema);
        // Positions ascend, so sorting by time alone, stably, sorts by (time, position).
        if !scan.samples.is_sorted_by_key(|sample| sample.time) {
            scan.samples.sort_by_key(|sample| sample.time);
        }
        if !scan.records.is_sorted_by_key(|record| record.time) {
            scan.records.sort_by_key(|record| record.time);
        }
        scan
    }
}

/// The index entry of a sample; `None` where it is damaged so much that it is dropped.
#[inline]
pub(crate) fn index_sample(
    schema: &Schema,
    found: &Found<'_>,
    counts: &mut RecordCounts,
    findings: &mut Findings,
) -> Option<SampleEntry> {
    let offset = found.position;
    let endian = schema.endian;
    let event = match schema.identity.of_sample(found.bytes, endian) {
        Ok(event) => event,
        Err(id) => {
            findings.push(Finding::UnknownEventId { offset, id });
            counts.dropped_samples += 1;
            return None;
        }
    };
    let layout = schema.layout(event).filter(|it| found.bytes.len() >= it.sample.end.into());
    let Some(layout) = layout else {
        findings.push(Finding::ShortRecord { offset, kind: RecordKind::SAMPLE });
        counts.dropped_samples += 1;
        return None;
    };
    let fields = &layout.sample;
    let word = fields.time(found.bytes, endian);
    let time = crate::event::recorded_time(word);
    if word.is_some() && time == Timestamp(0) {
        findings.push(Finding::SampleWithoutTime { offset });
    }
    let (pid, tid) = fields.task(found.bytes, endian).unwrap_or((Pid(-1), Tid(-1)));
    if layout.reads_lost {
        counts.losses.sample(schema, found, event);
    }
    Some(SampleEntry {
        time,
        position: offset,
        pid,
        tid,
        cpu: fields.cpu(found.bytes, endian).unwrap_or(u32::MAX),
        event,
        misc: found.header.misc,
    })
}

/// A record that is kept, decoded; `None` where it is too short for its type.
pub(crate) fn index_record<'d>(
    schema: &Schema,
    found: &Found<'d>,
    counts: &mut RecordCounts,
    findings: &mut Findings,
) -> Option<TimedRecord<'d>> {
    let offset = found.position;
    let Some(decoded) = schema.record(found, findings) else {
        findings.push(Finding::ShortRecord { offset, kind: found.header.kind });
        return None;
    };
    match decoded.record {
        Record::Lost(lost) => {
            findings.push(Finding::EventsLost { offset, lost: lost.lost });
            counts.lost_events = counts.lost_events.saturating_add(lost.lost);
            let event = schema.identity.event_of_id(lost.id).unwrap_or(decoded.event);
            counts.losses.of_event(event).records(lost.lost);
        }
        Record::LostSamples(lost) => {
            findings.push(Finding::EventsLost { offset, lost: lost.lost });
            counts.lost_samples = counts.lost_samples.saturating_add(lost.lost);
            counts.losses.of_event(decoded.event).samples(lost.lost);
        }
        Record::Read { values, .. } => counts.losses.read(&values, decoded.event),
        _ => {}
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_small() {
        assert!(size_of::<SampleEntry>() <= 32);
        assert!(size_of::<TimedRecord<'_>>() <= 232, "{}", size_of::<TimedRecord<'_>>());
    }
}
