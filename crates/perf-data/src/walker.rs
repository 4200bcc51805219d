//! From one record header to the next, and over damage to where headers make sense again.
//!
//! ```text
//!   good record | bad header . . . . . | record | record | record     three plausible headers in a row,
//!                └─ skipped, counted ──┘                               or fewer that end with the data
//! ```

use crate::cursor::{Cursor, Endian};
use crate::finding::{Finding, HeaderFault};
use crate::findings::Findings;
use crate::layout::HEADER_LEN;
use crate::record::{RecordHeader, RecordKind};
use crate::source::Source;
use crate::user_records::auxtrace;

/// How many plausible headers in a row make a place to go on.
const CHAIN: usize = 3;

/// How headers are to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderRules {
    pub(crate) endian: Endian,
    /// Whether types from 32768 on have simpleperf's wide size.
    pub(crate) simpleperf: bool,
}

impl HeaderRules {
    /// The header at the start of `bytes`, unchecked.
    #[inline]
    pub(crate) fn read(self, bytes: &[u8]) -> Option<RecordHeader> {
        let chunk: &[u8; HEADER_LEN] = bytes.first_chunk()?;
        let kind = RecordKind(self.endian.u32([chunk[0], chunk[1], chunk[2], chunk[3]]));
        let misc = self.endian.u16([chunk[4], chunk[5]]);
        let size = u32::from(self.endian.u16([chunk[6], chunk[7]]));
        if self.simpleperf && kind.0 >= RecordKind::FIRST_SIMPLEPERF {
            // The upper half of the size stands where others have `misc`.
            return Some(RecordHeader { kind, misc: 0, size: u32::from(misc) << 16 | size });
        }
        Some(RecordHeader { kind, misc, size })
    }

    /// What is wrong with a header that `available` bytes begin with.
    #[inline]
    fn fault(self, header: RecordHeader, available: usize) -> Option<HeaderFault> {
        if (header.size as usize) < HEADER_LEN {
            Some(HeaderFault::TooSmall)
        } else if !header.size.is_multiple_of(8) && !header.kind.is_unpadded() {
            Some(HeaderFault::Unaligned)
        } else if header.size as usize > available {
            Some(HeaderFault::TooLarge)
        } else {
            None
        }
    }

    /// Whether a chain of plausible headers begins with `bytes`: of known types, or with `unknown_first` an unknown
    /// one in front.
    fn is_chain(self, mut bytes: &[u8], unknown_first: bool) -> bool {
        for link in 0..CHAIN {
            if bytes.is_empty() && link > 0 {
                return true;
            }
            let Some(header) = self.read(bytes) else { return false };
            let known = header.kind.is_known(self.simpleperf) && header.misc & 7 <= 5;
            if self.fault(header, bytes.len()).is_some() || !(known || unknown_first && link == 0) {
                return false;
            }
            let payload = self.payload_len(header, bytes).unwrap_or_default();
            let len =
                usize::try_from(payload).unwrap_or(usize::MAX).saturating_add(header.size as usize);
            bytes = bytes.get(len..).unwrap_or_default();
        }
        true
    }

    /// Bytes that follow a record without belonging to its size.
    fn payload_len(self, header: RecordHeader, bytes: &[u8]) -> Option<u64> {
        let body = || Some(Cursor::new(bytes.get(HEADER_LEN..header.size as usize)?, self.endian));
        match header.kind {
            RecordKind::AUXTRACE => auxtrace(&mut body()?).map(|auxtrace| auxtrace.size),
            RecordKind::HEADER_TRACING_DATA => {
                body()?.u32().map(|size| u64::from(size).next_multiple_of(8))
            }
            _ => None,
        }
    }
}

/// One record as found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'d> {
    pub(crate) position: u64,
    pub(crate) header: RecordHeader,
    /// The whole record, header included.
    pub(crate) bytes: &'d [u8],
    /// Bytes that follow outside the record's size.
    pub(crate) payload: u64,
}

/// Walks all records of a source in the order of their positions.
#[derive(Clone, Debug)]
pub(crate) struct Walker<'s, 'd> {
    source: &'s Source<'d>,
    rules: HeaderRules,
    piece: usize,
    offset: usize,
    /// Bytes passed over because of damage.
    pub(crate) skipped: u64,
}

impl<'s, 'd> Walker<'s, 'd> {
    pub(crate) fn new(source: &'s Source<'d>, rules: HeaderRules) -> Self {
        Self { source, rules, piece: 0, offset: 0, skipped: 0 }
    }

    /// The next record.
    #[inline]
    pub(crate) fn next(&mut self, findings: &mut Findings) -> Option<Found<'d>> {
        loop {
            let piece = self.source.pieces().get(self.piece)?;
            let rest = piece.bytes.get(self.offset..).unwrap_or_default();
            let position = piece.start + self.offset as u64;
            let Some(header) = self.rules.read(rest) else {
                if !rest.is_empty() {
                    findings
                        .push(Finding::PartialRecord { offset: position, len: rest.len() as u64 });
                    self.skipped += rest.len() as u64;
                }
                self.piece += 1;
                self.offset = 0;
                continue;
            };
            let sound = self.rules.fault(header, rest.len()).is_none();
            if sound && header.kind.is_known(self.rules.simpleperf) {
                return Some(self.step(position, header, rest, findings));
            }
            if sound && self.rules.is_chain(rest, true) {
                return Some(self.step(position, header, rest, findings));
            }
            self.resynchronize(position, header, rest, findings);
        }
    }

    fn step(
        &mut self,
        position: u64,
        header: RecordHeader,
        rest: &'d [u8],
        findings: &mut Findings,
    ) -> Found<'d> {
        let size = header.size as usize;
        self.offset += size;
        let mut payload = 0;
        if let Some(stated) = self.rules.payload_len(header, rest) {
            let left = (rest.len() - size) as u64;
            if stated > left {
                findings.push(Finding::PayloadCut { offset: position, size: stated });
            }
            payload = stated.min(left);
            self.offset += payload as usize;
        }
        Found { position, header, bytes: &rest[..size], payload }
    }

    /// Goes on at the next place where headers make sense; at the end of the piece where there is none.
    fn resynchronize(
        &mut self,
        position: u64,
        header: RecordHeader,
        rest: &[u8],
        findings: &mut Findings,
    ) {
        let fault = self.rules.fault(header, rest.len()).unwrap_or(HeaderFault::Garbage);
        let is_start =
            |at: &usize| rest.get(*at..).is_some_and(|bytes| self.rules.is_chain(bytes, false));
        // A size that only lost its alignment still says about where the next record is.
        let rounded = (header.size as usize).next_multiple_of(8).max(HEADER_LEN);
        let start =
            Some(rounded).filter(is_start).or_else(|| (8..rest.len()).step_by(8).find(is_start));
        let skipped = start.unwrap_or(rest.len());
        self.offset += skipped;
        self.skipped += skipped as u64;
        // The last record of a cut file is no damage of its own.
        findings.push(if start.is_none() && fault == HeaderFault::TooLarge {
            Finding::PartialRecord { offset: position, len: rest.len() as u64 }
        } else {
            Finding::BadRecord { offset: position, fault, skipped: skipped as u64 }
        });
    }
}
