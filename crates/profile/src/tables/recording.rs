//! What the header of a recording says of the machine and of the recorder.

use address::Timestamp;

use crate::id::StringId;

/// Facts of the recording's header. Absent ones are `None`.
#[derive(Debug, Default, Clone)]
pub struct RecordingInfo {
    /// What it is called: the name of its file, without folders. `None` for standard input.
    pub name: Option<Box<[u8]>>,
    /// What the user calls the service that was recorded; `None` where that was not said.
    pub service: Option<Box<[u8]>>,
    /// Name of the recorded machine.
    pub hostname: Option<StringId>,
    /// Kernel release.
    pub os_release: Option<StringId>,
    /// `uname -m`.
    pub arch: Option<StringId>,
    /// Version of the recorder.
    pub perf_version: Option<StringId>,
    /// Processor name.
    pub cpu_desc: Option<StringId>,
    /// Processors online when recorded.
    pub cpus_online: Option<u32>,
    /// Processors there are, online or not.
    pub cpus_available: Option<u32>,
    /// The processor's identification.
    pub cpu_id: Option<StringId>,
    /// Memory in KiB.
    pub total_memory_kib: Option<u64>,
    /// How many bytes of each sample's stack the recorder copied at most; `None` where it copied none.
    pub stack_bytes: Option<u32>,
    /// The recorder's command line.
    pub command_line: Vec<StringId>,
    /// What time of day it was; `None` where nothing says so.
    pub wall_clock: Option<WallClock>,
}

/// How times of the recording's clock become times of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallClock {
    /// Nanoseconds from the beginning of 1970 (UTC) to time 0 of the recording's clock.
    pub zero: i64,
    /// Whether that is no statement of the recorder, but follows from when the recording was written last.
    pub guessed: bool,
}

impl WallClock {
    /// The clock by which a time of the recording was so many nanoseconds after the beginning of 1970 (UTC); `None`
    /// for what no clock shows.
    #[must_use]
    pub fn new(time: Timestamp, nanoseconds: i128, guessed: bool) -> Option<Self> {
        let zero = i64::try_from(nanoseconds.checked_sub(i128::from(time.0))?).ok()?;
        Some(Self { zero, guessed })
    }

    /// A time of the recording in nanoseconds since the beginning of 1970 (UTC); `None` where it is before that or past
    /// the 64 bits.
    #[must_use]
    pub const fn utc(self, time: Timestamp) -> Option<u64> {
        time.0.checked_add_signed(self.zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        let clock = WallClock::new(Timestamp(500), 1_700_000_000_000_000_500, false);
        assert_eq!(clock, Some(WallClock { zero: 1_700_000_000_000_000_000, guessed: false }));
        let utc = |time| clock.and_then(|clock| clock.utc(Timestamp(time)));
        assert_eq!(utc(7), Some(1_700_000_000_000_000_007));
        assert_eq!(utc(u64::MAX), None);
        // A recording whose clock is the time of day itself.
        let same =
            WallClock::new(Timestamp(1_700_000_000_000_000_500), 1_700_000_000_000_000_500, false);
        assert_eq!(same.map(|clock| clock.zero), Some(0));
        assert_eq!(WallClock::new(Timestamp(0), i128::MAX, false), None);
        let early = WallClock::new(Timestamp(9), 4, true).expect("a clock");
        assert_eq!((early.utc(Timestamp(4)), early.utc(Timestamp(5))), (None, Some(0)));
    }
}
