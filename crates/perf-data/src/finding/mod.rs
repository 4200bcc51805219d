//! Findings: damage and oddities that do not stop the reading, with their messages.

mod list;
mod text;

pub use list::{FindingGroup, Findings};

use budget::Exhausted;

use crate::record_header::RecordKind;

/// Effect of a finding on the data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Noteworthy; no data is lost.
    Note,
    /// Part of the recording is missing from the result.
    Damage,
}

/// Fault of a record header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderFault {
    /// The size is less than the header's own eight bytes.
    TooSmall,
    /// The size is not a multiple of eight although the type requires it.
    Unaligned,
    /// The record extends past the data.
    TooLarge,
    /// Type and size match no known record, and no record follows.
    Garbage,
}

/// A fault or oddity of a recording. Offsets are record positions; in a plain file, bytes from the start of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Finding {
    /// The recorder did not finish: there is no data size and no features.
    Unfinished {
        /// Start of the data.
        offset: u64,
    },
    /// The file ends before its data.
    DataTruncated {
        /// Expected end of the data.
        expected: u64,
        /// End of the file.
        found: u64,
    },
    /// The last record is truncated.
    PartialRecord {
        /// Start of the record.
        offset: u64,
        /// Number of bytes present.
        len: u64,
    },
    /// The attribute section extends past the file; its whole entries are used.
    AttrsTruncated {
        /// Start of the section.
        offset: u64,
        /// Stated size in bytes.
        size: u64,
    },
    /// The stated entry size does not fit the attribute section; the size in the first attribute is used.
    AttrStride {
        /// Entry size stated by the header.
        stated: u64,
        /// Entry size used.
        used: u64,
    },
    /// An attribute is of a newer kernel; its known prefix is used.
    NewerAttr {
        /// Index of the event.
        event: u16,
        /// The attribute's size in bytes.
        size: u32,
    },
    /// The id list of an event extends past the file, has a bad length, or exceeds the limit of a recording.
    IdsIgnored {
        /// Index of the event.
        event: u16,
        /// Stated start of the ids.
        offset: u64,
        /// Size of the ids in bytes.
        size: u64,
    },
    /// A sample type has unknown bits; their fields are not read.
    UnknownSampleBits {
        /// Index of the event.
        event: u16,
        /// The unknown bits.
        bits: u64,
    },
    /// Two events have the event id at different offsets in a sample; the offset of the first event is used.
    IdOffsetsDiffer {
        /// Index of the first differing event.
        event: u16,
    },
    /// An event of a stream was too late, exceeds the limit, or has a damaged attribute: its samples are dropped.
    EventIgnored {
        /// Start of its record.
        offset: u64,
    },
    /// A feature section extends past the file or cannot be parsed.
    FeatureIgnored {
        /// The feature's bit.
        feature: u16,
        /// Start of the section.
        offset: u64,
        /// Size in bytes.
        size: u64,
    },
    /// A record header is invalid; reading continued at the next plausible chain of headers.
    BadRecord {
        /// Offset of the bad header.
        offset: u64,
        /// The fault.
        fault: HeaderFault,
        /// Number of bytes skipped.
        skipped: u64,
    },
    /// A record of an unknown type; it was skipped by its size.
    UnknownRecord {
        /// Start of the record.
        offset: u64,
        /// Type.
        kind: RecordKind,
    },
    /// A record is too short for its type and was dropped.
    ShortRecord {
        /// Start of the record.
        offset: u64,
        /// Type.
        kind: RecordKind,
    },
    /// A record has an unknown event id. A sample is dropped then; another record is read as one of the first event.
    UnknownEventId {
        /// Start of the record.
        offset: u64,
        /// The id.
        id: u64,
    },
    /// A sample of an event with time stamps has none; it is ordered first.
    SampleWithoutTime {
        /// Start of the sample.
        offset: u64,
    },
    /// Events were lost while recording, because the kernel's buffer was full.
    EventsLost {
        /// Start of the record.
        offset: u64,
        /// Number of events lost.
        lost: u64,
    },
    /// The payload of an AUX area trace or of tracing data extends past the data.
    PayloadTruncated {
        /// Start of the record.
        offset: u64,
        /// Stated size of the payload in bytes.
        size: u64,
    },
    /// Text follows the last record of a stream, usually the messages of the recorder.
    TrailingText {
        /// Start of the text.
        offset: u64,
        /// Length in bytes.
        len: u64,
    },
    /// The compressed records of a stream cannot be expanded from here on.
    BadCompression {
        /// Start of the compressed record.
        offset: u64,
    },
    /// A compressed record expands to more than recorders put in one; the rest of its stream is not read.
    ExpansionTooLarge {
        /// Start of the compressed record.
        offset: u64,
        /// Maximum number of expanded bytes.
        limit: u64,
    },
    /// Compressed records exceed a limit that depends on their size; the rest of them is not read.
    LimitReached {
        /// Start of the compressed record.
        offset: u64,
        /// The exceeded limit.
        exhausted: Exhausted,
    },
    /// Reading failed in mid-stream, or the compression around the recording is damaged. Earlier records are retained.
    StreamBroken {
        /// Position at which reading stopped.
        offset: u64,
        /// Kind of failure.
        error: std::io::ErrorKind,
    },
    /// A record is older than records already returned; it is ordered too late.
    OutOfOrder {
        /// Start of the record.
        offset: u64,
    },
    /// A stream has no ends of rounds, and more of it arrived than can be held: records may be out of order.
    RoundsMissing {
        /// Position in the stream.
        offset: u64,
    },
    /// A deferred user callchain of a sample is missing.
    ChainMissing {
        /// Start of the sample.
        offset: u64,
    },
    /// A compressed record skipped because its stream was broken before. The records in it are missing.
    CompressedRecord {
        /// Start of the record.
        offset: u64,
    },
    /// The file is `data` of a directory recording (`perf record --threads`); the samples are in its sibling files.
    DirectoryRecording {
        /// Version of the directory format.
        version: u64,
    },
    /// The recording was made by Android's simpleperf.
    Simpleperf,
}

