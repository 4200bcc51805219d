//! What is needed to decode a record: the events with their layouts, how their ids are found, the byte order.

use address::Timestamp;

use super::header_rules::HeaderRules;
use super::kernel::{Mmap, NamedMap};
use super::kernel_decode::{MMAP2_FIXED, kernel_record, mmap2, named_map};
use super::sample::{Sample, SampleError};
use super::sample_decode::decode_sample;
use super::simpleperf::SimpleperfRecord;
use super::timed::{RecordBytes, TimedRecord};
use super::trailer::SampleId;
use super::user::UserRecord;
use crate::bytes::{Endian, FieldReader};
use crate::event::{Event, EventAttr, EventLayout, Identity};
use crate::finding::{Finding, Findings};
use crate::record::Record;
use crate::record_header::{HEADER_LEN, RecordKind};

/// The events of a recording, or of a stream as far as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) endian: Endian,
    pub(crate) simpleperf: bool,
    pub(crate) pipe: bool,
    pub(crate) events: Vec<Event>,
    pub(crate) identity: Identity,
}

impl Schema {
    pub(crate) fn header_rules(&self) -> HeaderRules {
        HeaderRules { endian: self.endian, simpleperf: self.simpleperf, pipe: self.pipe }
    }

    pub(crate) fn layout(&self, event: u16) -> Option<&EventLayout> {
        self.events.get(usize::from(event)).map(|event| &event.layout)
    }

    /// Decodes the sample that `bytes` begin with.
    #[inline]
    pub(crate) fn sample<'d>(
        &self,
        bytes: &'d [u8],
        position: u64,
        event: u16,
    ) -> Result<Sample<'d>, SampleError> {
        let not_a_sample = SampleError::NotASample { position };
        let header = self.header_rules().read(bytes).ok_or(not_a_sample)?;
        let record = bytes.get(..header.size as usize).ok_or(not_a_sample)?;
        if header.kind != RecordKind::SAMPLE || record.len() < HEADER_LEN {
            return Err(not_a_sample);
        }
        let of = self.events.get(usize::from(event));
        let of = of.ok_or(SampleError::NoEvent { position, event })?;
        let expected = of.layout.sample.end.into();
        let too_short = SampleError::TooShort { position, expected, found: header.size };
        decode_sample(record, header.misc, event, of, self.endian).ok_or(too_short)
    }

    /// Decodes a record that is no sample; `None` where it is too short for its type, or where there is no event yet
    /// by which its end is known.
    pub(crate) fn record<'d>(
        &self,
        found: &RecordBytes<'d>,
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
        if !header.kind.is_known(self.simpleperf) {
            let record = Record::Unknown { kind: header.kind, size: header.size };
            return Some(decoded(Timestamp(0), 0, record, SampleId::default()));
        }
        if header.kind.0 >= RecordKind::FIRST_SIMPLEPERF {
            let cursor = &mut FieldReader::new(body, self.endian);
            let record = Record::Simpleperf(SimpleperfRecord::decode(header.kind, cursor)?);
            return Some(decoded(Timestamp(0), 0, record, SampleId::default()));
        }
        if header.kind.0 >= RecordKind::FIRST_USER {
            let user = UserRecord::decode(header, &mut FieldReader::new(body, self.endian))?;
            return Some(decoded(Timestamp(0), 0, Record::User(user), SampleId::default()));
        }
        let event = self.identity.of_record(found.bytes, self.endian).unwrap_or_else(|id| {
            findings.push(Finding::UnknownEventId { offset: position, id });
            0
        });
        let Event { attr, layout, .. } = self.events.get(usize::from(event))?;
        let (body, trailer) =
            body.split_at_checked(body.len().checked_sub(layout.trailer_len())?)?;
        let trailer = SampleId::read(layout, trailer, self.endian);
        let mut record =
            kernel_record(header, &mut FieldReader::new(body, self.endian), attr.read_format)?;
        if let Record::LostSamples(lost) = &mut record {
            lost.id = trailer.id.unwrap_or_default();
        }
        let time = record_time(&record, attr, &trailer);
        Some(decoded(time, event, record, trailer))
    }
}

/// What makes up most records that are no samples, MMAP2: the same as the general way gives, in fewer steps.
impl Schema {
    /// The map that a record states; `None` where it is another record, or too short.
    #[inline]
    pub(crate) fn map<'d>(&self, found: &RecordBytes<'d>) -> Option<Mmap<'d>> {
        let event = self.identity.of_record(found.bytes, self.endian).unwrap_or(0);
        let (body, _) = self.map_parts(found, event)?;
        mmap2(found.header.misc, &FieldReader::new(body, self.endian))
    }

    /// The same, undecoded as far as it says what is mapped; `None`, too, where it is no usual map of a process.
    #[inline]
    pub(crate) fn named_map<'d>(&self, found: &RecordBytes<'d>) -> Option<NamedMap<'d>> {
        let event = self.identity.of_record(found.bytes, self.endian).unwrap_or(0);
        let (body, _) = self.map_parts(found, event)?;
        named_map(found.header.misc, body, self.endian)
    }

    /// When that map came into being; `None`, too, where there is something to be said of the record.
    #[inline]
    pub(crate) fn map_time(&self, found: &RecordBytes<'_>) -> Option<Timestamp> {
        let event = self.identity.of_record(found.bytes, self.endian).ok()?;
        let (body, time) = self.map_parts(found, event)?;
        (body.len() >= MMAP2_FIXED).then_some(time)
    }

    /// Its body and its time.
    #[inline]
    fn map_parts<'d>(&self, found: &RecordBytes<'d>, event: u16) -> Option<(&'d [u8], Timestamp)> {
        if found.header.kind != RecordKind::MMAP2 {
            return None;
        }
        let body = found.bytes.get(HEADER_LEN..)?;
        let Event { attr, layout, .. } = self.events.get(usize::from(event))?;
        let (body, trailer) =
            body.split_at_checked(body.len().checked_sub(layout.trailer_len())?)?;
        let time = if attr.flags.sample_id_all() {
            layout.trailer_time(trailer, self.endian)
        } else {
            Timestamp(0)
        };
        Some((body, time))
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
