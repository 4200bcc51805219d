//! Information about a recording besides its records. In a file it is complete from the start; in a stream it can grow,
//! and each batch has the head as of its creation.

use std::sync::Arc;

use address::Arch;

use super::feature::Feature;
use super::features::Features;
use super::file_head::FileHead;
use super::machine::{MachineSource, RecordedMachine};
use super::name_events::name_events;
use crate::bytes::Endian;
use crate::event::{Event, EventAttr, EventLayout, Identity, MAX_IDS};
use crate::finding::{Finding, Findings};
use crate::record::Schema;
use crate::shared_bytes::SharedBytes;

/// Maximum number of events, limited by their 16-bit index.
const MAX_EVENTS: usize = u16::MAX as usize;
/// Maximum number of updates by events and features after the first record; recorders write them once.
const MAX_CHANGES: u32 = 256;
/// Words that all updates together may process in any case: one per id of an event, and one per
/// eight bytes of features.
const CHANGED_WORDS: u64 = 1 << 20;
/// Additional words per word present, so that the cost is proportional to the recording.
const CHANGED_PER_WORD: u64 = 16;
/// Maximum number of updates by further ids of events after the first record; each sorts all
/// ids. simpleperf writes them once.
const MAX_ID_CHANGES: u32 = 16;

/// Events, features and byte order of a recording. Immutable, so threads can share it.
#[derive(Clone, Debug)]
pub struct Head {
    pub(crate) schema: Schema,
    /// Contents of features, ascending by bit.
    sections: Vec<(u16, SharedBytes)>,
    /// `BUILD_ID` records of the stream, concatenated as in the section of a file.
    build_ids: Vec<u8>,
    /// Names from `EVENT_UPDATE` records, with an id of their event.
    names: Vec<(u64, String)>,
    /// True if identity and names must be recomputed.
    stale: bool,
    /// Number of ids of all events.
    n_ids: usize,
    /// Number of recomputations, limited because a hostile stream could cause any number.
    changes: u32,
    /// Words processed by all recomputations.
    changed_words: u64,
    id_changes: u32,
    /// Architecture given by the user, for recordings that do not state it.
    fallback_arch: Option<Arch>,
}

impl Head {
    /// Creates the head of a file.
    pub(crate) fn of_file(bytes: &SharedBytes, head: &FileHead) -> Self {
        let section =
            |(bit, range): &(u16, std::ops::Range<usize>)| (*bit, bytes.slice(range.clone()));
        Self {
            schema: head.schema.clone(),
            sections: head.sections.iter().map(section).collect(),
            build_ids: Vec::new(),
            names: Vec::new(),
            stale: false,
            n_ids: head.schema.events.iter().map(|event| event.ids.len()).sum(),
            changes: 0,
            changed_words: 0,
            id_changes: 0,
            fallback_arch: None,
        }
    }

    /// Returns a head that states nothing, for data that comes from no recording.
    #[must_use]
    pub fn empty() -> Self {
        Self::of_stream(Endian::Little)
    }

    /// Creates the head of a stream, with only the byte order known.
    pub(crate) fn of_stream(endian: Endian) -> Self {
        let (identity, _) = Identity::new(&[]);
        let schema = Schema { endian, simpleperf: false, pipe: true, events: Vec::new(), identity };
        Self {
            schema,
            sections: Vec::new(),
            build_ids: Vec::new(),
            names: Vec::new(),
            stale: false,
            n_ids: 0,
            changes: 0,
            changed_words: 0,
            id_changes: 0,
            fallback_arch: None,
        }
    }

    /// Number of words that a recomputation of identity and names processes.
    fn words(&self) -> u64 {
        let ids: usize = self.schema.events.iter().map(|event| 1 + event.ids.len()).sum();
        let features: usize = self.sections.iter().map(|(_, section)| section.len() / 8).sum();
        (ids + features) as u64
    }

    /// Returns true if further events and features are accepted.
    fn may_change(&self) -> bool {
        // Everything before the first record is processed once.
        self.changes == 0 || self.stale || {
            let most = CHANGED_WORDS.saturating_add(CHANGED_PER_WORD.saturating_mul(self.words()));
            self.changes < MAX_CHANGES && self.changed_words <= most
        }
    }

