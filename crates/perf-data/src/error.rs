//! Why a recording could not be opened at all. Damage that can be lived with is a finding instead.

use thiserror::Error;

/// No recording could be made of the bytes. Offsets are bytes from the start of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A recording that is held as a whole takes more memory than the run may hold; [`budget::Memory::exceeded`] says
    /// what is held.
    #[error(
        "the recording must be read into memory as a whole, and its {offset} bytes exceed the limit"
    )]
    TooMuchMemory {
        /// How many bytes were read.
        offset: u64,
    },
    /// The first eight bytes are no magic of a recording.
    #[error("not a perf recording: {}", content(found))]
    NotPerfData {
        /// The bytes found, zero where the file is shorter.
        found: [u8; 8],
    },
    /// A stream that ended before its first byte.
    #[error("the stream is empty: the program that writes it ended without output")]
    EmptyStream,
    /// The file ends inside its header.
    #[error("the file header is truncated: expected {expected} bytes at offset 0x0, found {found}")]
    HeaderCut {
        /// The bytes that the header takes.
        expected: u64,
        /// The bytes that the file has.
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
    /// A version-1 file of which not even the byte order can be found out.
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
        /// Where the header says it begins.
        offset: u64,
        /// The length of the file.
        end: u64,
    },
    /// The attribute and data sections share bytes.
    #[error(
        "the attribute section at offset {attrs:#x} and the data section at offset {data:#x} overlap"
    )]
    SectionsOverlap {
        /// Begin of the attribute section.
        attrs: u64,
        /// Begin of the data section.
        data: u64,
    },
    /// There is no event attribute, so the event of no record is known.
    #[error(
        "the recording has no events: its attribute section at offset {offset:#x} has {size} bytes, entries have {attr_size}"
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
        "the attribute section at offset {offset:#x} has {found} events; at most 65535 are supported"
    )]
    TooManyEvents {
        /// Begin of the attribute section.
        offset: u64,
        /// The number of entries.
        found: u64,
    },
    /// A stream ends without an event.
    #[error("the recording has no events: its stream of {len} bytes has no attribute record")]
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

/// The content of a file that is not a recording, by its first eight bytes.
fn content(found: &[u8; 8]) -> String {
    match found {
        [0x7f, b'E', b'L', b'F', ..] => {
            "it is an ELF program; record it with unwind-perf record -- PROGRAM".to_owned()
        }
        _ => format!("expected `PERFILE2` at offset 0x0, found {found:02x?}"),
    }
}
