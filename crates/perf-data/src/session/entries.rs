//! Entries of a batch: time and position of each sample and record.

use address::{Pid, Tid, Timestamp};

use crate::record_header::CpuMode;

/// Position of a sample and the fields that a planner needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleEntry {
    /// Time; 0 if not recorded.
    pub time: Timestamp,
    /// Position of the record; in a plain file, its offset.
    pub position: u64,
    /// Process; -1 after its end, or if not recorded.
    pub pid: Pid,
    /// Thread; -1 after its end, or if not recorded.
    pub tid: Tid,
    /// Index of the event.
    pub event: u16,
    /// Flags of the header.
    pub misc: u16,
}

impl SampleEntry {
    /// Returns the mode of the processor.
    #[must_use]
    pub fn cpu_mode(&self) -> CpuMode {
        CpuMode::from_misc(self.misc)
    }
}

/// Position and time of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordEntry {
    /// Time; 0 if not recorded.
    pub time: Timestamp,
    /// Position of the record.
    pub position: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_small() {
        assert!(size_of::<SampleEntry>() <= 32);
        assert!(size_of::<RecordEntry>() <= 16);
    }
}
