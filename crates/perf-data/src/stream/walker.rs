//! Steps from record header to record header, and past damage to the next valid sequence of headers.
//!
//! ```text
//!   good record | bad header . . . . . | record | record | record     three plausible headers in a row,
//!                └─ skipped, counted ──┘                               or fewer that end with the data
//! ```

use crate::finding::{Finding, Findings, HeaderFault};
use crate::record::{HeaderRules, RecordBytes};
use crate::record_header::{HEADER_LEN, RecordHeader, RecordKind};

/// Maximum bytes of tracing data retained; a kernel has less than 10 MiB of them.
const MOST_TRACING: usize = 64 << 20;

/// Walks the records of one block of bytes, which may be a part of a longer stream.
#[derive(Clone, Debug)]
pub(crate) struct RecordWalker {
    rules: HeaderRules,
    /// Offset of the next record in the block.
    pub(crate) offset: usize,
    /// Bytes skipped because of damage.
    pub(crate) skipped: u64,
    /// Bytes of a payload that follow in the next block.
    owed: u64,
    /// Payload of tracing data read so far. All other payloads are skipped.
    tracing: Option<Vec<u8>>,
}

/// Data after a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Following {
    /// None: the data ends with the block.
    End,
    /// More of the stream. Damage is examined only when this many bytes after it are available, or the end.
    More(usize),
}

impl RecordWalker {
    pub(crate) fn new(rules: HeaderRules) -> Self {
        Self { rules, offset: 0, skipped: 0, owed: 0, tracing: None }
    }

    pub(crate) fn rules(&self) -> HeaderRules {
        self.rules
    }

    /// Returns the number of following bytes that belong to a payload.
    pub(crate) fn owed(&self) -> u64 {
        self.owed
    }

    /// Returns the tracing data once they are complete.
    pub(crate) fn take_tracing(&mut self) -> Option<Vec<u8>> {
        if self.owed > 0 { None } else { self.tracing.take() }
    }

