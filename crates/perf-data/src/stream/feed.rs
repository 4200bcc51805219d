//! Where the records of a file or stream come from, block by block.

use std::io::{self, Read};
use std::time::Duration;

use crate::finding::{Finding, Findings};
use crate::shared_bytes::SharedBytes;

/// A block of records.
#[derive(Debug)]
pub(crate) struct FeedBlock {
    pub(crate) bytes: SharedBytes,
    /// Where in the file or stream it begins.
    pub(crate) offset: u64,
    /// Whether nothing follows.
    pub(crate) last: bool,
}

/// Bytes that come one after another, of which it can be known whether more are there.
pub trait LiveRead: Read + Send {
    /// How many bytes can be read without waiting, if need be after waiting so long for the first of them; at the end one.
    /// `None` where none came by then; 0 where it cannot be known, and a read may wait.
    ///
    /// # Errors
    /// Where the bytes break off, or nobody wants more of them.
    fn ready(&mut self, wait: Duration) -> io::Result<Option<usize>>;

    /// Adds bytes to others until there are so many more, or the end; gives how many it were.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize>;
}

/// One run of records.
pub(crate) enum Feed {
    /// Bytes that are there, as one block; with the offset in their file where they begin.
    Bytes(Option<(SharedBytes, u64)>),
    /// Bytes to be read.
    Reader(Box<StreamReader>),
}

/// A stream and how far it was read.
pub(crate) struct StreamReader {
    inner: Inner,
    /// Bytes of the stream in front of `peeked`.
    offset: u64,
    /// Bytes that were read to see what the stream is.
    peeked: Vec<u8>,
    ended: bool,
    /// Bytes read at a time.
    block: usize,
}

impl StreamReader {
    /// A reader of what `inner` gives.
    pub(crate) fn new(inner: Box<dyn Read + Send>, block: usize) -> Self {
        Self::of(Inner::Plain(inner), block)
    }

    /// The same, where what comes is taken as it comes.
    pub(crate) fn live(inner: Box<dyn LiveRead>, block: usize) -> Self {
        Self::of(Inner::Live(inner), block)
    }

    fn of(inner: Inner, block: usize) -> Self {
        Self { inner, offset: 0, peeked: Vec::new(), ended: false, block: block.max(1) }
    }

    /// Bytes read at a time.
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    /// The first bytes, at least `len` unless the stream is shorter.
    pub(crate) fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        let mut ended = false;
        while self.peeked.len() < len && !ended {
            let missing = len - self.peeked.len();
            ended = self.inner.read_up_to(missing, &mut self.peeked)?;
        }
        Ok(&self.peeked)
    }

    /// Passes over bytes that were peeked.
    pub(crate) fn skip(&mut self, len: usize) {
        let len = len.min(self.peeked.len());
        self.peeked.drain(..len);
        self.offset += len as u64;
    }

    /// All that is not read yet, as a reader.
    pub(crate) fn into_rest(self) -> Box<dyn Read + Send> {
        let peeked = io::Cursor::new(self.peeked);
        match self.inner {
            Inner::Plain(inner) => Box::new(peeked.chain(inner)),
            Inner::Live(inner) => Box::new(peeked.chain(Waiting(inner))),
        }
    }

    fn next_block(&mut self, carry: &[u8], findings: &mut Findings) -> Option<FeedBlock> {
        if self.ended {
            return None;
        }
        let offset = self.offset - carry.len() as u64;
        let mut bytes =
            Vec::with_capacity(carry.len() + self.peeked.len() + self.inner.room(self.block));
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

/// Where the bytes come from.
enum Inner {
    /// Whole blocks are read.
    Plain(Box<dyn Read + Send>),
    /// What is there is read.
    Live(Box<dyn LiveRead>),
}

/// Between two looks whether a stream is still wanted.
const LOOK: Duration = Duration::from_millis(100);
/// Who writes as fast as it can needs so long at most until there is more.
const PAUSE: Duration = Duration::from_millis(2);
/// What is read at a time of what may wait at any time.
const UNKNOWN: usize = 64 << 10;

impl Inner {
    /// How much room a block needs at first that may have so many bytes.
    fn room(&self, block: usize) -> usize {
        match self {
            Self::Plain(_) => block,
            Self::Live(_) => 0,
        }
    }

    /// Adds the next bytes, `most` at most, at least one unless the stream has ended; whether it has.
    fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            Self::Plain(inner) => Ok(inner.by_ref().take(most as u64).read_to_end(bytes)? < most),
            Self::Live(inner) => read_live(&mut **inner, most, bytes),
        }
    }
}

/// Adds what is there, and what comes soon after it; whether the stream has ended.
fn read_live(inner: &mut dyn LiveRead, most: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let before = bytes.len();
    loop {
        let missing = most - (bytes.len() - before);
        if missing == 0 {
            return Ok(false);
        }
        let is_first = bytes.len() == before;
        match inner.ready(if is_first { LOOK } else { PAUSE })? {
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

/// Reads like any other reader, but stops where nobody wants more.
struct Waiting(Box<dyn LiveRead>);

impl Read for Waiting {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.0.ready(LOOK)?.is_none() {}
        self.0.read(bytes)
    }
}

impl Feed {
    /// The next block, which begins with `carry`, the bytes of the last one whose records were not whole.
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
