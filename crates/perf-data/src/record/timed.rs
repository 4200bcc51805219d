//! A record before and after decoding, with its position in the recording.

use address::Timestamp;

use super::trailer::SampleId;
use crate::record::Record;
use crate::record_header::RecordHeader;

/// An undecoded record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordBytes<'d> {
    pub(crate) position: u64,
    pub(crate) header: RecordHeader,
    /// The whole record, including the header.
    pub(crate) bytes: &'d [u8],
    /// Length of the payload outside of the record's size, in bytes.
    pub(crate) payload: u64,
}

/// A record other than a sample, with its time.
#[derive(Clone, Copy, Debug)]
pub struct TimedRecord<'d> {
    /// Time; 0 if not recorded.
    pub time: Timestamp,
    /// Position of the record; in a plain file, its offset.
    pub position: u64,
    /// Index of its event.
    pub event: u16,
    /// Flags of the header.
    pub misc: u16,
    /// Decoded content.
    pub record: Record<'d>,
    /// Its trailer.
    pub trailer: SampleId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_small() {
        assert!(size_of::<TimedRecord<'_>>() <= 232, "{}", size_of::<TimedRecord<'_>>());
    }
}
