//! Decoding of record headers, and their plausibility.
//!
//! Source: `include/uapi/linux/perf_event.h`, `struct perf_event_header`; simpleperf's `record.h`, `RecordHeader`
//! and `TracingDataRecord`.

use super::user::auxtrace;
use crate::bytes::{Endian, FieldReader};
use crate::finding::HeaderFault;
use crate::record_header::{HEADER_LEN, RecordHeader, RecordKind};

/// Plausible headers in sequence that are required to resume after damage.
const CHAIN: usize = 3;
/// Maximum stated size of a record that may continue in the next block of a stream. Only
/// simpleperf's records can exceed it.
const MAX_TRUNCATED_RECORD: u32 = 64 << 20;

/// Rules for the decoding of headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HeaderRules {
    pub(crate) endian: Endian,
    /// True if types from 32768 on have simpleperf's wide size.
    pub(crate) simpleperf: bool,
    /// True for a pipe stream, which may be followed by text.
    pub(crate) pipe: bool,
}

impl HeaderRules {
    /// Decodes the header at the start of `bytes`, without checks.
    #[inline]
    pub(crate) fn read(self, bytes: &[u8]) -> Option<RecordHeader> {
        let chunk: &[u8; HEADER_LEN] = bytes.first_chunk()?;
        let kind = RecordKind(self.endian.u32([chunk[0], chunk[1], chunk[2], chunk[3]]));
        let misc = self.endian.u16([chunk[4], chunk[5]]);
        let size = u32::from(self.endian.u16([chunk[6], chunk[7]]));
        if self.simpleperf && kind.0 >= RecordKind::FIRST_SIMPLEPERF {
            // The upper half of the size takes the place of `misc`.
            return Some(RecordHeader { kind, misc: 0, size: u32::from(misc) << 16 | size });
        }
        Some(RecordHeader { kind, misc, size })
    }

    /// Returns the fault of a header, if any, given the number of bytes from its start on.
    #[inline]
    pub(crate) fn fault(self, header: RecordHeader, available: usize) -> Option<HeaderFault> {
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

    /// Returns true if a record that extends past its block is likely to continue in the next one.
    pub(crate) fn may_be_truncated(self, header: RecordHeader) -> bool {
        header.kind.is_known(self.simpleperf) && header.size <= MAX_TRUNCATED_RECORD
    }

    /// Returns true if `bytes` start with a chain of plausible headers of known types. With
    /// `unknown_first` the first type may be unknown.
    pub(crate) fn is_chain(self, mut bytes: &[u8], unknown_first: bool) -> bool {
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

    /// Returns the size of the record at the start of `bytes`.
    /// `None` if its header is implausible, its type is unknown, or it has a payload outside of its size.
    #[inline]
    pub(crate) fn plausible_len(self, bytes: &[u8]) -> Option<usize> {
        let header = self.read(bytes)?;
        let is_plausible = header.kind.is_known(self.simpleperf)
            && header.misc & 7 <= 5
            && self.fault(header, bytes.len()).is_none();
        (is_plausible && self.payload_len(header, bytes).is_none()).then_some(header.size as usize)
    }

    /// Returns the length of the payload that follows a record outside of its size.
    pub(crate) fn payload_len(self, header: RecordHeader, bytes: &[u8]) -> Option<u64> {
        let body =
            || Some(FieldReader::new(bytes.get(HEADER_LEN..header.size as usize)?, self.endian));
        match header.kind {
            RecordKind::AUXTRACE => auxtrace(&mut body()?).map(|auxtrace| auxtrace.size),
            // Records of simpleperf contain these data if they are short enough.
            RecordKind::HEADER_TRACING_DATA if self.simpleperf => None,
            RecordKind::HEADER_TRACING_DATA => {
                body()?.u32().map(|size| u64::from(size).next_multiple_of(8))
            }
            _ => None,
        }
    }
}
