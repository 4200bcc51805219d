//! Output times of a stream: as soon as there is nothing else to do first, but with a limit on the share of time that
//! it takes.

use std::time::{Duration, Instant};

/// Least time between two outputs.
const TICK: Duration = Duration::from_millis(500);
/// Least time between two look-ups of names, which read files again for new addresses.
const LOOK_UP: Duration = Duration::from_secs(1);
/// While waiting for data, output takes at most one part in this many of the time.
const IDLE_PARTS: u32 = 10;
/// While there is other work, output takes at most one part in this many of the time.
const BUSY_PARTS: u32 = 64;

/// Clock that decides when to output.
#[derive(Debug)]
pub(crate) struct OutputClock {
    /// Time of the last output, or of the start.
    last: Instant,
    /// Time of the last output with a look-up of names, or of the start.
    looked_up: Instant,
    /// Duration of the last output.
    took: Duration,
    /// Duration of the last output with a look-up of names.
    look_up: Duration,
}

/// Kind of rows to output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PendingRows {
    /// None.
    Nothing,
    /// Samples with addresses that have their names.
    Named,
    /// Samples with addresses to look up.
    Unnamed,
}

impl OutputClock {
    /// Starts the clock, before any output.
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self { last: now, looked_up: now, took: Duration::ZERO, look_up: Duration::ZERO }
    }

    /// Returns the time until the next output if there is nothing else to do; `None` if there are no rows.
    pub(crate) fn until(&self, due: PendingRows) -> Option<Duration> {
        let left = |after: Duration, since: Instant| after.saturating_sub(since.elapsed());
        let tick = left(TICK.max(self.took * (IDLE_PARTS - 1)), self.last);
        match due {
            PendingRows::Nothing => None,
            PendingRows::Unnamed if !self.look_up.is_zero() => {
                let look_up = LOOK_UP.max(self.look_up * (IDLE_PARTS - 1));
                Some(tick.max(left(look_up, self.looked_up)))
            }
            PendingRows::Named | PendingRows::Unnamed => Some(tick),
        }
    }

    /// Returns true if output is due although there is other work.
    pub(crate) fn is_late(&self) -> bool {
        self.last.elapsed() >= LOOK_UP.max(self.look_up.max(self.took) * (BUSY_PARTS - 1))
    }

    /// Records an output that took from `start` until now.
    pub(crate) fn record_output(&mut self, start: Instant, due: PendingRows) {
        self.last = Instant::now();
        self.took = self.last - start;
        if due == PendingRows::Unnamed {
            (self.look_up, self.looked_up) = (self.took, self.last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_for_a_tenth_of_the_time() {
        let mut clock = OutputClock::start();
        assert_eq!(clock.until(PendingRows::Nothing), None);
        assert!(clock.until(PendingRows::Unnamed).is_some_and(|wait| wait <= TICK));
        let start = Instant::now();
        clock.record_output(
            start.checked_sub(Duration::from_secs(2)).unwrap_or(start),
            PendingRows::Unnamed,
        );
        let at_least =
            |due, seconds| clock.until(due).is_some_and(|wait| wait > Duration::from_secs(seconds));
        assert!(
            at_least(PendingRows::Unnamed, 17)
                && at_least(PendingRows::Named, 17)
                && !clock.is_late()
        );
        clock.record_output(Instant::now(), PendingRows::Named);
        assert!(clock.until(PendingRows::Named).is_some_and(|wait| wait <= TICK));
        assert!(
            clock.until(PendingRows::Unnamed).is_some_and(|wait| wait > Duration::from_secs(17))
        );
    }
}
