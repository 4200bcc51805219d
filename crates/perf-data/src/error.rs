//! Reasons why a recording cannot be opened at all. Damage that permits reading is a finding instead.

use thiserror::Error;

/// The input is not a usable recording. Offsets are bytes from the start of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A recording that must be held as a whole exceeds the memory limit; [`budget::MemoryBudget::exceeded`] reports it.
    #[error(
        "a recording of more than {offset} bytes, which is held as a whole, takes too much memory"
    )]
    TooMuchMemory {
        /// Number of bytes read.
        offset: u64,
    },
    /// The first eight bytes are not the magic of a recording.
    #[error("not a perf.data recording: expected `PERFILE2` at offset 0x0, found {found:02x?}")]
    NotPerfData {
        /// The bytes found, padded with zeros if the file is shorter.
        found: [u8; 8],
    },
    /// A stream that ended before its first byte.
    #[error("the stream is empty: whoever wrote it ended before anything came")]
    EmptyStream,
    /// The file ends inside its header.
    #[error("file header cut: expected {expected} bytes at offset 0x0, found {found}")]
    HeaderTruncated {
        /// Length of the header, in bytes.
        expected: u64,
        /// Length of the file, in bytes.
        found: u64,
    },
    /// The header states a size of no known version.
    #[error("file header states a size of {found} bytes at offset 0x8, expected 72, 104 or more")]
    HeaderSize {
        /// The size found.
        found: u64,
    },
    /// A stream made with `perf record -o -`, which is not a file.
    #[error("recording is a pipe stream (header of 16 bytes at offset 0x0), expected a file")]
    PipeMode,
    /// A version-1 file of unknown byte order.
    #[error(
        "version 1 recording of unknown byte order: attribute size at offset 0x10 is {found:#x}"
    )]
    UnknownByteOrder {
        /// The attribute size, read as little endian.
        found: u64,
    },
    /// A section begins after the end of the file or inside the header.
    #[error(
        "{section} section at offset {offset:#x} is not between the header and the end of the file at {end:#x}"
    )]
    SectionOutside {
        /// `attribute` or `data`.
        section: &'static str,
        /// Stated start of the section.
        offset: u64,
        /// The length of the file.
        end: u64,
    },
    /// The attribute and data sections share bytes.
    #[error("attribute section at offset {attrs:#x} and data section at offset {data:#x} overlap")]
    SectionsOverlap {
        /// Start of the attribute section.
        attrs: u64,
        /// Start of the data section.
        data: u64,
    },
    /// There is no event attribute, so records have no event.
    #[error(
        "no events: attribute section at offset {offset:#x} has {size} bytes, entries of {attr_size} bytes"
    )]
    NoEvents {
        /// Start of the attribute section.
        offset: u64,
        /// Its size in bytes.
        size: u64,
        /// Size of one entry in bytes.
        attr_size: u64,
    },
    /// More events than an index of 16 bits can name.
    #[error(
        "{found} events in the attribute section at offset {offset:#x}, expected at most 65535"
    )]
    TooManyEvents {
        /// Start of the attribute section.
        offset: u64,
        /// The number of entries.
        found: u64,
    },
    /// A stream ends without an event.
    #[error("no events: the stream of {len} bytes has no attribute record")]
    NoEventsInStream {
        /// Length of the stream, in bytes.
        len: u64,
    },
    /// The start of a stream cannot be read, or the compression around it is damaged there.
    #[error("cannot read the recording at offset {offset:#x}: {error}")]
    Unreadable {
        /// Bytes read before the failure.
        offset: u64,
        /// Kind of failure.
        error: std::io::ErrorKind,
    },
}
