//! Records of a pipe stream in the order of their arrival, without decoding them.
//!
//! Source: `tools/perf/util/session.c`, `__perf_session__process_pipe_events`.

use std::io::{self, ErrorKind, Read};

use crate::bytes::{Endian, FieldReader};
use crate::record_header::{HEADER_LEN, RecordKind};

/// Length of the header of a pipe stream: magic number and size. Source: `tools/perf/util/header.h`,
/// `struct perf_pipe_file_header`.
const PIPE_HEADER: usize = 16;
/// Maximum bytes that are read at a time.
pub(super) const CHUNK: usize = 1 << 20;

/// Byte order of this machine's recorders.
pub(super) const NATIVE: Endian =
    if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };

/// Part of a stream.
pub(super) enum Piece<'b> {
    /// A whole record.
    Record(RecordKind, &'b mut [u8]),
    /// The header of the stream, or bytes behind a record or behind damage.
    Other(&'b [u8]),
}

/// A stream of this machine's byte order.
pub(super) struct RecordStream<R> {
    input: R,
    buffer: Vec<u8>,
    has_head: bool,
    /// Bytes of tracing data that follow their record.
    behind: u64,
    /// True after a record that cannot be one.
    is_damaged: bool,
}

impl<R: Read> RecordStream<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), has_head: false, behind: 0, is_damaged: false }
    }

    /// Reads once, and passes all pieces that are complete. Returns false at the end of the stream.
    pub(super) fn next_chunk(&mut self, mut each: impl FnMut(Piece<'_>)) -> io::Result<bool> {
        let before = self.buffer.len();
        self.buffer.resize(before + CHUNK, 0);
        let read = loop {
            match self.input.read(self.buffer.get_mut(before..).unwrap_or_default()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
        let is_more = read? > 0;
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while let Some(len) = self.pass(buffer.get_mut(at..).unwrap_or_default(), &mut each) {
            at += len;
        }
        if !is_more {
            // A record that is cut short is for the reader of the stream to report.
            each(Piece::Other(buffer.get(at..).unwrap_or_default()));
            at = buffer.len();
        }
        buffer.drain(..at);
        self.buffer = buffer;
        Ok(is_more)
    }

    /// Passes the first piece, and returns its length; `None` if it is incomplete.
    fn pass(&mut self, bytes: &mut [u8], each: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        if bytes.is_empty() {
            return None;
        }
        if self.is_damaged || self.behind > 0 {
            let most = if self.is_damaged { u64::MAX } else { self.behind };
            let len = bytes.len().min(usize::try_from(most).unwrap_or(usize::MAX));
            each(Piece::Other(bytes.get(..len)?));
            self.behind = self.behind.saturating_sub(len as u64);
            return Some(len);
        }
        if !self.has_head {
            each(Piece::Other(bytes.get(..PIPE_HEADER)?));
            self.has_head = true;
            return Some(PIPE_HEADER);
        }
        let endian = NATIVE;
        let mut head = FieldReader::new(bytes, endian);
        let (kind, _, size) = (RecordKind(head.u32()?), head.u16()?, usize::from(head.u16()?));
        if size < HEADER_LEN {
            self.is_damaged = true;
            return self.pass(bytes, each);
        }
        let record = bytes.get_mut(..size)?;
        if kind == RecordKind::HEADER_TRACING_DATA {
            let behind = endian.u32_at(record, HEADER_LEN).unwrap_or_default();
            self.behind = u64::from(behind).next_multiple_of(8);
        }
        each(Piece::Record(kind, record));
        Some(size)
    }
}
