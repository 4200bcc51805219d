//! What can be wrong with a recording while work goes on, with the words for it.

mod list;
mod text;

pub use list::{FindingGroup, Findings};

use budget::Exhausted;

use crate::record_header::RecordKind;

/// Whether a finding means lost data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth saying; nothing is lost by it.
    Note,
    /// Something that was in the recording is missing from the result.
    Damage,
}

/// What is wrong with a record header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderFault {
    /// The size is less than the header's own eight bytes.
    TooSmall,
    /// The size is no multiple of eight though the type asks for it.
    Unaligned,
    /// The record would leave the data.
    TooLarge,
    /// Type and size are of no known record, and no record follows it.
    Garbage,
}

/// One thing found wrong, or noteworthy, in a recording. Offsets are record positions (in a plain file: bytes from
/// the start of the file).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Finding {
    /// The recorder did not finish: no data size, no features.
    Unfinished {
        /// Begin of the data.
        offset: u64,
    },
    /// The file ends before its data does.
    DataCut {
        /// Where the data should end.
        expected: u64,
        /// Where the file ends.
        found: u64,
    },
    /// The last record is not whole.
    PartialRecord {
        /// Where it begins.
        offset: u64,
        /// The bytes that are there.
        len: u64,
    },
    /// The attribute section leaves the file; the whole entries are used.
    AttrsCut {
        /// Begin of the section.
        offset: u64,
        /// Its stated size in bytes.
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
    /// The id list of an event leaves the file, is no list, or is more than a recording may have.
    IdsIgnored {
        /// Index of the event.
        event: u16,
        /// Where the ids should begin.
        offset: u64,
        /// Their size in bytes.
        size: u64,
    },
    /// A sample type has bits that are not known; their fields are not read.
    UnknownSampleBits {
        /// Index of the event.
        event: u16,
        /// The unknown bits.
        bits: u64,
    },
    /// Two events keep the event id at different places of a sample; the first event's place is used.
    IdPlacesDiffer {
        /// Index of the first event that differs.
        event: u16,
    },
    /// An event of a stream came too late, is one too many, or has no attribute that parses: its samples are left out.
    EventIgnored {
        /// Where its record begins.
        offset: u64,
    },
    /// A feature section leaves the file or does not parse.
    FeatureIgnored {
        /// The feature's bit.
        feature: u16,
        /// Begin of the section.
        offset: u64,
        /// Its size in bytes.
        size: u64,
    },
    /// A record header cannot be right; reading went on at the next plausible chain of headers.
    BadRecord {
        /// Where the bad header is.
        offset: u64,
        /// What is wrong.
        fault: HeaderFault,
        /// The bytes passed over.
        skipped: u64,
    },
    /// A record type that is not known; it was skipped by its size.
    UnknownRecord {
        /// Where it begins.
        offset: u64,
        /// Its type.
        kind: RecordKind,
    },
    /// A record is too short for its type and was dropped.
    ShortRecord {
        /// Where it begins.
        offset: u64,
        /// Its type.
        kind: RecordKind,
    },
    /// A record names an event id that no event has. A sample is dropped then, another record read as the first event's.
    UnknownEventId {
        /// Where the record begins.
        offset: u64,
        /// The id.
        id: u64,
    },
    /// A sample of an event with time stamps has none; it is ordered first.
    SampleWithoutTime {
        /// Where it begins.
        offset: u64,
    },
    /// Events were lost while recording: the kernel's buffer was full.
    EventsLost {
        /// Where the record begins.
        offset: u64,
        /// How many.
        lost: u64,
    },
    /// The payload of an AUX area trace or of tracing data leaves the data.
    PayloadCut {
        /// Where the record begins.
        offset: u64,
        /// Stated size of the payload in bytes.
        size: u64,
    },
    /// Text follows the last record of a stream, as what the recorder prints for its user.
    TrailingText {
        /// Where it begins.
        offset: u64,
        /// Its length in bytes.
        len: u64,
    },
    /// The compressed records of a stream cannot be expanded from here on.
    BadCompression {
        /// Where the compressed record begins.
        offset: u64,
    },
    /// A compressed record expands to more than any recorder puts in one; its stream is not read on.
    ExpansionTooLarge {
        /// Where the compressed record begins.
        offset: u64,
        /// The bytes that it may expand to.
        limit: u64,
    },
    /// The recording uses more of something than its size accounts for: what is packed there is not read on.
    LimitReached {
        /// Where the compressed record begins.
        offset: u64,
        /// Of what.
        exhausted: Exhausted,
    },
    /// Reading failed in mid-stream, or the compression around the recording is damaged; the records before are there.
    StreamBroken {
        /// Where reading stopped.
        offset: u64,
        /// What kind of failure it was.
        error: std::io::ErrorKind,
    },
    /// A record is older than records that were already given out; it is ordered too late.
    OutOfOrder {
        /// Where it begins.
        offset: u64,
    },
    /// A stream does not say when its records up to a time are complete, and more of it came than can be held: order
    /// was given up.
    RoundsMissing {
        /// Where in the stream.
        offset: u64,
    },
    /// A user callchain that was to follow a sample did not come.
    ChainMissing {
        /// Where the sample begins.
        offset: u64,
    },
    /// A compressed record that was passed over because its stream was broken before. The records in it are missing.
    CompressedRecord {
        /// Where it begins.
        offset: u64,
    },
    /// The file is `data` of a directory recording (`perf record --threads`); the samples are in the files beside it.
    DirectoryRecording {
        /// The version of the directory format.
        version: u64,
    },
    /// The recording was made by Android's simpleperf.
    Simpleperf,
}

impl Finding {
    /// The word for it in machine-readable output.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unfinished { .. } => "unfinished",
            Self::DataCut { .. } => "data-cut",
            Self::PartialRecord { .. } => "partial-record",
            Self::AttrsCut { .. } => "attrs-cut",
            Self::AttrStride { .. } => "attr-stride",
            Self::NewerAttr { .. } => "newer-attr",
            Self::IdsIgnored { .. } => "ids-ignored",
            Self::UnknownSampleBits { .. } => "unknown-sample-bits",
            Self::IdPlacesDiffer { .. } => "id-places-differ",
            Self::EventIgnored { .. } => "event-ignored",
            Self::FeatureIgnored { .. } => "feature-ignored",
            Self::BadRecord { .. } => "bad-record",
            Self::UnknownRecord { .. } => "unknown-record",
            Self::ShortRecord { .. } => "short-record",
            Self::UnknownEventId { .. } => "unknown-event-id",
            Self::SampleWithoutTime { .. } => "sample-without-time",
            Self::EventsLost { .. } => "events-lost",
            Self::PayloadCut { .. } => "payload-cut",
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

    /// Whether something is missing because of it.
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
