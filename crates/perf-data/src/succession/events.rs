//! Events of a pipe stream: times and event ids of its records.

use super::records::NATIVE;
use crate::event::{Event, EventAttr, EventLayout, Identity, MAX_IDS, recorded_time};
use crate::record_header::{HEADER_LEN, RecordKind};

/// Offset of the id in a record of lost records. Source: `perf_event_open(2)`, `PERF_RECORD_LOST`.
const LOST_ID: usize = HEADER_LEN;
/// Offset of the id in a record of a throttled event. Source: `perf_event_open(2)`, `PERF_RECORD_THROTTLE`.
const THROTTLE_ID: usize = HEADER_LEN + 8;

/// Events that a stream has stated so far.
#[derive(Debug, Default)]
pub(super) struct StreamEvents {
    events: Vec<Event>,
    /// Made of the events when the first record needs it.
    identity: Option<Identity>,
}

impl StreamEvents {
    /// Takes a record, which may state an event.
    ///
    /// Source: `tools/perf/util/header.c`, `perf_event__process_attr`.
    pub(super) fn take_in(&mut self, kind: RecordKind, record: &[u8]) {
        if kind != RecordKind::HEADER_ATTR {
            return;
        }
        let endian = NATIVE;
        let attr = record.get(HEADER_LEN..).and_then(|bytes| EventAttr::parse(bytes, endian));
        let Some(attr) = attr else { return };
        let ids = record.get(HEADER_LEN + attr.effective_size()..).unwrap_or_default();
        let ids = ids.chunks_exact(8).filter_map(|id| endian.u64_at(id, 0)).take(MAX_IDS).collect();
        let layout = EventLayout::new(&attr);
        self.events.push(Event { attr, ids, name: String::new(), layout });
        self.identity = None;
    }

    fn identity(&mut self) -> &Identity {
        self.identity.get_or_insert_with(|| Identity::new(&self.events).0)
    }

    /// Returns the time of a record of the kernel in nanoseconds, 0 if it states none; `None` if its event is unknown.
    pub(super) fn time_of(&mut self, kind: RecordKind, record: &[u8]) -> Option<u64> {
        let endian = NATIVE;
        if kind.0 >= RecordKind::FIRST_USER || self.events.is_empty() {
            return None;
        }
        let identity = self.identity();
        if kind == RecordKind::SAMPLE {
            let event = identity.of_sample(record, endian).ok()?;
            let layout = &self.events.get(usize::from(event))?.layout;
            return Some(recorded_time(layout.sample.time(record, endian)).0);
        }
        let event = identity.of_record(record, endian).ok()?;
        let layout = &self.events.get(usize::from(event))?.layout;
        let trailer = record.len().checked_sub(layout.trailer_len())?;
        Some(layout.trailer_time(record.get(trailer..)?, endian).0)
    }
}

/// Ids of the second stream's events, sorted, with those of the same events in the first stream.
#[derive(Debug)]
pub(super) struct IdMap(Vec<(u64, u64)>);

impl IdMap {
    /// Maps the ids of each event to those of the event at the same position: one for each processor.
    pub(super) fn new(second: &StreamEvents, first: &StreamEvents) -> Self {
        let events = second.events.iter().zip(&first.events);
        let ids = events.flat_map(|(second, first)| {
            let usual = first.ids.first();
            let new = second.ids.iter().enumerate();
            new.filter_map(move |(at, &id)| Some((id, *first.ids.get(at).or(usual)?)))
        });
        let mut ids: Vec<_> = ids.collect();
        ids.sort_unstable();
        Self(ids)
    }

    /// Gives a record the ids of the first stream.
    pub(super) fn rename(&self, events: &StreamEvents, kind: RecordKind, record: &mut [u8]) {
        let Some(layout) = events.events.first().map(|event| &event.layout) else { return };
        if kind == RecordKind::SAMPLE {
            if let Some(at) = layout.sample_id_at() {
                self.rename_at(at, record);
            }
            return;
        }
        let trailer = layout.trailer_id_back().and_then(|back| record.len().checked_sub(back));
        let inside = match kind {
            RecordKind::LOST => Some(LOST_ID),
            RecordKind::THROTTLE | RecordKind::UNTHROTTLE => Some(THROTTLE_ID),
            _ => None,
        };
        for at in trailer.into_iter().chain(inside) {
            self.rename_at(at, record);
        }
    }

    fn rename_at(&self, at: usize, record: &mut [u8]) {
        let endian = NATIVE;
        let id = endian.u64_at(record, at).unwrap_or_default();
        let place = self.0.binary_search_by_key(&id, |ids| ids.0);
        let ids = place.ok().and_then(|place| self.0.get(place));
        if let (Some((_, first)), Some(bytes)) = (ids, record.get_mut(at..at + 8)) {
            bytes.copy_from_slice(&first.to_ne_bytes());
        }
    }
}
