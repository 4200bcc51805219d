//! Treatment of each record as it is read: a sample gets an entry from its header and first fields, a record needed
//! for replay is decoded, all others are counted.

use address::{Pid, Tid, Timestamp};

use super::entries::SampleEntry;
use crate::event::recorded_time;
use crate::finding::{Finding, Findings};
use crate::record::{Record, RecordBytes, Schema, TimedRecord};
use crate::record_header::{HEADER_LEN, RecordKind};
use crate::stream::{Losses, RecordCounts};

/// Returns the index entry of a sample; `None` if it is so damaged that it is dropped.
#[inline]
pub(crate) fn index_sample(
    schema: &Schema,
    found: &RecordBytes<'_>,
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
    let time = recorded_time(word);
    if word.is_some() && time == Timestamp(0) {
        findings.push(Finding::SampleWithoutTime { offset });
    }
    let (pid, tid) = fields.task(found.bytes, endian).unwrap_or((Pid(-1), Tid(-1)));
    if layout.reads_lost {
        count_lost_of_sample(schema, found, event, &mut counts.losses);
    }
    Some(SampleEntry { time, position: offset, pid, tid, event, misc: found.header.misc })
}

/// Returns the same entry as [`index_sample`] if the sample has no finding, lost counts or deferred chain.
#[inline]
pub(crate) fn usual_sample(schema: &Schema, found: &RecordBytes<'_>) -> Option<SampleEntry> {
    let (bytes, endian) = (found.bytes, schema.endian);
    let event = schema.identity.of_sample(bytes, endian).ok()?;
    let layout = schema.layout(event)?;
    if bytes.len() < layout.sample.end.into() || layout.reads_lost || layout.defers_chains {
        return None;
    }
    let word = layout.sample.time(bytes, endian);
    let time = recorded_time(word);
    if word.is_some() && time == Timestamp(0) {
        return None;
    }
    let (pid, tid) = layout.sample.task(bytes, endian).unwrap_or((Pid(-1), Tid(-1)));
    Some(SampleEntry { time, position: found.position, pid, tid, event, misc: found.header.misc })
}

/// Decodes a record needed for replay; `None` if it is too short for its type.
pub(crate) fn index_record<'d>(
    schema: &Schema,
    found: &RecordBytes<'d>,
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

/// Counts the losses reported by the counters in a sample.
fn count_lost_of_sample(schema: &Schema, found: &RecordBytes<'_>, event: u16, losses: &mut Losses) {
    if found.bytes.len() > HEADER_LEN
        && let Ok(sample) = schema.sample(found.bytes, found.position, event)
        && let Some(read) = sample.read
    {
        losses.read(&read, event);
    }
}