impl Finding {
    /// Keyword in machine-readable output.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unfinished { .. } => "unfinished",
            Self::DataTruncated { .. } => "data-cut",
            Self::PartialRecord { .. } => "partial-record",
            Self::AttrsTruncated { .. } => "attrs-cut",
            Self::AttrStride { .. } => "attr-stride",
            Self::NewerAttr { .. } => "newer-attr",
            Self::IdsIgnored { .. } => "ids-ignored",
            Self::UnknownSampleBits { .. } => "unknown-sample-bits",
            Self::IdOffsetsDiffer { .. } => "id-places-differ",
            Self::EventIgnored { .. } => "event-ignored",
            Self::FeatureIgnored { .. } => "feature-ignored",
            Self::BadRecord { .. } => "bad-record",
            Self::UnknownRecord { .. } => "unknown-record",
            Self::ShortRecord { .. } => "short-record",
            Self::UnknownEventId { .. } => "unknown-event-id",
            Self::SampleWithoutTime { .. } => "sample-without-time",
            Self::EventsLost { .. } => "events-lost",
            Self::PayloadTruncated { .. } => "payload-cut",
            Self::TrailingText { .. } => "trailing-text",
            Self::BadCompression { .. } => "bad-compression",
            Self::ExpansionTooLarge { .. } => "expansion-too-large",
            Self::LimitReached { .. } => "limit-reached",
            Self::StreamBroken { .. } => "stream-broken",
            Self::OutOfOrder { .. } => "out-of-order",
            Self::RoundsMissing { .. } => "rounds-missing",
            Self::ChainMissing { .. } => "chain-missing",
            Self::CompressedRecord { .. } => "compressed-record",
            Self::DirectoryRecording { .. } => "directory-recording",
            Self::Simpleperf => "simpleperf",
        }
    }

    /// Returns whether the finding means lost data.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::AttrStride { .. }
            | Self::NewerAttr { .. }
            | Self::UnknownSampleBits { .. }
            | Self::UnknownRecord { .. }
            | Self::SampleWithoutTime { .. }
            | Self::EventsLost { .. }
            | Self::TrailingText { .. }
            | Self::OutOfOrder { .. }
            | Self::RoundsMissing { .. }
            | Self::ChainMissing { .. }
            | Self::Simpleperf => Severity::Note,
            _ => Severity::Damage,
        }
    }
}