    /// Byte order of the recording machine, and of its stack bytes.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.schema.endian
    }

    /// Events, indexed as in samples. In a stream later heads can have more events, but not different ones.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.schema.events
    }

    /// Decodes the recorder's information about the machine and itself. Not cached.
    #[must_use]
    pub fn features(&self) -> Features<'_> {
        let sections = self.sections.iter().map(|(bit, section)| (*bit, &**section));
        let mut features = Features::decode_all(sections, self.schema.endian, &mut |_| {});
        if !self.build_ids.is_empty() {
            // Decoding of build-ids does not fail: damaged ones are omitted.
            let _ = features.decode(Feature::BuildId.bit(), &self.build_ids, self.schema.endian);
        }
        features
    }

    /// Returns the evidence for callchains that were unwound when the recording was written, undecoded; see
    /// [`ChainEvidence`](crate::ChainEvidence).
    #[must_use]
    pub fn chain_evidence(&self) -> Option<&[u8]> {
        let bit = Feature::ChainEvidence.bit();
        self.sections.iter().find(|section| section.0 == bit).map(|section| &*section.1)
    }

    /// Returns the recorded machine.
    #[must_use]
    pub fn machine(&self) -> RecordedMachine {
        let attrs = self.schema.events.iter().map(|event| &event.attr);
        let machine = RecordedMachine::detect(&self.features(), attrs, self.schema.endian);
        match self.fallback_arch {
            Some(_) if machine.source == MachineSource::Nothing => {
                RecordedMachine { arch: self.fallback_arch, ..machine }
            }
            _ => machine,
        }
    }

    /// Sets the architecture for recordings that do not state it.
    pub(crate) fn set_fallback_arch(&mut self, arch: Option<Arch>) {
        self.fallback_arch = arch;
    }

    /// Returns true for a pipe stream, with events and features as records.
    #[must_use]
    pub fn is_pipe(&self) -> bool {
        self.schema.pipe
    }

    /// Returns true if the recording was made by Android's simpleperf.
    #[must_use]
    pub fn is_simpleperf(&self) -> bool {
        self.schema.simpleperf
    }

    /// Adds an event of a stream. `None` if the attribute cannot be parsed or there are too
    /// many; otherwise whether its ids were added, too.
    pub(crate) fn add_event(
        &mut self,
        attr: &[u8],
        ids: impl Iterator<Item = u64>,
    ) -> Option<bool> {
        let attr = EventAttr::parse(attr, self.schema.endian)?;
        if self.schema.events.len() >= MAX_EVENTS || !self.may_change() {
            return None;
        }
        let layout = EventLayout::new(&attr);
        let free = MAX_IDS.saturating_sub(self.n_ids);
        let ids: Vec<u64> = ids.take(free + 1).collect();
        let fits = ids.len() <= free;
        let ids = if fits { ids } else { Vec::new() };
        self.n_ids += ids.len();
        self.schema.events.push(Event { attr, ids, name: String::new(), layout });
        self.stale = true;
        Some(fits)
    }

    /// Adds an id of an event. `None` if ids were added too often or there are too many.
    pub(crate) fn add_id(&mut self, event: u64, id: u64) -> Option<()> {
        if self.id_changes >= MAX_ID_CHANGES || self.n_ids >= MAX_IDS {
            return None;
        }
        let event = usize::try_from(event).ok().and_then(|at| self.schema.events.get_mut(at));
        if let Some(event) = event {
            event.ids.push(id);
            self.n_ids += 1;
            self.id_changes += u32::from(!self.stale);
            self.stale = true;
        }
        Some(())
    }

    /// Sets the name of the event with an id.
    pub(crate) fn add_name(&mut self, id: u64, name: &[u8]) {
        if name.is_empty() || self.names.len() >= MAX_EVENTS {
            return;
        }
        self.names.push((id, String::from_utf8_lossy(name).into_owned()));
        if !self.stale {
            self.apply_names(self.names.len() - 1);
        }
    }

    /// Applies the names from index `first` on to their events.
    fn apply_names(&mut self, first: usize) {
        let only = self.schema.events.len() == 1;
        for (id, name) in self.names.iter().skip(first) {
            let event = self.schema.identity.event_of_id(*id).or(only.then_some(0));
            let event = event.and_then(|event| self.schema.events.get_mut(usize::from(event)));
            if let Some(event) = event {
                event.name.clone_from(name);
            }
        }
    }

    /// Adds a feature of a stream. `None` if it cannot be parsed.
    pub(crate) fn add_feature(&mut self, bit: u64, payload: &[u8]) -> Option<()> {
        let bit = u16::try_from(bit);
        // An empty feature that is not a flag only marks the end of the features.
        let is_flag = bit.ok().and_then(Feature::of_bit).is_some_and(Feature::is_flag);
        if payload.is_empty() && !is_flag {
            return Some(());
        }
        let bit = bit.ok().filter(|&bit| bit < Feature::BITMAP_BITS && self.may_change())?;
        let at = self.sections.partition_point(|known| known.0 < bit);
        if self.sections.get(at).is_some_and(|known| known.0 == bit) {
            self.sections.remove(at);
        }
        self.sections.insert(at, (bit, SharedBytes::from(payload.to_vec())));
        self.stale = true;
        // The topology is decoded with the number of processors from another feature.
        let of_count = Feature::CpuCount.bit();
        let known = self.sections.iter().filter(|known| known.0 == bit || known.0 == of_count);
        let known = known.map(|(bit, section)| (*bit, &**section));
        let mut ignored = false;
        Features::decode_all(known, self.schema.endian, &mut |failed| ignored |= failed == bit);
        (!ignored).then_some(())
    }

    /// Adds a whole `BUILD_ID` record.
    pub(crate) fn add_build_id(&mut self, record: &[u8]) {
        self.build_ids.extend_from_slice(record);
    }

    /// Recomputes identity and names after additions.
    pub(crate) fn refresh(&mut self, findings: &mut Findings) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        let sections = self.sections.iter().map(|(bit, section)| (*bit, &**section));
        let features = Features::decode_all(sections, self.schema.endian, &mut |_| {});
        name_events(&mut self.schema.events, &features);
        let (identity, differing) = Identity::new(&self.schema.events);
        if let Some(event) = differing {
            findings.push(Finding::IdOffsetsDiffer { event });
        }
        self.schema.identity = identity;
        self.apply_names(0);
        self.changes += 1;
        self.changed_words = self.changed_words.saturating_add(self.words());
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }
}

