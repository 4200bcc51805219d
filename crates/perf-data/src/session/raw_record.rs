//! Decoded record of any type with its bytes: for dumps and checks, not for replay.

use crate::finding::Findings;
use crate::record::{Record, RecordBytes, Sample, SampleId, Schema, decode_sample};
use crate::record_header::{RecordHeader, RecordKind};

/// Decoded content of a record.
#[derive(Clone, Debug)]
pub enum RawBody<'d> {
    /// A sample.
    Sample(Box<Sample<'d>>),
    /// Another record, with its trailer.
    Record(Record<'d>, SampleId),
    /// A record too short for its type, or a sample of an unknown event.
    Undecodable,
}

/// One record of a recording.
#[derive(Clone, Debug)]
pub struct RawRecord<'d> {
    /// Position; in a plain file, the offset.
    pub position: u64,
    /// Index of the file in a directory recording; 0 is `data`.
    pub file: u32,
    /// Offset of the record, or of the compressed record that contains it, in its file or stream.
    pub offset: u64,
    /// Offset in the expanded bytes of the compressed record.
    pub inside: Option<u64>,
    /// Header.
    pub header: RecordHeader,
    /// The whole record, including the header.
    pub bytes: &'d [u8],
    /// Decoded content.
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
