//! Kinds of inputs and how each is opened.

use std::io::{self, Read};
use std::sync::Arc;

use budget::{HeldMemory, MemoryBudget, MemoryUse};

use super::options::SessionOptions;
use crate::bytes::Endian;
use crate::container::{Compression, FileHead, Head, PIPE_HEADER, check_magic};
use crate::error::Error;
use crate::finding::{Finding, Findings};
use crate::shared_bytes::SharedBytes;
use crate::stream::{Feed, LiveRead, StreamReader};

/// Source of a recording. Its format - file or pipe stream, compressed or not - is detected from its content.
pub enum Input {
    /// A complete file, usually mapped into memory.
    File(SharedBytes),
    /// A byte stream, for instance standard input.
    Stream(Box<dyn Read + Send>),
    /// A byte stream read live: available bytes are taken without waiting for a full block.
    Live(Box<dyn LiveRead>),
    /// A directory recording (`perf record --threads`): its file `data`, and its files `data.N` by index.
    Directory {
        /// The file with header and features.
        data: SharedBytes,
        /// The files with records.
        parts: Vec<SharedBytes>,
    },
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(bytes) => write!(f, "File({bytes:?})"),
            Self::Stream(_) => f.write_str("Stream"),
            Self::Live(_) => f.write_str("Live"),
            Self::Directory { data, parts } => write!(f, "Directory({data:?}, {parts:?})"),
        }
    }
}

/// An opened recording.
pub(crate) struct OpenedRecording {
    pub(crate) head: Head,
    pub(crate) feeds: Vec<Feed>,
    /// True for a byte stream: its bytes are held only as long as needed.
    pub(crate) is_stream: bool,
    /// True if its rounds can be used, which excludes several files of records.
    pub(crate) may_stream: bool,
    /// True if it is compressed as a whole.
    pub(crate) is_packed: bool,
}

impl OpenedRecording {
    /// Returns true for a plain file in memory, which can be read a second time.
    pub(crate) fn is_plain(&self) -> bool {
        let in_memory = |feed: &Feed| matches!(feed, Feed::Bytes(_));
        self.may_stream && !self.head.is_pipe() && self.feeds.iter().all(in_memory)
    }
}

/// Detects the format of an input and opens it.
pub(crate) fn open(
    input: Input,
    options: SessionOptions,
    memory: &Arc<MemoryBudget>,
    findings: &mut Findings,
) -> Result<OpenedRecording, Error> {
    let reader = |stream| StreamReader::new(stream, options.read_bytes);
    match input {
        Input::File(bytes) if Compression::detect(&bytes).is_some() => {
            open_stream(reader(Box::new(io::Cursor::new(bytes))), memory, findings)
        }
        Input::File(bytes) => open_bytes(bytes, findings),
        Input::Stream(stream) => open_stream(reader(stream), memory, findings),
        Input::Live(stream) => {
            open_stream(StreamReader::live(stream, options.read_bytes), memory, findings)
        }
        Input::Directory { data, parts } => open_directory(&data, parts, findings),
    }
}

/// Returns the byte order of a pipe stream that begins with `bytes`; `None` for other formats.
fn pipe_order(bytes: &[u8]) -> Option<Endian> {
    let magic = bytes.get(..8)?;
    let order = |endian: Endian| endian.u64_at(bytes, 8) == Some(PIPE_HEADER as u64);
    match magic {
        b"PERFILE2" if order(Endian::Little) => Some(Endian::Little),
        b"2ELIFREP" if order(Endian::Big) => Some(Endian::Big),
        b"PERFFILE" => [Endian::Little, Endian::Big].into_iter().find(|&endian| order(endian)),
        _ => None,
    }
}

fn open_bytes(bytes: SharedBytes, findings: &mut Findings) -> Result<OpenedRecording, Error> {
    if let Some(endian) = pipe_order(&bytes) {
        let records = bytes.slice(PIPE_HEADER..usize::MAX);
        let feeds = vec![Feed::Bytes(Some((records, PIPE_HEADER as u64)))];
        let head = Head::of_stream(endian);
        return Ok(OpenedRecording {
            head,
            feeds,
            is_stream: false,
            may_stream: true,
            is_packed: false,
        });
    }
    let head = FileHead::read(&bytes, findings)?;
    let opened = of_file(&bytes, head);
    if let Some(version) = opened.head.features().directory_version.filter(|&version| version > 0) {
        findings.push(Finding::DirectoryRecording { version });
    }
    Ok(opened)
}

