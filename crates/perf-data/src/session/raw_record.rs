//! A record of any type with its bytes, decoded: for dumps and checks, not for replaying.

use crate::finding::Findings;
use crate::record::{Record, RecordBytes, Sample, SampleId, Schema, decode_sample};
use crate::record_header::{RecordHeader, RecordKind};

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
    /// The file's index among those of a directory; 0 is `data`.
    pub file: u32,
    /// The offset of the record in its file or stream, or that of the compressed record that it came out of.
    pub offset: u64,
    /// Where it is in what that one expands to.
    pub inside: Option<u64>,
    /// Its header.
    pub header: RecordHeader,
    /// The whole record, header included.
    pub bytes: &'d [u8],
    /// What it says.
    pub body: RawBody<'d>,
}

/// Decodes a record of any type.
pub(crate) fn raw_body<'d>(
    schema: &Schema,
    found: &RecordBytes<'d>,
    findings: &mut Findings,
) -> RawBody<'d> {
    let mut body = || {
        if found.header.kind != RecordKind::SAMPLE {
            let decoded = schema.record(found, findings)?;
            return Some(RawBody::Record(decoded.record, decoded.trailer));
        }
        let index = schema.identity.of_sample(found.bytes, schema.endian).ok()?;
        let event = schema.events.get(usize::from(index))?;
        let sample = decode_sample(found.bytes, found.header.misc, index, event, schema.endian)?;
        Some(RawBody::Sample(Box::new(sample)))
    };
    body().unwrap_or(RawBody::Undecodable)
}
