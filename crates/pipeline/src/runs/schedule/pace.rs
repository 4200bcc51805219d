//! When what has come of a stream is handed on: as soon as nothing more is there to be done first, but not so often that
//! it costs much.

use std::time::{Duration, Instant};

/// As often as this at most.
const TICK: Duration = Duration::from_millis(500);
/// Files are read again for new addresses as often as this at most.
const LOOK_UP: Duration = Duration::from_secs(1);
/// Handing on takes no more than one part of so many while the rest is waiting for more...
const IDLE_PARTS: u32 = 10;
/// ...and while there is other work to do.
const BUSY_PARTS: u32 = 64;

/// Whoever hands on does it by this clock.
#[derive(Debug)]
pub(crate) struct Pace {
    /// When something was handed on last, or when it began.
    last: Instant,
    /// The same of names that were looked up.
    looked_up: Instant,
    /// How long that took.
    took: Duration,
    /// How long the last one took that looked names up.
    look_up: Duration,
}

/// What there is to hand on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    /// Nothing.
    Nothing,
    /// Samples of addresses that have their names.
    Named,
    /// Samples with addresses whose names have to be looked up.
    Unnamed,
}

impl Pace {
    /// Nothing was handed on yet.
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self { last: now, looked_up: now, took: Duration::ZERO, look_up: Duration::ZERO }
    }

    /// How long it is until that is to be handed on by those who have nothing else to do; `None` where nothing is.
    pub(crate) fn until(&self, due: Due) -> Option<Duration> {
        let left = |after: Duration, since: Instant| after.saturating_sub(since.elapsed());
        let tick = left(TICK.max(self.took * (IDLE_PARTS - 1)), self.last);
        match due {
            Due::Nothing => None,
            Due::Unnamed if !self.look_up.is_zero() => {
                let look_up = LOOK_UP.max(self.look_up * (IDLE_PARTS - 1));
                Some(tick.max(left(look_up, self.looked_up)))
            }
            Due::Named | Due::Unnamed => Some(tick),
        }
    }

    /// Whether something is to be handed on though there is other work to do.
    pub(crate) fn is_late(&self) -> bool {
        self.last.elapsed() >= LOOK_UP.max(self.look_up.max(self.took) * (BUSY_PARTS - 1))
    }

    /// Something was handed on, which took from `start` until now.
    pub(crate) fn handed_on(&mut self, start: Instant, due: Due) {
        self.last = Instant::now();
        self.took = self.last - start;
        if due == Due::Unnamed {
            (self.look_up, self.looked_up) = (self.took, self.last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_for_a_tenth_of_the_time() {
        let mut pace = Pace::start();
        assert_eq!(pace.until(Due::Nothing), None);
        assert!(pace.until(Due::Unnamed).is_some_and(|wait| wait <= TICK));
        let start = Instant::now();
        pace.handed_on(start.checked_sub(Duration::from_secs(2)).unwrap_or(start), Due::Unnamed);
        let at_least =
            |due, seconds| pace.until(due).is_some_and(|wait| wait > Duration::from_secs(seconds));
        assert!(at_least(Due::Unnamed, 17) && at_least(Due::Named, 17) && !pace.is_late());
        pace.handed_on(Instant::now(), Due::Named);
        assert!(pace.until(Due::Named).is_some_and(|wait| wait <= TICK));
        assert!(pace.until(Due::Unnamed).is_some_and(|wait| wait > Duration::from_secs(17)));
    }
}
