//! Records of simpleperf that are too long for one: their bytes come as the payloads of several.
//!
//! Source: simpleperf's `record_file_reader.cpp`, `ReadRecord`.

use crate::record::RecordBytes;
use crate::record_header::{HEADER_LEN, RecordKind};
use crate::shared_bytes::SharedBytes;

/// The parts so far.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    parts: Vec<u8>,
}

impl Splits {
    /// Takes in a record; gives the joined one where this was the end of its parts.
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
