//! Updates of the head by records about the recording itself.
//! In a stream these are events, features and build-ids; in any recording the names of
//! events, and the ids and tracing data of simpleperf.
//!
//! Source: `tools/perf/util/header.c`, `perf_event__process_attr`, `perf_event__process_feature`,
//! `perf_event__process_event_update`.

use std::sync::Arc;

use crate::bytes::Words;
use crate::container::{Feature, Head, change};
use crate::finding::{Finding, Findings};
use crate::record::{EventUpdate, Record, RecordBytes, SimpleperfRecord, UserRecord};
use crate::record_header::RecordKind;

/// Updates the head if a record describes the recording itself.
pub(crate) fn update_head(head: &mut Arc<Head>, found: &RecordBytes<'_>, findings: &mut Findings) {
    let kind = found.header.kind;
    if !is_about_recording(kind, head) {
        return;
    }
    let Some(decoded) = head.schema.record(found, findings) else { return };
    let head = change(head);
    let (offset, size) = (found.position, u64::from(found.header.size));
    match decoded.record {
        Record::User(UserRecord::HeaderAttr { attr, ids }) => {
            match head.add_event(attr, ids.iter()) {
                None => findings.push(Finding::EventIgnored { offset }),
                Some(true) => {}
                Some(false) => {
                    let event = (head.events().len() - 1) as u16;
                    findings.push(Finding::IdsIgnored { event, offset, size });
                }
            }
        }
        Record::User(UserRecord::Feature { bit, payload })
            if head.add_feature(bit, payload).is_none() =>
        {
            let feature = u16::try_from(bit).unwrap_or(u16::MAX);
            findings.push(Finding::FeatureIgnored { feature, offset, size });
        }
        Record::User(UserRecord::EventUpdate(update)) if update.kind == EventUpdate::NAME => {
            head.add_name(update.id, update.payload);
        }
        Record::User(UserRecord::BuildId(_)) => head.add_build_id(found.bytes),
        Record::User(UserRecord::TracingData { inside: data, .. })
        | Record::Simpleperf(SimpleperfRecord::TracingData(data)) => {
            // Unparsable data is treated as absent.
            let _ = head.add_feature(Feature::TracingData.bit().into(), data);
        }
        Record::Simpleperf(SimpleperfRecord::EventIds(words)) if add_ids(head, words).is_none() => {
            findings.push(Finding::IdsIgnored { event: 0, offset, size });
        }
        _ => {}
    }
}

/// Adds the ids of events in the format of simpleperf: pairs of an event's index and an id.
fn add_ids(head: &mut Head, words: Words<'_>) -> Option<()> {
    for entry in 0..words.len() / 2 {
        if let (Some(event), Some(id)) = (words.get(entry * 2), words.get(entry * 2 + 1)) {
            head.add_id(event, id)?;
        }
    }
    Some(())
}

/// Returns true if records of this type change the head of this recording.
fn is_about_recording(kind: RecordKind, head: &Head) -> bool {
    match kind {
        RecordKind::SIMPLEPERF_EVENT_ID
        | RecordKind::SIMPLEPERF_TRACING_DATA
        | RecordKind::EVENT_UPDATE => true,
        RecordKind::HEADER_TRACING_DATA => head.is_simpleperf(),
        RecordKind::HEADER_ATTR | RecordKind::HEADER_FEATURE | RecordKind::HEADER_BUILD_ID => {
            head.is_pipe()
        }
        _ => false,
    }
}
