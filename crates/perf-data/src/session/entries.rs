//! Where samples and records are in a recording, and when: what a batch holds of each.

use address::{Pid, Tid, Timestamp};

use crate::record_header::CpuMode;

/// A sample's place and what a planner needs of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleEntry {
    /// Time; 0 where there is none.
    pub time: Timestamp,
    /// Position of the record; in a plain file its offset.
    pub position: u64,
    /// Process; -1 after its end, or where samples do not say.
    pub pid: Pid,
    /// Thread; -1 after its end, or where samples do not say.
    pub tid: Tid,
    /// Index of the event.
    pub event: u16,
    /// Flags of the header.
    pub misc: u16,
}

impl SampleEntry {
    /// The mode of the processor.
    #[must_use]
    pub fn cpu_mode(&self) -> CpuMode {
        CpuMode::from_misc(self.misc)
    }
}

/// A record's place and time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordEntry {
    /// Time; 0 where there is none.
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
