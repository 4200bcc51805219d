//! What a recording says beside its records. In a file all of it is known at the begin; in a stream it may grow, and
//! each batch carries what was known when it was made.

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

/// Most events that an index of 16 bits can name.
const MAX_EVENTS: usize = u16::MAX as usize;
/// How often events and features may come after records; recorders write them once.
const MAX_CHANGES: u32 = 256;
/// Words that are gone through because of it in any case: ids of events, and eight bytes of features each.
const CHANGED_WORDS: u64 = 1 << 20;
/// And so many for each that there is, so that it stays in proportion to the recording.
const CHANGED_PER_WORD: u64 = 16;
/// How often further ids of events may come after records: all of them are put in order each time. simpleperf writes them
/// once.
const MAX_ID_CHANGES: u32 = 16;

/// Events, features and byte order of a recording. It does not change, so threads share it.
#[derive(Clone, Debug)]
pub struct Head {
    pub(crate) schema: Schema,
    /// Payloads of features by ascending bit.
    sections: Vec<(u16, SharedBytes)>,
    /// `BUILD_ID` records of the stream, one after another as in the section of a file.
    build_ids: Vec<u8>,
    /// Names that came in `EVENT_UPDATE` records, by an id of their event.
    names: Vec<(u64, String)>,
    /// Whether identity and names are to be worked out anew.
    stale: bool,
    /// Ids of all events.
    n_ids: usize,
    /// How often that was done. A hostile stream could ask for it without end.
    changes: u32,
    /// How many words were gone through for it.
    changed_words: u64,
    id_changes: u32,
    /// The architecture by a hint of the user, for recordings that do not state it.
    fallback_arch: Option<Arch>,
}

impl Head {
    /// The head of a file.
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

    /// The head of a stream of which nothing but the byte order is known.
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

    /// Words that are gone through where identity and names are worked out.
    fn words(&self) -> u64 {
        let ids: usize = self.schema.events.iter().map(|event| 1 + event.ids.len()).sum();
        let features: usize = self.sections.iter().map(|(_, section)| section.len() / 8).sum();
        (ids + features) as u64
    }

    /// Whether events and features may still come.
    fn may_change(&self) -> bool {
        // What comes before the first record is gone through once.
        self.changes == 0 || self.stale || {
            let most = CHANGED_WORDS.saturating_add(CHANGED_PER_WORD.saturating_mul(self.words()));
            self.changes < MAX_CHANGES && self.changed_words <= most
        }
    }

    /// The byte order of the recording machine; that of its stack bytes, too.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.schema.endian
    }

    /// The events, in the order in which samples name them by index. In a stream later heads may have more, never
    /// others.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.schema.events
    }

    /// What the recorder wrote about the machine and itself. Decoded anew at each call.
    #[must_use]
    pub fn features(&self) -> Features<'_> {
        let sections = self.sections.iter().map(|(bit, section)| (*bit, &**section));
        let mut features = Features::decode_all(sections, self.schema.endian, &mut |_| {});
        if !self.build_ids.is_empty() {
            // Build ids do not fail: what is damaged is left out.
            let _ = features.decode(Feature::BuildId.bit(), &self.build_ids, self.schema.endian);
        }
        features
    }

    /// The machine that was recorded.
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

    /// Takes a hint of the architecture, for recordings that do not state it.
    pub(crate) fn set_fallback_arch(&mut self, arch: Option<Arch>) {
        self.fallback_arch = arch;
    }

    /// Whether the records are a pipe stream, in which events and features are records, too.
    #[must_use]
    pub fn is_pipe(&self) -> bool {
        self.schema.pipe
    }

    /// Whether Android's simpleperf made the recording.
    #[must_use]
    pub fn is_simpleperf(&self) -> bool {
        self.schema.simpleperf
    }

    /// Takes in an event of a stream. `None` where the attribute does not parse or there are too many; else whether its
    /// ids were taken, too.
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

    /// Takes in a further id of an event. `None` where ids came at too many places of the recording.
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

    /// Takes in the name of the event that has that id.
    pub(crate) fn add_name(&mut self, id: u64, name: &[u8]) {
        if name.is_empty() || self.names.len() >= MAX_EVENTS {
            return;
        }
        self.names.push((id, String::from_utf8_lossy(name).into_owned()));
        if !self.stale {
            self.apply_names(self.names.len() - 1);
        }
    }

    /// Gives events the names from `first` on.
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

    /// Takes in a feature of a stream. `None` where it does not parse.
    pub(crate) fn add_feature(&mut self, bit: u64, payload: &[u8]) -> Option<()> {
        let bit = u16::try_from(bit);
        // An empty feature that is no flag only says where the features end.
        let is_flag = bit.ok().and_then(Feature::of_bit).is_some_and(Feature::is_flag);
        if payload.is_empty() && !is_flag {
            return Some(());
        }
        let bit = bit.ok().filter(|&bit| bit < Feature::ROOM && self.may_change())?;
        let at = self.sections.partition_point(|known| known.0 < bit);
        if self.sections.get(at).is_some_and(|known| known.0 == bit) {
            self.sections.remove(at);
        }
        self.sections.insert(at, (bit, SharedBytes::from(payload.to_vec())));
        self.stale = true;
        // The topology is stated for as many processors as another feature counts.
        let of_count = Feature::CpuCount.bit();
        let known = self.sections.iter().filter(|known| known.0 == bit || known.0 == of_count);
        let known = known.map(|(bit, section)| (*bit, &**section));
        let mut ignored = false;
        Features::decode_all(known, self.schema.endian, &mut |failed| ignored |= failed == bit);
        (!ignored).then_some(())
    }

    /// Takes in a whole `BUILD_ID` record.
    pub(crate) fn add_build_id(&mut self, record: &[u8]) {
        self.build_ids.extend_from_slice(record);
    }

    /// Works out what follows from what was taken in.
    pub(crate) fn refresh(&mut self, findings: &mut Findings) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        let sections = self.sections.iter().map(|(bit, section)| (*bit, &**section));
        let features = Features::decode_all(sections, self.schema.endian, &mut |_| {});
        name_events(&mut self.schema.events, &features);
        let (identity, differing) = Identity::new(&self.schema.events);
        if let Some(event) = differing {
            findings.push(Finding::IdPlacesDiffer { event });
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

/// The head, to be changed while older ones stay as they are.
pub(crate) fn change(head: &mut Arc<Head>) -> &mut Head {
    Arc::make_mut(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds events of so many ids, each after records, until no more is taken; how many were, and what that cost.
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

    /// More ids than a recording may have are left out, with the event known.
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

    /// What many changes of a long list cost is in proportion to the list, not to its square.
    #[test]
    fn changes_cost_what_there_is() {
        assert_eq!(changed(10), (MAX_CHANGES, 11 * (1 + 256) * 128));
        let (events, words) = changed(8_000);
        let all = u64::from(events) * 8_001;
        assert_eq!((events, words), (38, all * 39 / 2));
        assert!(words <= CHANGED_WORDS + (CHANGED_PER_WORD + 1) * all + 8_001);
    }
}
