//! Messages of findings.

use std::fmt;

use crate::finding::{Finding, HeaderFault};

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooSmall => "its size is less than its header",
            Self::Unaligned => "its size is not a multiple of 8",
            Self::TooLarge => "its size exceeds the data",
            Self::Garbage => "its type is unknown, and so is the next",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unfinished { offset } => {
                write!(f, "perf did not finish the recording; the data from {offset:#x} to the end of the file was read")
            }
            Self::DataTruncated { expected, found } => {
                write!(f, "the file is truncated: its data ends at {expected:#x}, the file ends at {found:#x}")
            }
            Self::PartialRecord { offset, len } => {
                write!(f, "the last record, at {offset:#x}, is truncated: {len} bytes were dropped")
            }
            Self::AttrsTruncated { offset, size } => {
                write!(f, "the attribute section at {offset:#x} ({size} bytes) exceeds the file")
            }
            Self::AttrStride { stated, used } => {
                write!(
                    f,
                    "attribute entries of {stated} bytes do not fit their section; {used} bytes were assumed"
                )
            }
            Self::NewerAttr { event, size } => {
                write!(
                    f,
                    "the attribute of event {event} has {size} bytes; only its known part was read"
                )
            }
            Self::IdsIgnored { event, offset, size } => {
                write!(
                    f,
                    "the ids of event {event} at {offset:#x} ({size} bytes) exceed the file or the limit; they were ignored"
                )
            }
            Self::UnknownSampleBits { event, bits } => {
                write!(f, "the sample type of event {event} has unknown bits {bits:#x}")
            }
            Self::IdOffsetsDiffer { event } => {
                write!(f, "event {event} has its id at another position than the first event")
            }
            Self::EventIgnored { offset } => {
                write!(f, "the event at {offset:#x} is damaged, comes too late or exceeds the limit; it was ignored")
            }
            Self::FeatureIgnored { feature, offset, size } => {
                write!(f, "feature {feature} at {offset:#x} ({size} bytes) is damaged; it was ignored")
            }
            Self::DirectoryRecording { version } => {
                write!(f, "this file is part of a directory recording (format {version}); its samples are in other files; open the directory")
            }
            Self::Simpleperf => {
                f.write_str("simpleperf made this recording; samples without a stack were unwound on the device")
            }
            _ => write_of_record(self, f),
        }
    }
}

/// Writes the findings about single records.
fn write_of_record(finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *finding {
        Finding::BadRecord { offset, fault, skipped } => {
            write!(
                f,
                "the record header at {offset:#x} is damaged ({fault}); {skipped} bytes were skipped"
            )
        }
        Finding::UnknownRecord { offset, kind } => {
            write!(f, "the record at {offset:#x} has the unknown type {}", kind.0)
        }
        Finding::ShortRecord { offset, kind } => {
            write!(f, "the {kind} record at {offset:#x} is too short; it was dropped")
        }
        Finding::UnknownEventId { offset, id } => {
            write!(f, "the record at {offset:#x} has the unknown event id {id}")
        }
        Finding::SampleWithoutTime { offset } => {
            write!(f, "the sample at {offset:#x} has no time")
        }
        Finding::EventsLost { offset, lost } => {
            write!(f, "the kernel lost {lost} events, as reported at {offset:#x}")
        }
        Finding::PayloadTruncated { offset, size } => {
            write!(f, "the payload of the record at {offset:#x} ({size} bytes) exceeds the data")
        }
        _ => write_of_stream(finding, f),
    }
}

/// Writes the findings about streams, compressed records and chains.
fn write_of_stream(finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *finding {
        Finding::TrailingText { offset, len } => {
            write!(f, "{len} bytes of text follow the last record, at {offset:#x}")
        }
        Finding::BadCompression { offset } => {
            write!(f, "the compressed record at {offset:#x} is damaged; its stream ends here")
        }
        Finding::ExpansionTooLarge { offset, limit } => {
            write!(f, "the compressed record at {offset:#x} unpacks to more than {limit} bytes")
        }
        Finding::LimitReached { offset, exhausted } => {
            write!(f, "{exhausted}; compressed data from {offset:#x} on was omitted")
        }
        Finding::StreamBroken { offset, error } => {
            write!(f, "reading stopped at {offset:#x}: {error}")
        }
        Finding::OutOfOrder { offset } => {
            write!(f, "the record at {offset:#x} is older than its round")
        }
        Finding::RoundsMissing { offset } => {
            write!(f, "no round ends up to {offset:#x}; records may be out of order")
        }
        Finding::ChainMissing { offset } => {
            write!(f, "the deferred user callchain of the sample at {offset:#x} is missing")
        }
        Finding::CompressedRecord { offset } => {
            write!(f, "the compressed record at {offset:#x} was skipped")
        }
        // All other variants are handled above.
        _ => f.write_str(finding.kind()),
    }
}
