//! Samples: a few words each; other data is in the other tables.

use address::Timestamp;

use crate::encoding::encoding;
use crate::id::{EventId, LayoutId, StackId, ThreadId};
use crate::reason::{EndReason, WaitKind};

/// A sample. Recordings have millions of them, which are all retained to the end. Time, period and CPU are optional.
/// One byte flags the recorded ones, so that no number is reserved for "not recorded".
// Alignment 4 is that of its ids; with padding to a multiple of 8, a row would have 40 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub struct SampleRow {
    /// 0 if it was not recorded, as for period and CPU, so that equal samples have equal rows.
    time: u64,
    period: u64,
    cpu: u32,
    /// The sampled thread.
    pub thread: ThreadId,
    /// Node of the innermost frame; `None` for a sample without frames.
    pub stack: Option<StackId>,
    /// Load addresses of the modules in its process.
    pub layout: LayoutId,
    /// The sampled event.
    pub event: EventId,
    /// End reason of the chain.
    pub end: EndReason,
    /// Flags of the recorded numbers, and the kind of wait.
    recorded: u8,
}

encoding! { copy SampleRow {
    time: u64,
    period: u64,
    cpu: u32,
    thread: ThreadId,
    stack: Option<StackId>,
    layout: LayoutId,
    event: EventId,
    end: EndReason,
    recorded: u8,
} }

/// Bits of [`SampleRow::recorded`].
const TIME: u8 = 1;
const PERIOD: u8 = 2;
const CPU: u8 = 4;
/// The kind of wait plus 1, or 0, in four bits; then whether it is from the name of a library function.
const WAIT_SHIFT: u32 = 3;
const WAIT: u8 = 0xf << WAIT_SHIFT;
const BY_LIBRARY: u8 = 0x80;
const _: () = assert!(WaitKind::ALL.len() < 0xf);

impl SampleRow {
    /// Returns a sample without time, CPU and period.
    #[inline]
    #[must_use]
    pub const fn new(
        thread: ThreadId,
        event: EventId,
        end: EndReason,
        stack: Option<StackId>,
        layout: LayoutId,
    ) -> Self {
        Self { time: 0, period: 0, cpu: 0, thread, stack, layout, event, end, recorded: 0 }
    }

    /// Time on the recording's clock; `None` if it was not recorded.
    #[inline]
    #[must_use]
    pub const fn time(&self) -> Option<Timestamp> {
        if self.recorded & TIME == 0 { None } else { Some(Timestamp(self.time)) }
    }

    /// Weight of the sample in units of its event; `None` if it was not recorded, and counts as 1.
    #[inline]
    #[must_use]
    pub const fn period(&self) -> Option<u64> {
        if self.recorded & PERIOD == 0 { None } else { Some(self.period) }
    }

    /// CPU; `None` if it was not recorded.
    #[inline]
    #[must_use]
    pub const fn cpu(&self) -> Option<u32> {
        if self.recorded & CPU == 0 { None } else { Some(self.cpu) }
    }

    /// Kind of wait of a time off the processor; `None` for other samples.
    #[inline]
    #[must_use]
    pub fn wait(&self) -> Option<WaitKind> {
        let number = usize::from((self.recorded & WAIT) >> WAIT_SHIFT);
        WaitKind::ALL.get(number.wrapping_sub(1)).copied()
    }

    /// Returns true if the kind of wait is from the name of a library function, since kernel functions have no names.
    #[inline]
    #[must_use]
    pub const fn wait_is_of_library(&self) -> bool {
        self.recorded & BY_LIBRARY != 0
    }

    /// Returns the same sample with this kind of wait, which may be from the name of a library function.
    #[inline]
    #[must_use]
    pub const fn with_wait(self, kind: WaitKind, of_library: bool) -> Self {
        let wait = (kind as u8 + 1) << WAIT_SHIFT | if of_library { BY_LIBRARY } else { 0 };
        Self { recorded: self.recorded & !(WAIT | BY_LIBRARY) | wait, ..self }
    }

    /// Returns the same sample with this time.
    #[inline]
    #[must_use]
    pub fn with_time(self, time: Option<Timestamp>) -> Self {
        let recorded = self.recorded_if(TIME, time.is_some());
        Self { time: time.map_or(0, |time| time.0), recorded, ..self }
    }

    /// Returns the same sample with this weight.
    #[inline]
    #[must_use]
    pub fn with_period(self, period: Option<u64>) -> Self {
        let recorded = self.recorded_if(PERIOD, period.is_some());
        Self { period: period.unwrap_or(0), recorded, ..self }
    }

    /// Returns the same sample with this CPU.
    #[inline]
    #[must_use]
    pub fn with_cpu(self, cpu: Option<u32>) -> Self {
        let recorded = self.recorded_if(CPU, cpu.is_some());
        Self { cpu: cpu.unwrap_or(0), recorded, ..self }
    }

    /// Returns the flags with `bit` set or cleared.
    const fn recorded_if(self, bit: u8, is_recorded: bool) -> u8 {
        if is_recorded { self.recorded | bit } else { self.recorded & !bit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> SampleRow {
        let (thread, event) = (ThreadId::new(1), EventId::new(2));
        SampleRow::new(thread, event, EndReason::Root, Some(StackId::new(3)), LayoutId::new(4))
    }

    #[test]
    fn rows_are_small() {
        assert_eq!((size_of::<SampleRow>(), align_of::<SampleRow>()), (36, 4));
    }

    #[test]
    fn no_number_is_taken_for_one_that_was_not_recorded() {
        for number in [0, 1, u64::MAX - 1, u64::MAX] {
            let row = row().with_time(Some(Timestamp(number)));
            assert_eq!(
                (row.time(), row.period(), row.cpu()),
                (Some(Timestamp(number)), None, None)
            );
            let row = row.with_period(Some(number)).with_time(None);
            assert_eq!((row.time(), row.period(), row.cpu()), (None, Some(number), None));
        }
        for number in [0, 1, u32::MAX - 1, u32::MAX] {
            let row = row().with_cpu(Some(number));
            assert_eq!((row.time(), row.period(), row.cpu()), (None, None, Some(number)));
        }
    }

    #[test]
    fn kinds_of_waits_round_trip() {
        assert_eq!((row().wait(), row().wait_is_of_library()), (None, false));
        let full = row().with_time(Some(Timestamp(5))).with_period(Some(6));
        for &kind in WaitKind::ALL {
            let row = full.with_wait(WaitKind::Unknown, true).with_wait(kind, false);
            assert_eq!((row.wait(), row.wait_is_of_library()), (Some(kind), false));
            assert_eq!((row.time(), row.period(), row.cpu()), (full.time(), Some(6), None));
            assert!(full.with_wait(kind, true).wait_is_of_library());
        }
    }

    #[test]
    fn what_is_taken_away_leaves_nothing() {
        let full = row().with_time(Some(Timestamp(5))).with_period(Some(6)).with_cpu(Some(7));
        assert_eq!(
            (full.time(), full.period(), full.cpu()),
            (Some(Timestamp(5)), Some(6), Some(7))
        );
        assert_eq!((full.thread, full.event), (ThreadId::new(1), EventId::new(2)));
        assert_ne!(full, row());
        assert_eq!(full.with_time(None).with_period(None).with_cpu(None), row());
    }
}
