//! Losses while recording, by event: from LOST and `LOST_SAMPLES` records, and
//! from counters opened with `PERF_FORMAT_LOST`.
//!
//! Source: `include/uapi/linux/perf_event.h`, `PERF_RECORD_LOST`, `PERF_RECORD_LOST_SAMPLES`, `PERF_FORMAT_LOST`.

use std::collections::BTreeMap;

use crate::event::Identity;
use crate::record::ReadValues;

/// Maximum number of counters followed; a recording has one for each event and processor or thread.
const COUNTERS: usize = 1 << 16;

/// Losses of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventLosses {
    /// Records that did not fit into the kernel's buffer, by LOST records.
    pub records: u64,
    /// Lost samples, by `LOST_SAMPLES` records.
    pub samples: u64,
    /// Lost samples according to the last counter values of the event in samples or READ records.
    pub counted: u64,
}

impl EventLosses {
    pub(crate) fn records(&mut self, lost: u64) {
        self.records = self.records.saturating_add(lost);
    }

    pub(crate) fn samples(&mut self, lost: u64) {
        self.samples = self.samples.saturating_add(lost);
    }
}

/// Losses of all events.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    events: Vec<EventLosses>,
    /// Greatest loss reported by each counter. The key is the counter's id, or the event if reads carry no id.
    counters: BTreeMap<(u64, u16), u64>,
}

impl Losses {
    /// Losses by event index; events beyond the end have none.
    #[must_use]
    pub fn by_event(&self) -> &[EventLosses] {
        &self.events
    }

    pub(crate) fn of_event(&mut self, event: u16) -> &mut EventLosses {
        let index = usize::from(event);
        if self.events.len() <= index {
            self.events.resize(index + 1, EventLosses::default());
        }
        &mut self.events[index]
    }

    /// Adds the counters in a sample or READ record.
    pub(crate) fn read(&mut self, read: &ReadValues<'_>, event: u16) {
        for value in read.iter() {
            let Some(lost) = value.lost else { continue };
            let key = (value.id.unwrap_or_default(), if value.id.is_some() { 0 } else { event });
            if self.counters.len() < COUNTERS || self.counters.contains_key(&key) {
                let greatest = self.counters.entry(key).or_default();
                *greatest = lost.max(*greatest);
            }
        }
    }

    /// Adds the losses of all counters to their events.
    pub(crate) fn finish(&mut self, identity: &Identity) {
        for ((id, event), lost) in std::mem::take(&mut self.counters) {
            let event = if id == 0 { event } else { identity.event_of_id(id).unwrap_or(0) };
            let counted = &mut self.of_event(event).counted;
            *counted = counted.saturating_add(lost);
        }
    }
}
