//! Sources of the records of a file or stream, block by block.

use std::io::{self, Read};
use std::time::Duration;

use crate::finding::{Finding, Findings};
use crate::shared_bytes::SharedBytes;

/// A block of records.
#[derive(Debug)]
pub(crate) struct FeedBlock {
    pub(crate) bytes: SharedBytes,
    /// Offset of the block in the file or stream.
    pub(crate) offset: u64,
    /// True for the last block.
    pub(crate) last: bool,
}

/// A byte stream that reports whether more bytes are available.
pub trait LiveRead: Read + Send {
    /// Called by the thread that reads the records, before it does. The format was detected by another thread.
    fn begin(&mut self) {}

    /// Returns the number of bytes that can be read without blocking, after waiting up to
    /// `wait` for the first; 1 at the end of the stream.
    /// `None` if no bytes arrived in time; 0 if the number cannot be determined, so that a read may block.
    ///
    /// # Errors
    /// If the stream is broken, or no longer wanted.
    fn ready(&mut self, wait: Duration) -> io::Result<Option<usize>>;

    /// Appends up to `most` bytes to `bytes`, fewer only at the end of the stream. Returns the number of bytes added.
    ///
    /// # Errors
    /// If the stream cannot be read.
    fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize>;
}

/// One sequence of records.
pub(crate) enum Feed {
    /// Bytes in memory, as one block, with the file offset of the first.
    Bytes(Option<(SharedBytes, u64)>),
    /// Bytes from a stream.
    Reader(Box<StreamReader>),
}

/// A stream and the reading position in it.
pub(crate) struct StreamReader {
    inner: ReaderSource,
    /// Stream offset of the first byte of `peeked`.
    offset: u64,
    /// Bytes read to detect the format of the stream.
    peeked: Vec<u8>,
    ended: bool,
    /// Number of bytes read at a time.
    block: usize,
}

impl StreamReader {
    /// Creates a reader that waits for whole blocks.
    pub(crate) fn new(inner: Box<dyn Read + Send>, block: usize) -> Self {
        Self::of(ReaderSource::Plain(inner), block)
    }

    /// Creates a reader that takes bytes as soon as they are available.
    pub(crate) fn live(inner: Box<dyn LiveRead>, block: usize) -> Self {
        Self::of(ReaderSource::Live(inner), block)
    }

    fn of(inner: ReaderSource, block: usize) -> Self {
        Self { inner, offset: 0, peeked: Vec::new(), ended: false, block: block.max(1) }
    }

    /// Number of bytes read at a time.
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    /// Returns the first bytes, at least `len` unless the stream is shorter.
    pub(crate) fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        let mut ended = false;
        while self.peeked.len() < len && !ended {
            let missing = len - self.peeked.len();
            ended = self.inner.read_up_to(missing, &mut self.peeked)?;
        }
        Ok(&self.peeked)
    }

    /// Skips peeked bytes.
    pub(crate) fn skip(&mut self, len: usize) {
        let len = len.min(self.peeked.len());
        self.peeked.drain(..len);
        self.offset += len as u64;
    }

    /// Returns a reader for all remaining bytes.
    pub(crate) fn into_rest(self) -> Box<dyn Read + Send> {
        let peeked = io::Cursor::new(self.peeked);
        match self.inner {
            ReaderSource::Plain(inner) => Box::new(peeked.chain(inner)),
            ReaderSource::Live(inner) => Box::new(peeked.chain(BlockingReader(inner))),
        }
    }

    fn next_block(&mut self, carry: &[u8], findings: &mut Findings) -> Option<FeedBlock> {
        if self.ended {
            return None;
        }
        let offset = self.offset - carry.len() as u64;
        let mut bytes = Vec::with_capacity(
            carry.len() + self.peeked.len() + self.inner.initial_capacity(self.block),
        );
        bytes.extend_from_slice(carry);
        bytes.append(&mut self.peeked);
        let missing = (carry.len() + self.block).saturating_sub(bytes.len());
        let ended = self.inner.read_up_to(missing, &mut bytes);
        self.offset = offset + bytes.len() as u64;
        if let Err(error) = &ended {
            findings.push(Finding::StreamBroken { offset: self.offset, error: error.kind() });
        }
        self.ended = ended.unwrap_or(true);
        Some(FeedBlock { bytes: SharedBytes::from(bytes), offset, last: self.ended })
    }
}

/// Source of the bytes.
enum ReaderSource {
    /// Read in whole blocks.
    Plain(Box<dyn Read + Send>),
    /// Read as available.
    Live(Box<dyn LiveRead>),
}

/// Interval of checks whether a stream is still wanted.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum pause of a continuous writer.
const PAUSE: Duration = Duration::from_millis(2);
/// Read size for streams that cannot report the number of available bytes.
const UNKNOWN: usize = 64 << 10;

impl ReaderSource {
    /// Returns the initial capacity for a block of up to `block` bytes.
    fn initial_capacity(&self, block: usize) -> usize {
        match self {
            Self::Plain(_) => block,
            Self::Live(_) => 0,
        }
    }

    /// Appends the next bytes, at most `most`, at least one unless the stream has ended. Returns true if it has.
    fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            Self::Plain(inner) => Ok(inner.by_ref().take(most as u64).read_to_end(bytes)? < most),
            Self::Live(inner) => read_live(&mut **inner, most, bytes),
        }
    }
}

/// Appends the available bytes and those that arrive shortly after. Returns true if the stream has ended.
fn read_live(inner: &mut dyn LiveRead, most: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let before = bytes.len();
    loop {
        let missing = most - (bytes.len() - before);
        if missing == 0 {
            return Ok(false);
        }
        let is_first = bytes.len() == before;
        match inner.ready(if is_first { POLL_INTERVAL } else { PAUSE })? {
            None if is_first => {}
            None => return Ok(false),
            Some(0) => {
                let start = bytes.len();
                bytes.resize(start + missing.min(UNKNOWN), 0);
                let read = inner.read(bytes.get_mut(start..).unwrap_or_default());
                bytes.truncate(start + read.as_ref().map_or(0, |&len| len));
                return Ok(read? == 0);
            }
            Some(there) => {
                let there = there.min(missing);
                bytes.reserve(there);
                if inner.read_up_to(there, bytes)? == 0 {
                    return Ok(true);
                }
            }
        }
    }
}

/// A blocking reader that stops when the stream is no longer wanted.
struct BlockingReader(Box<dyn LiveRead>);

impl Read for BlockingReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.0.ready(POLL_INTERVAL)?.is_none() {}
        self.0.read(bytes)
    }
}

impl Feed {
    /// Prepares the calling thread to read.
    pub(crate) fn begin(&mut self) {
        if let Self::Reader(reader) = self
            && let ReaderSource::Live(stream) = &mut reader.inner
        {
            stream.begin();
        }
    }

    /// Returns the next block. It begins with `carry`, the bytes of the incomplete record at the end of the last block.
    pub(crate) fn next_block(
        &mut self,
        carry: &[u8],
        findings: &mut Findings,
    ) -> Option<FeedBlock> {
        match self {
            Self::Bytes(bytes) => {
                bytes.take().map(|(bytes, offset)| FeedBlock { bytes, offset, last: true })
            }
            Self::Reader(reader) => reader.next_block(carry, findings),
        }
    }
}