fn of_file(bytes: &SharedBytes, head: FileHead) -> OpenedRecording {
    let start = head.container.data.start as u64;
    let feeds = vec![Feed::Bytes(Some((bytes.slice(head.container.data.clone()), start)))];
    let head = Head::of_file(bytes, &head);
    OpenedRecording { head, feeds, is_stream: false, may_stream: true, is_packed: false }
}

fn open_directory(
    data: &SharedBytes,
    parts: Vec<SharedBytes>,
    findings: &mut Findings,
) -> Result<OpenedRecording, Error> {
    let mut opened = of_file(data, FileHead::read(data, findings)?);
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    opened.feeds.extend(parts.map(|part| Feed::Bytes(Some((part, 0)))));
    opened.may_stream = opened.feeds.len() == 1;
    Ok(opened)
}

fn open_stream(
    mut reader: StreamReader,
    memory: &Arc<MemoryBudget>,
    findings: &mut Findings,
) -> Result<OpenedRecording, Error> {
    let unreadable = |error: io::Error| Error::Unreadable { offset: 0, error: error.kind() };
    let mut is_packed = false;
    if let Some(compression) =
        Compression::detect(reader.peek(Compression::MAGIC_LEN).map_err(unreadable)?)
    {
        is_packed = true;
        let block = reader.block();
        reader =
            StreamReader::new(compression.expand(reader.into_rest()).map_err(unreadable)?, block);
    }
    let start = reader.peek(PIPE_HEADER).map_err(unreadable)?;
    if start.is_empty() && !is_packed {
        return Err(Error::EmptyStream);
    }
    if let Some(endian) = pipe_order(start) {
        reader.skip(PIPE_HEADER);
        let feeds = vec![Feed::Reader(Box::new(reader))];
        let head = Head::of_stream(endian);
        return Ok(OpenedRecording { head, feeds, is_stream: true, may_stream: true, is_packed });
    }
    // Other data is rejected before it is read to its end.
    check_magic(start)?;
    // A file's features, among them build-ids, are at its end, so they are unknown until all of it is read.
    // It is therefore held completely, like a mapped file.
    let held = HeldMemory::new(memory, MemoryUse::Recording);
    let (bytes, broken) = read_whole(reader, memory)?;
    if let Some(error) = broken {
        let (offset, error) = (bytes.len() as u64, error.kind());
        if bytes.len() < PIPE_HEADER {
            return Err(Error::Unreadable { offset, error });
        }
        findings.push(Finding::StreamBroken { offset, error });
    }
    open_bytes(SharedBytes::from(bytes).held_as(&held), findings)
}

/// Reads to the end within the memory budget. Also returns the error that ended the stream early, if any.
fn read_whole(
    reader: StreamReader,
    memory: &Arc<MemoryBudget>,
) -> Result<(Vec<u8>, Option<io::Error>), Error> {
    let mut held = HeldMemory::new(memory, MemoryUse::Recording);
    let step = reader.block();
    let mut rest = reader.into_rest();
    let mut bytes = Vec::new();
    loop {
        // The vector doubles its capacity.
        if bytes.capacity() - bytes.len() < step {
            let more = bytes.capacity().max(step) as u64;
            if !memory.allows(more, || "the recording, which is held as a whole".to_owned()) {
                return Err(Error::TooMuchMemory { offset: bytes.len() as u64 });
            }
        }
        let before = bytes.len();
        let read = rest.by_ref().take(step as u64).read_to_end(&mut bytes);
        held.set(bytes.capacity() as u64);
        match read {
            Err(error) => return Ok((bytes, Some(error))),
            Ok(_) if bytes.len() - before < step => return Ok((bytes, None)),
            Ok(_) => {}
        }
    }
}
