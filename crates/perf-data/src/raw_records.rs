//! Every record in the order of the file, decoded: for dumps and checks, not for replaying.

use crate::findings::Findings;
use crate::record::{Record, RecordHeader, RecordKind, SampleId};
use crate::recording::Recording;
use crate::sample::Sample;
use crate::sample_decode::decode_sample;
use crate::walker::{Found, Walker};

/// What a record says.
#[derive(Clone, Debug)]
pub enum RawBody<'d> {
    /// A sample.
    Sample(Box<Sample<'d>>),
    /// Another record, with its trailer.
    Record(Record<'d>, SampleId),
    /// A record too short for its type, or a sample of an unknown event.
    Undecodable,
}

/// One record.
#[derive(Clone, Debug)]
pub struct RawRecord<'d> {
    /// Its position; in a plain file its offset.
    pub position: u64,
    /// Its header.
    pub header: RecordHeader,
    /// The whole record, header included.
    pub bytes: &'d [u8],
    /// What it says.
    pub body: RawBody<'d>,
}

/// Iterates over all records, see [`Recording::raw_records`].
#[derive(Clone, Debug)]
pub struct RawRecords<'r, 'd> {
    recording: &'r Recording<'d>,
    walker: Walker<'r, 'd>,
    findings: Findings,
}

impl<'r, 'd> RawRecords<'r, 'd> {
    pub(crate) fn new(recording: &'r Recording<'d>) -> Self {
        let walker = Walker::new(recording.source(), recording.header_rules());
        Self { recording, walker, findings: Findings::default() }
    }

    /// What was wrong with the records given so far.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    fn body(&mut self, found: &Found<'d>) -> Option<RawBody<'d>> {
        if found.header.kind != RecordKind::SAMPLE {
            let decoded = self.recording.decode_record(found, &mut self.findings)?;
            return Some(RawBody::Record(decoded.record, decoded.trailer));
        }
        let endian = self.recording.endian();
        let index = self.recording.identity().of_sample(found.bytes, endian).ok()?;
        let event = self.recording.events().get(usize::from(index))?;
        let sample = decode_sample(found.bytes, found.header.misc, index, event, endian)?;
        Some(RawBody::Sample(Box::new(sample)))
    }
}

impl<'d> Iterator for RawRecords<'_, 'd> {
    type Item = RawRecord<'d>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.walker.next(&mut self.findings)?;
        let body = self.body(&found).unwrap_or(RawBody::Undecodable);
        Some(RawRecord { position: found.position, header: found.header, bytes: found.bytes, body })
    }
}
