//! A record before and after it is decoded, with its place in the recording.

use address::Timestamp;

use super::trailer::SampleId;
use crate::record::Record;
use crate::record_header::RecordHeader;

/// One record as found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordBytes<'d> {
    pub(crate) position: u64,
    pub(crate) header: RecordHeader,
    /// The whole record, header included.
    pub(crate) bytes: &'d [u8],
    /// Bytes that follow outside the record's size.
    pub(crate) payload: u64,
}

/// A record that is no sample, with its time.
#[derive(Clone, Copy, Debug)]
pub struct TimedRecord<'d> {
    /// Time; 0 where there is none.
    pub time: Timestamp,
    /// Position of the record; in a plain file its offset.
    pub position: u64,
    /// Index of the event that it belongs to.
    pub event: u16,
    /// Flags of the header.
    pub misc: u16,
    /// What it says.
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