    /// Appends a part of the tracing data, up to the maximum.
    fn collect_tracing(&mut self, bytes: &[u8]) {
        if let Some(kept) = &mut self.tracing {
            let room = MOST_TRACING.saturating_sub(kept.len());
            kept.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
    }

    /// Returns the next record of the block; `base` is the position of the block's first byte.
    /// `None` at its end, or if the rest, from [`Self::offset`] on, must be
    /// read together with the bytes after the block.
    #[inline]
    pub(crate) fn next<'d>(
        &mut self,
        block: &'d [u8],
        base: u64,
        following: Following,
        findings: &mut Findings,
    ) -> Option<RecordBytes<'d>> {
        loop {
            if self.owed > 0 {
                let here = self.owed.min((block.len() - self.offset.min(block.len())) as u64);
                self.owed -= here;
                let start = self.offset;
                self.offset += here as usize;
                self.collect_tracing(block.get(start..self.offset).unwrap_or_default());
            }
            let rest = block.get(self.offset..).unwrap_or_default();
            let position = base + self.offset as u64;
            let Some(header) = self.rules.read(rest) else {
                if following == Following::End && !rest.is_empty() {
                    self.end_of_stream(position, rest, HeaderFault::TooLarge, findings);
                }
                return None;
            };
            let fault = self.rules.fault(header, rest.len());
            if fault.is_none() && header.kind.is_known(self.rules.simpleperf) {
                return Some(self.step(position, header, rest, following, findings));
            }
            if let Following::More(lookahead) = following
                && (fault == Some(HeaderFault::TooLarge) && self.rules.may_be_truncated(header)
                    || rest.len() < lookahead)
            {
                return None;
            }
            if fault.is_none() && self.rules.is_chain(rest, true) {
                return Some(self.step(position, header, rest, following, findings));
            }
            self.resynchronize(position, header, rest, following, findings);
        }
    }

    /// Returns true if a record starts at [`Self::offset`] and no payload is pending.
    pub(crate) const fn is_between(&self) -> bool {
        self.owed == 0 && self.tracing.is_none()
    }

    /// Returns the next record if it is an undamaged sample or MMAP2, as most
    /// are. `None` if [`Self::next`] must examine it.
    #[inline]
    pub(crate) fn next_usual<'d>(&mut self, block: &'d [u8], base: u64) -> Option<RecordBytes<'d>> {
        let rest = block.get(self.offset..)?;
        let header = self.rules.read(rest)?;
        let is_usual = matches!(header.kind, RecordKind::SAMPLE | RecordKind::MMAP2);
        if !is_usual || !self.is_between() || self.rules.fault(header, rest.len()).is_some() {
            return None;
        }
        let position = base + self.offset as u64;
        let bytes = rest.get(..header.size as usize)?;
        self.offset += bytes.len();
        Some(RecordBytes { position, header, bytes, payload: 0 })
    }

    fn step<'d>(
        &mut self,
        position: u64,
        header: RecordHeader,
        rest: &'d [u8],
        following: Following,
        findings: &mut Findings,
    ) -> RecordBytes<'d> {
        let size = header.size as usize;
        self.offset += size;
        let mut payload = 0;
        if let Some(stated) = self.rules.payload_len(header, rest) {
            let left = (rest.len() - size) as u64;
            payload = stated.min(left);
            self.offset += payload as usize;
            if header.kind == RecordKind::HEADER_TRACING_DATA && self.rules.pipe {
                self.tracing = Some(Vec::new());
                self.collect_tracing(rest.get(size..size + payload as usize).unwrap_or_default());
            }
            if following != Following::End {
                self.owed = stated - payload;
                payload = stated;
            } else if stated > left {
                findings.push(Finding::PayloadTruncated { offset: position, size: stated });
            }
        }
        RecordBytes { position, header, bytes: &rest[..size], payload }
    }

    /// Skips to the next sequence of plausible headers, or to the end of the block if there is none.
    fn resynchronize(
        &mut self,
        position: u64,
        header: RecordHeader,
        rest: &[u8],
        following: Following,
        findings: &mut Findings,
    ) {
        let fault = self.rules.fault(header, rest.len()).unwrap_or(HeaderFault::Garbage);
        let is_start =
            |at: &usize| rest.get(*at..).is_some_and(|bytes| self.rules.is_chain(bytes, false));
        // A size that only lost its alignment still approximates the start of the next record.
        let rounded = (header.size as usize).next_multiple_of(8).max(HEADER_LEN);
        let start =
            Some(rounded).filter(is_start).or_else(|| (8..rest.len()).step_by(8).find(is_start));
        match start {
            Some(skipped) => {
                self.offset += skipped;
                self.skipped += skipped as u64;
                findings.push(Finding::BadRecord {
                    offset: position,
                    fault,
                    skipped: skipped as u64,
                });
            }
            // In the middle of a stream the following bytes are unknown.
            None if following != Following::End => {
                self.end_of_stream(position, rest, HeaderFault::Garbage, findings);
            }
            None => self.end_of_stream(position, rest, fault, findings),
        }
    }

    /// Skips all remaining bytes.
    fn end_of_stream(
        &mut self,
        position: u64,
        rest: &[u8],
        fault: HeaderFault,
        findings: &mut Findings,
    ) {
        let len = rest.len() as u64;
        self.offset += rest.len();
        self.skipped += len;
        findings.push(if self.rules.pipe && is_text(rest) {
            // `perf record -o - 2>&1` writes its messages after the records.
            Finding::TrailingText { offset: position, len }
        } else if fault == HeaderFault::TooLarge {
            // The last record of a truncated file is not separate damage.
            Finding::PartialRecord { offset: position, len }
        } else {
            Finding::BadRecord { offset: position, fault, skipped: len }
        });
    }
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}