/// Returns a head to be changed; other owners retain the old one.
pub(crate) fn change(head: &mut Arc<Head>) -> &mut Head {
    Arc::make_mut(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds events with `n_ids` ids each, all after records, until one is rejected. Returns
    /// their number and the cost in words.
    fn changed(n_ids: u64) -> (u32, u64) {
        let mut head = Head::of_stream(Endian::Little);
        let mut attr = [0; 128];
        attr[4] = 128;
        let mut events = 0;
        loop {
            let first = u64::from(events) * n_ids;
            if head.add_event(&attr, first..first + n_ids).is_none() {
                return (events, head.changed_words);
            }
            head.refresh(&mut Findings::default());
            events += 1;
        }
    }

    /// Ids beyond the limit of a recording are dropped, but the event is retained.
    #[test]
    fn ids_have_an_end() {
        let mut head = Head::of_stream(Endian::Little);
        let mut attr = [0; 128];
        attr[4] = 128;
        let most = MAX_IDS as u64;
        assert_eq!(head.add_event(&attr, 0..most - 1), Some(true));
        assert_eq!(head.add_event(&attr, 0..2), Some(false));
        assert_eq!(head.add_event(&attr, 0..u64::MAX), Some(false));
        assert_eq!((head.add_id(1, 7), head.add_id(1, 8)), (Some(()), None));
        let ids: Vec<usize> = head.events().iter().map(|event| event.ids.len()).collect();
        assert_eq!(ids, [MAX_IDS - 1, 1, 0]);
    }

    /// The cost of many changes of a long list is proportional to its length, not to the square of it.
    #[test]
    fn changes_cost_what_there_is() {
        assert_eq!(changed(10), (MAX_CHANGES, 11 * (1 + 256) * 128));
        let (events, words) = changed(8_000);
        let all = u64::from(events) * 8_001;
        assert_eq!((events, words), (38, all * 39 / 2));
        assert!(words <= CHANGED_WORDS + (CHANGED_PER_WORD + 1) * all + 8_001);
    }
}
