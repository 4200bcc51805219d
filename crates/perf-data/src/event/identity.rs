//! Which event a record belongs to.
//!
//! Source: `tools/perf/util/evlist.c`, `evlist__event2evsel`, `__evlist__event2id`.

use crate::bytes::Endian;
use crate::event::Event;

/// Most ids of all events that are kept. A recorder has one for each event, processor and thread: 16 events of 1,024
/// threads on 256 processors have as many.
pub(crate) const MAX_IDS: usize = 1 << 22;

/// Finds the event of a record by the id that it carries.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Ids with their events, sorted by id, each once.
    ids: Vec<(u64, u16)>,
    /// Where samples keep the id, in bytes from the begin; `None` where all samples are the first event's.
    sample_at: Option<usize>,
    /// Where other records keep the id, in bytes back from the end.
    trailer_back: Option<usize>,
}

impl Identity {
    /// The way to find the events of records, and the first event, if there is one, that keeps the id at another place
    /// of its samples than the first: the first event's place is used.
    pub(crate) fn new(events: &[Event]) -> (Self, Option<u16>) {
        let mut ids = Vec::with_capacity(events.iter().map(|event| event.ids.len()).sum());
        for (index, event) in (0_u16..).zip(events) {
            ids.extend(event.ids.iter().map(|&id| (id, index)));
        }
        ids.sort_unstable();
        ids.dedup_by_key(|entry| entry.0);
        let (Some(first), true) = (events.first(), events.len() > 1) else {
            // With one event all records are its own, and samples carry no id.
            return (Self { ids, sample_at: None, trailer_back: None }, None);
        };
        let sample_at = first.layout.sample_id_at();
        let differs = |&(_, event): &(u16, &Event)| event.layout.sample_id_at() != sample_at;
        let differing = (0_u16..).zip(events).find(differs).map(|(index, _)| index);
        (Self { ids, sample_at, trailer_back: first.layout.trailer_id_back() }, differing)
    }

    /// The event of the sample in `record`, or the unknown id; the id is 0 where the record ends before it.
    pub(crate) fn of_sample(&self, record: &[u8], endian: Endian) -> Result<u16, u64> {
        match self.sample_at {
            None => Ok(0),
            Some(at) => self.find(endian.u64_at(record, at).unwrap_or_default()),
        }
    }

    /// The event of a kernel record that is no sample.
    pub(crate) fn of_record(&self, record: &[u8], endian: Endian) -> Result<u16, u64> {
        let at = self.trailer_back.and_then(|back| record.len().checked_sub(back));
        match at {
            None => Ok(0),
            Some(at) => self.find(endian.u64_at(record, at).unwrap_or_default()),
        }
    }

    /// The event with that id, if there is one.
    pub(crate) fn event_of_id(&self, id: u64) -> Option<u16> {
        self.ids.binary_search_by_key(&id, |entry| entry.0).ok().map(|at| self.ids[at].1)
    }

    /// The event with that id. Synthesized records have the id 0 and go to the first event.
    fn find(&self, id: u64) -> Result<u16, u64> {
        if id == 0 {
            return Ok(0);
        }
        self.event_of_id(id).ok_or(id)
    }
}
