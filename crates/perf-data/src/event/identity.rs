//! Mapping of records to events.
//!
//! Source: `tools/perf/util/evlist.c`, `evlist__event2evsel`, `__evlist__event2id`.

use crate::bytes::Endian;
use crate::event::Event;

/// Maximum number of ids of all events. A recorder has one for each event, processor and thread: this many are
/// 16 events of 1,024 threads on 256 processors.
pub(crate) const MAX_IDS: usize = 1 << 22;

/// Finds the event of a record by its id.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Ids with their events, sorted by id, each once.
    ids: Vec<(u64, u16)>,
    /// Offset of the id in samples, in bytes; `None` if all samples belong to the first event.
    sample_at: Option<usize>,
    /// Offset of the id in other records, in bytes back from the end.
    trailer_back: Option<usize>,
}

impl Identity {
    /// Creates the mapping from the layout of the first event. Also returns the first event,
    /// if any, with the sample id at another offset.
    pub(crate) fn new(events: &[Event]) -> (Self, Option<u16>) {
        let mut ids = Vec::with_capacity(events.iter().map(|event| event.ids.len()).sum());
        for (index, event) in (0_u16..).zip(events) {
            ids.extend(event.ids.iter().map(|&id| (id, index)));
        }
        ids.sort_unstable();
        ids.dedup_by_key(|entry| entry.0);
        let (Some(first), true) = (events.first(), events.len() > 1) else {
            // With one event all records belong to it, and samples carry no id.
            return (Self { ids, sample_at: None, trailer_back: None }, None);
        };
        let sample_at = first.layout.sample_id_at();
        let differs = |&(_, event): &(u16, &Event)| event.layout.sample_id_at() != sample_at;
        let differing = (0_u16..).zip(events).find(differs).map(|(index, _)| index);
        (Self { ids, sample_at, trailer_back: first.layout.trailer_id_back() }, differing)
    }

    /// Returns the event of the sample in `record`, or the unknown id; the id is 0 if the record ends before it.
    pub(crate) fn of_sample(&self, record: &[u8], endian: Endian) -> Result<u16, u64> {
        match self.sample_at {
            None => Ok(0),
            Some(at) => self.find(endian.u64_at(record, at).unwrap_or_default()),
        }
    }

    /// Returns the event of a kernel record other than a sample.
    pub(crate) fn of_record(&self, record: &[u8], endian: Endian) -> Result<u16, u64> {
        let at = self.trailer_back.and_then(|back| record.len().checked_sub(back));
        match at {
            None => Ok(0),
            Some(at) => self.find(endian.u64_at(record, at).unwrap_or_default()),
        }
    }

    /// Returns the event with an id, if there is one.
    pub(crate) fn event_of_id(&self, id: u64) -> Option<u16> {
        self.ids.binary_search_by_key(&id, |entry| entry.0).ok().map(|at| self.ids[at].1)
    }

    /// Returns the event with an id. Synthesized records have the id 0 and belong to the first event.
    fn find(&self, id: u64) -> Result<u16, u64> {
        if id == 0 {
            return Ok(0);
        }
        self.event_of_id(id).ok_or(id)
    }
}
