//! Facts of the host and the recorder in the header of a recording.

use address::Timestamp;

use crate::encoding::encoding;
use crate::id::StringId;

/// Facts from the recording's header. Absent ones are `None`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RecordingInfo {
    /// Name of the recording: its file name without folders. `None` for standard input.
    pub name: Option<Box<[u8]>>,
    /// Name of the recorded service; `None` if the user gave none.
    pub service: Option<Box<[u8]>>,
    /// Name of the recorded host.
    pub hostname: Option<StringId>,
    /// Kernel release.
    pub os_release: Option<StringId>,
    /// `uname -m`.
    pub arch: Option<StringId>,
    /// Version of the recorder.
    pub perf_version: Option<StringId>,
    /// CPU name.
    pub cpu_desc: Option<StringId>,
    /// Number of CPUs online during the recording.
    pub cpus_online: Option<u32>,
    /// Number of CPUs, online or not.
    pub cpus_available: Option<u32>,
    /// CPU identification.
    pub cpu_id: Option<StringId>,
    /// Memory, in KiB.
    pub total_memory_kib: Option<u64>,
    /// Maximum number of stack bytes copied with a sample; `None` if none were copied.
    pub stack_bytes: Option<u32>,
    /// The recorder's command line.
    pub command_line: Vec<StringId>,
    /// Conversion to the time of day; `None` if it is unknown.
    pub wall_clock: Option<WallClock>,
}

encoding! { RecordingInfo {
    name: Option<Box<[u8]>>,
    service: Option<Box<[u8]>>,
    hostname: Option<StringId>,
    os_release: Option<StringId>,
    arch: Option<StringId>,
    perf_version: Option<StringId>,
    cpu_desc: Option<StringId>,
    cpus_online: Option<u32>,
    cpus_available: Option<u32>,
    cpu_id: Option<StringId>,
    total_memory_kib: Option<u64>,
    stack_bytes: Option<u32>,
    command_line: Vec<StringId>,
    wall_clock: Option<WallClock>,
} }

/// Conversion from the recording's clock to the time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallClock {
    /// Nanoseconds from the start of 1970 (UTC) to time 0 of the recording's clock.
    pub zero: i64,
    /// Whether `zero` is derived from the modification time of the recording instead of stated by the recorder.
    pub guessed: bool,
}

encoding! { WallClock { zero: i64, guessed: bool, } }

impl WallClock {
    /// Returns the clock on which `time` is `nanoseconds` after the start of 1970 (UTC); `None` if the difference does
    /// not fit.
    #[must_use]
    pub fn new(time: Timestamp, nanoseconds: i128, guessed: bool) -> Option<Self> {
        let zero = i64::try_from(nanoseconds.checked_sub(i128::from(time.0))?).ok()?;
        Some(Self { zero, guessed })
    }

    /// Converts a time of the recording to nanoseconds since the start of 1970 (UTC); `None` if it is earlier or
    /// exceeds 64 bits.
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
        // A recording with the time of day as its clock.
        let same =
            WallClock::new(Timestamp(1_700_000_000_000_000_500), 1_700_000_000_000_000_500, false);
        assert_eq!(same.map(|clock| clock.zero), Some(0));
        assert_eq!(WallClock::new(Timestamp(0), i128::MAX, false), None);
        let early = WallClock::new(Timestamp(9), 4, true).expect("a clock");
        assert_eq!((early.utc(Timestamp(4)), early.utc(Timestamp(5))), (None, Some(0)));
    }
}
