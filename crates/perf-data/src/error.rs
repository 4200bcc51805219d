//! Why a recording could not be opened at all. Damage that can be lived with is a finding instead.

use thiserror::Error;

/// No recording could be made of the bytes. Offsets are bytes from the start of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A recording that is held as a whole takes more memory than the run may hold; [`budget::Memory::exceeded`] says
    /// what is held.
    #[error(
        "a recording of more than {offset} bytes, which is held as a whole, takes too much memory"
    )]
    TooMuchMemory {
        /// How many bytes were read.
        offset: u64,
    },
    /// The first eight bytes are no magic of a recording.
    #[error("not a perf.data recording: expected `PERFILE2` at offset 0x0, found {found:02x?}")]
    NotPerfData {
        /// The bytes found, zero where the file is shorter.
        found: [u8; 8],
    },
    /// A stream that ended before its first byte.
    #[error("the stream is empty: whoever wrote it ended before anything came")]
    EmptyStream,
    /// The file ends inside its header.
    #[error("file header cut: expected {expected} bytes at offset 0x0, found {found}")]
    HeaderCut {
        /// The bytes that the header takes.
        expected: u64,
        /// The bytes that the file has.
        found: u64,
    },
    /// The header states a size that no known version has.
    #[error("file header states a size of {found} bytes at offset 0x8, expected 72, 104 or more")]
    HeaderSize {
        /// The size found.
        found: u64,
    },
    /// A stream made with `perf record -o -`, which is no file.
    #[error("recording is a pipe stream (header of 16 bytes at offset 0x0), expected a file")]
    PipeMode,
    /// A version-1 file of which not even the byte order can be found out.
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
        /// Where the header says it begins.
        offset: u64,
        /// The length of the file.
        end: u64,
    },
    /// The attribute and data sections share bytes.
    #[error("attribute section at offset {attrs:#x} and data section at offset {data:#x} overlap")]
    SectionsOverlap {
        /// Begin of the attribute section.
        attrs: u64,
        /// Begin of the data section.
        data: u64,
    },
    /// There is no event attribute, so the event of no record is known.
    #[error(
        "no events: attribute section at offset {offset:#x} has {size} bytes, entries of {attr_size} bytes"
    )]
    NoEvents {
        /// Begin of the attribute section.
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
        /// Begin of the attribute section.
        offset: u64,
        /// The number of entries.
        found: u64,
    },
    /// A stream ends without an event.
    #[error("no events: the stream of {len} bytes has no attribute record")]
    NoEventsInStream {
        /// Its length in bytes.
        len: u64,
    },
    /// The begin of a stream cannot be read, or the compression around it is damaged there.
    #[error("cannot read the recording at offset {offset:#x}: {error}")]
    Unreadable {
        /// Bytes read before.
        offset: u64,
        /// What kind of failure it was.
        error: std::io::ErrorKind,
    },
}
