//! The parsed container, and the decoding of its records on demand.

use address::Timestamp;

use crate::attr::EventAttr;
use crate::container::Container;
use crate::cursor::{Cursor, Endian};
use crate::error::Error;
use crate::event::{Event, name_events, read_events};
use crate::features::Features;
use crate::finding::Finding;
use crate::findings::Findings;
use crate::identity::Identity;
use crate::kernel_decode::kernel_record;
use crate::layout::{HEADER_LEN, Layout};
use crate::machine::Machine;
use crate::raw_records::RawRecords;
use crate::record::{Record, RecordKind, SampleId};
use crate::sample::{Sample, SampleError};
use crate::sample_decode::decode_sample;
use crate::scan::{SampleEntry, Scan, TimedRecord};
use crate::source::{Piece, Source};
use crate::user_records::UserRecord;
use crate::walker::{Found, HeaderRules};

/// A recording: header, attributes and features, with the bytes of its records borrowed. It does not change, so
/// threads share it by reference.
#[derive(Clone, Debug)]
pub struct Recording<'d> {
    endian: Endian,
    events: Vec<Event>,
    features: Features<'d>,
    identity: Identity,
    source: Source<'d>,
    simpleperf: bool,
}

impl<'d> Recording<'d> {
    /// Reads the container around the records: all of a `perf.data` file is handed in as `bytes`.
    ///
    /// # Errors
    /// Where the header, or the attributes without which no record can be read, are missing or make no sense; and for
    /// kinds of recordings that are not supported. Any other damage is a finding.
    pub fn parse(bytes: &'d [u8], findings: &mut Findings) -> Result<Self, Error> {
        let container = Container::parse(bytes, findings)?;
        let mut events = read_events(bytes, &container, findings)?;
        let features = Features::read(bytes, &container, findings);
        name_events(&mut events, &features);
        if let Some(version) = features.directory_version.filter(|&version| version > 0) {
            findings.push(Finding::DirectoryRecording { version });
        }
        let simpleperf = features.is_simpleperf();
        if simpleperf {
            findings.push(Finding::Simpleperf);
            events.iter_mut().for_each(|event| event.layout.whole_stacks = true);
        }
        let identity = Identity::new(&events, findings);
        let start = container.data.start as u64;
        let source = Source::new(vec![Piece { start, bytes: &bytes[container.data.clone()] }]);
        Ok(Self { endian: container.endian, events, features, identity, source, simpleperf })
    }

    /// The byte order of the recording machine; that of its stack bytes, too.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The events, in the order in which samples name them by index. There is at least one.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What the recorder wrote about the machine and itself.
    #[must_use]
    pub fn features(&self) -> &Features<'d> {
        &self.features
    }

    /// The machine that was recorded.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let attrs = self.events.iter().map(|event| &event.attr);
        Machine::detect(&self.features, attrs, self.endian)
    }

    /// Walks all records once: an index of the samples and every other record that replaying needs, in time order.
    #[must_use]
    pub fn scan(&self, findings: &mut Findings) -> Scan<'d> {
        Scan::run(self, findings)
    }

    /// All records in the order of the file, decoded one by one.
    #[must_use]
    pub fn raw_records(&self) -> RawRecords<'_, 'd> {
        RawRecords::new(self)
    }

    /// Decodes one sample. Damage inside costs the damaged field and those behind it, see [`Sample::damage`].
    ///
    /// # Errors
    /// Where the entry is not of this recording's scan.
    pub fn sample(&self, entry: &SampleEntry) -> Result<Sample<'d>, SampleError> {
        let position = entry.position;
        let bytes = self.source.at(position);
        let not_a_sample = SampleError::NotASample { position };
        let header = self.header_rules().read(bytes).ok_or(not_a_sample)?;
        let record = bytes.get(..header.size as usize).ok_or(not_a_sample)?;
        if header.kind != RecordKind::SAMPLE || record.len() < HEADER_LEN {
            return Err(not_a_sample);
        }
        let event = self.events.get(usize::from(entry.event));
        let event = event.ok_or(SampleError::NoEvent { position, event: entry.event })?;
        let expected = event.layout.sample.end.into();
        let too_short = SampleError::TooShort { position, expected, found: header.size };
        decode_sample(record, header.misc, entry.event, event, self.endian).ok_or(too_short)
    }

    pub(crate) fn source(&self) -> &Source<'d> {
        &self.source
    }

    pub(crate) fn header_rules(&self) -> HeaderRules {
        HeaderRules { endian: self.endian, simpleperf: self.simpleperf }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn layout(&self, event: u16) -> Option<&Layout> {
        self.events.get(usize::from(event)).map(|event| &event.layout)
    }

    /// Decodes a record that is no sample; `None` where it is too short for its type.
    pub(crate) fn decode_record(
        &self,
        found: &Found<'d>,
        findings: &mut Findings,
    ) -> Option<TimedRecord<'d>> {
        let (position, header) = (found.position, found.header);
        let decoded = |time, event, record, trailer| TimedRecord {
            time,
            position,
            event,
            misc: header.misc,
            record,
            trailer,
        };
        let body = found.bytes.get(HEADER_LEN..)?;
        if !header.kind.is_known(false) {
            let record = Record::Unknown { kind: header.kind, size: header.size };
            return Some(decoded(Timestamp(0), 0, record, SampleId::default()));
        }
        if header.kind.0 >= RecordKind::FIRST_USER {
            let user = UserRecord::decode(header, &mut Cursor::new(body, self.endian))?;
            return Some(decoded(Timestamp(0), 0, Record::User(user), SampleId::default()));
        }
        let event = self.identity.of_record(found.bytes, self.endian).unwrap_or_else(|id| {
            findings.push(Finding::UnknownEventId { offset: position, id });
            0
        });
        let Event { attr, layout, .. } = self.events.get(usize::from(event))?;
        let (body, trailer) =
            body.split_at_checked(body.len().checked_sub(layout.trailer_len())?)?;
        let trailer = layout.sample_id(trailer, self.endian);
        let mut record =
            kernel_record(header, &mut Cursor::new(body, self.endian), attr.read_format)?;
        if let Record::LostSamples(lost) = &mut record {
            lost.id = trailer.id.unwrap_or_default();
        }
        let time = record_time(&record, attr, &trailer);
        Some(decoded(time, event, record, trailer))
    }
}

/// The trailer's time; without trailers that in the body.
fn record_time(record: &Record<'_>, attr: &EventAttr, trailer: &SampleId) -> Timestamp {
    match record {
        _ if attr.flags.sample_id_all() => trailer.time,
        Record::Fork(task) | Record::Exit(task) => task.time,
        Record::Throttle(throttle) | Record::Unthrottle(throttle) => throttle.time,
        _ => Timestamp(0),
    }
}
