//! Split records of simpleperf: a record that exceeds the maximum length is stored as the payloads of several.
//!
//! Source: simpleperf's `record_file_reader.cpp`, `ReadRecord`.

use crate::record::RecordBytes;
use crate::record_header::{HEADER_LEN, RecordKind};
use crate::shared_bytes::SharedBytes;

/// Parts collected so far.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    parts: Vec<u8>,
}

impl Splits {
    /// Adds a part; returns the joined record at the last part.
    pub(crate) fn take_in(&mut self, found: &RecordBytes<'_>) -> Option<SharedBytes> {
        match found.header.kind {
            RecordKind::SIMPLEPERF_SPLIT => {
                self.parts.extend_from_slice(found.bytes.get(HEADER_LEN..).unwrap_or_default());
                None
            }
            RecordKind::SIMPLEPERF_SPLIT_END if !self.parts.is_empty() => {
                Some(SharedBytes::from(std::mem::take(&mut self.parts)))
            }
            _ => None,
        }
    }
}
