//! Where the records of a file or stream come from, block by block.

use std::io::{self, Read};

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

/// One run of records.
pub(crate) enum Feed {
    /// Bytes that are there, as one block; with the offset in their file where they begin.
    Bytes(Option<(SharedBytes, u64)>),
    /// Bytes to be read.
    Reader(Box<StreamReader>),
}

/// A stream and how far it was read.
pub(crate) struct StreamReader {
    inner: Box<dyn Read + Send>,
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
        Self { inner, offset: 0, peeked: Vec::new(), ended: false, block: block.max(1) }
    }

    /// Bytes read at a time.
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    /// The first bytes, at least `len` unless the stream is shorter.
    pub(crate) fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        let missing = len.saturating_sub(self.peeked.len()) as u64;
        self.inner.by_ref().take(missing).read_to_end(&mut self.peeked)?;
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
        Box::new(io::Cursor::new(self.peeked).chain(self.inner))
    }

    fn next_block(&mut self, carry: &[u8], findings: &mut Findings) -> Option<FeedBlock> {
        if self.ended {
            return None;
        }
        let offset = self.offset - carry.len() as u64;
        let mut bytes = Vec::with_capacity(carry.len() + self.peeked.len() + self.block);
        bytes.extend_from_slice(carry);
        bytes.append(&mut self.peeked);
        let missing = (carry.len() + self.block).saturating_sub(bytes.len()) as u64;
        let result = self.inner.by_ref().take(missing).read_to_end(&mut bytes);
        self.offset = offset + bytes.len() as u64;
        if let Err(error) = &result {
            findings.push(Finding::StreamBroken { offset: self.offset, error: error.kind() });
        }
        self.ended = result.map_or(true, |len| (len as u64) < missing);
        Some(FeedBlock { bytes: SharedBytes::from(bytes), offset, last: self.ended })
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
