//! Data needed to decode a record: the events with their layouts, the mapping of ids, the byte order.

use address::Timestamp;

use super::header_rules::HeaderRules;
use super::kernel::{COMM_FIXED, TASK_FIXED, kernel_record};
use super::map::{MMAP2_FIXED, Mmap, NamedMap, mmap2, named_map};
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

/// Events of a recording, or of the part of a stream read so far.
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

    /// Decodes the sample at the start of `bytes`.
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

    /// Returns the length of the record at the start of `bytes`.
    #[inline]
    pub(crate) fn record_len(&self, bytes: &[u8]) -> Option<usize> {
        self.header_rules().read(bytes).map(|header| header.size as usize)
    }

    /// Decodes a record other than a sample.
    /// `None` if it is too short for its type, or if no event is known yet to locate its trailer.
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
        let (body, trailer, Event { attr, layout, .. }) = self.body(found, event)?;
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

/// Fast path for MMAP2, the most frequent type after samples. The results equal those of the general path.
impl Schema {
    /// Returns the mapping of an MMAP2 record; `None` for other records, or if it is too short.
    #[inline]
    pub(crate) fn map<'d>(&self, found: &RecordBytes<'d>) -> Option<Mmap<'d>> {
        mmap2(found.header.misc, &FieldReader::new(self.map_body(found)?, self.endian))
    }

    /// Returns the same mapping with identity and path undecoded. `None` also if it is not an
    /// ordinary mapping of a process.
    #[inline]
    pub(crate) fn named_map<'d>(&self, found: &RecordBytes<'d>) -> Option<NamedMap<'d>> {
        named_map(found.header.misc, self.map_body(found)?, self.endian)
    }

    /// Returns the time of a map or task record; `None` for other records, and if the record has a finding.
    #[inline]
    pub(crate) fn usual_time(&self, found: &RecordBytes<'_>) -> Option<Timestamp> {
        let least = match found.header.kind {
            RecordKind::MMAP2 => MMAP2_FIXED,
            RecordKind::COMM => COMM_FIXED,
            RecordKind::FORK | RecordKind::EXIT => TASK_FIXED,
            _ => return None,
        };
        let event = self.identity.of_record(found.bytes, self.endian).ok()?;
        let (body, trailer, event) = self.body(found, event)?;
        let has_trailer = event.attr.flags.sample_id_all();
        // Without a trailer, task records have a time in the body.
        if body.len() < least || !has_trailer && found.header.kind != RecordKind::MMAP2 {
            return None;
        }
        let time = || event.layout.trailer_time(trailer, self.endian);
        Some(if has_trailer { time() } else { Timestamp(0) })
    }

    /// Returns the body of a map.
    #[inline]
    fn map_body<'d>(&self, found: &RecordBytes<'d>) -> Option<&'d [u8]> {
        if found.header.kind != RecordKind::MMAP2 {
            return None;
        }
        let event = self.identity.of_record(found.bytes, self.endian).unwrap_or(0);
        Some(self.body(found, event)?.0)
    }

    /// Returns the body, the trailer and the event of a kernel record.
    #[inline]
    fn body<'d>(
        &self,
        found: &RecordBytes<'d>,
        event: u16,
    ) -> Option<(&'d [u8], &'d [u8], &Event)> {
        let body = found.bytes.get(HEADER_LEN..)?;
        let event = self.events.get(usize::from(event))?;
        let len = body.len().checked_sub(event.layout.trailer_len())?;
        let (body, trailer) = body.split_at_checked(len)?;
        Some((body, trailer, event))
    }
}

/// Returns the trailer's time; without trailers, the time in the body.
fn record_time(record: &Record<'_>, attr: &EventAttr, trailer: &SampleId) -> Timestamp {
    match record {
        _ if attr.flags.sample_id_all() => trailer.time,
        Record::Fork(task) | Record::Exit(task) => task.time,
        Record::Throttle(throttle) | Record::Unthrottle(throttle) => throttle.time,
        _ => Timestamp(0),
    }
}
