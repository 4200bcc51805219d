//! Reasons why a recording cannot be opened at all. Damage that permits reading is a finding instead.

use thiserror::Error;

/// The input is not a usable recording. Offsets are bytes from the start of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A recording that must be held as a whole exceeds the memory limit; [`budget::MemoryBudget::exceeded`] reports it.
    #[error(
        "the recording must be read into memory as a whole, and its {offset} bytes exceed the limit"
    )]
    TooMuchMemory {
        /// Number of bytes read.
        offset: u64,
    },
    /// The first eight bytes are no magic of a recording.
    #[error("not a perf recording: {}", content(found))]
    NotPerfData {
        /// The bytes found, padded with zeros if the file is shorter.
        found: [u8; 8],
    },
    /// A stream that ended before its first byte.
    #[error("the stream is empty: the program that writes it ended without output")]
    EmptyStream,
    /// The file ends inside its header.
    #[error("the file header is truncated: expected {expected} bytes at offset 0x0, found {found}")]
    HeaderTruncated {
        /// Length of the header, in bytes.
        expected: u64,
        /// Length of the file, in bytes.
        found: u64,
    },
    /// The header states a size that no known version has.
    #[error(
        "the file header has an unknown size: expected 72, 104 or more bytes at offset 0x8, found {found}"
    )]
    HeaderSize {
        /// The size found.
        found: u64,
    },
    /// A stream made with `perf record -o -`, which is no file.
    #[error(
        "the recording is a stream of perf record -o -, with a header of 16 bytes; expected a file"
    )]
    PipeMode,
    /// A version-1 file of unknown byte order.
    #[error(
        "the byte order of this version 1 recording is unknown: the attribute size at offset 0x10 is {found:#x}"
    )]
    UnknownByteOrder {
        /// The attribute size, read as little endian.
        found: u64,
    },
    /// A section begins after the end of the file or inside the header.
    #[error(
        "the {section} section at offset {offset:#x} is outside the file, which ends at {end:#x}"
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
    #[error(
        "the attribute section at offset {attrs:#x} and the data section at offset {data:#x} overlap"
    )]
    SectionsOverlap {
        /// Start of the attribute section.
        attrs: u64,
        /// Start of the data section.
        data: u64,
    },
    /// There is no event attribute, so records have no event.
    #[error(
        "the recording has no events: its attribute section at offset {offset:#x} has {size} bytes, entries have {attr_size}"
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
        "the attribute section at offset {offset:#x} has {found} events; at most 65535 are supported"
    )]
    TooManyEvents {
        /// Start of the attribute section.
        offset: u64,
        /// The number of entries.
        found: u64,
    },
    /// A stream ends without an event.
    #[error("the recording has no events: its stream of {len} bytes has no attribute record")]
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

/// The content of a file that is not a recording, by its first eight bytes.
fn content(found: &[u8; 8]) -> String {
    match found {
        [0x7f, b'E', b'L', b'F', ..] => {
            "it is an ELF program; record it with unwind-perf record -- PROGRAM".to_owned()
        }
        _ => format!("expected `PERFILE2` at offset 0x0, found {found:02x?}"),
    }
}
