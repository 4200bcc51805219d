//! Messages of findings.

use std::fmt;

use crate::finding::{Finding, HeaderFault};

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooSmall => "size is less than the header",
            Self::Unaligned => "size is not a multiple of 8",
            Self::TooLarge => "size leaves the data",
            Self::Garbage => "no known record, and none follows",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unfinished { offset } => {
                write!(f, "recording not finished: data at {offset:#x} read to the end of the file")
            }
            Self::DataTruncated { expected, found } => {
                write!(f, "file is cut: data should end at {expected:#x}, file ends at {found:#x}")
            }
            Self::PartialRecord { offset, len } => {
                write!(f, "last record at {offset:#x} is cut: {len} bytes dropped")
            }
            Self::AttrsTruncated { offset, size } => {
                write!(f, "attribute section at {offset:#x} of {size} bytes leaves the file")
            }
            Self::AttrStride { stated, used } => {
                write!(
                    f,
                    "attribute entries of {stated} bytes do not fit their section, {used} used"
                )
            }
            Self::NewerAttr { event, size } => {
                write!(
                    f,
                    "attribute of event {event} has {size} bytes: only its known part is used"
                )
            }
            Self::IdsIgnored { event, offset, size } => {
                write!(
                    f,
                    "ids of event {event} at {offset:#x} of {size} bytes are not in the file, or too many: ignored"
                )
            }
            Self::UnknownSampleBits { event, bits } => {
                write!(f, "sample type of event {event} has unknown bits {bits:#x}")
            }
            Self::IdOffsetsDiffer { event } => {
                write!(f, "event {event} keeps the event id at another place than the first event")
            }
            Self::EventIgnored { offset } => {
                write!(f, "the event at {offset:#x} is damaged, too late or one too many: ignored")
            }
            Self::FeatureIgnored { feature, offset, size } => {
                write!(f, "feature {feature} at {offset:#x} ({size} bytes) ignored")
            }
            Self::DirectoryRecording { version } => {
                write!(f, "directory recording (format {version}): samples are in files beside it")
            }
            Self::Simpleperf => {
                f.write_str("recorded by simpleperf: samples were unwound on the device where they carry no stack")
            }
            _ => write_of_record(self, f),
        }
    }
}

/// Writes the findings about single records.
fn write_of_record(finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *finding {
        Finding::BadRecord { offset, fault, skipped } => {
            write!(f, "bad record header at {offset:#x} ({fault}): {skipped} bytes skipped")
        }
        Finding::UnknownRecord { offset, kind } => {
            write!(f, "record of unknown type {} at {offset:#x}", kind.0)
        }
        Finding::ShortRecord { offset, kind } => {
            write!(f, "{kind} record at {offset:#x} is too short: dropped")
        }
        Finding::UnknownEventId { offset, id } => {
            write!(f, "record at {offset:#x} has unknown event id {id}")
        }
        Finding::SampleWithoutTime { offset } => write!(f, "sample at {offset:#x} has no time"),
        Finding::EventsLost { offset, lost } => {
            write!(f, "{lost} events lost while recording, reported at {offset:#x}")
        }
        Finding::PayloadTruncated { offset, size } => {
            write!(f, "payload of {size} bytes of the record at {offset:#x} leaves the data")
        }
        _ => write_of_stream(finding, f),
    }
}

/// Writes the findings about streams, compressed records and chains.
fn write_of_stream(finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *finding {
        Finding::TrailingText { offset, len } => {
            write!(f, "{len} bytes of text after the last record, at {offset:#x}")
        }
        Finding::BadCompression { offset } => {
            write!(f, "compressed record at {offset:#x} is damaged: its stream ends here")
        }
        Finding::ExpansionTooLarge { offset, limit } => {
            write!(f, "compressed record at {offset:#x} expands to more than {limit} bytes")
        }
        Finding::LimitReached { offset, exhausted } => {
            write!(f, "{exhausted}: what is packed from {offset:#x} on is left out")
        }
        Finding::StreamBroken { offset, error } => {
            write!(f, "reading stopped at {offset:#x}: {error}")
        }
        Finding::OutOfOrder { offset } => {
            write!(f, "record at {offset:#x} is older than its round")
        }
        Finding::RoundsMissing { offset } => {
            write!(f, "no end of a round up to {offset:#x}: records may be out of order")
        }
        Finding::ChainMissing { offset } => {
            write!(f, "user callchain of the sample at {offset:#x} did not come")
        }
        Finding::CompressedRecord { offset } => {
            write!(f, "compressed record at {offset:#x} passed over")
        }
        // All other variants are handled above.
        _ => f.write_str(finding.kind()),
    }
}
