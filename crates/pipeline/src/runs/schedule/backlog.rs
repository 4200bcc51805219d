//! When the stacks of a live stream are dropped, so that its writer does not wait and loses no samples: while too many
//! batches wait, and for a time after samples were lost.

use std::time::{Duration, Instant};

/// Shortest time over which losses are counted.
const WINDOW: Duration = Duration::from_secs(1);
/// Stacks are dropped if more than one sample in this number is lost.
const LOST: u64 = 100;
/// Fewer lost samples than this do not count.
const LEAST: u64 = 10;
/// First time of dropping stacks after losses. It doubles if samples are lost again.
const FIRST: Duration = Duration::from_secs(2);
/// Longest such time, and the time without losses after which the first one applies again.
const LONGEST: Duration = Duration::from_secs(64);

/// Waiting batches and lost samples of a stream.
#[derive(Debug)]
pub(super) struct Backlog {
    /// Batches that wait when stacks begin to be dropped, until none waits.
    most_waiting: usize,
    has_many: bool,
    window: Window,
    state: LossState,
}

/// A time span with its losses.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Instant,
    samples: u64,
    /// Losses before it.
    lost: u64,
}

/// Reaction to losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LossState {
    /// Stacks are walked, and dropped for `next` after a loss.
    Walking { since: Instant, next: Duration },
    /// Stacks are dropped.
    Dropping { since: Instant, until: Instant, next: Duration },
    /// Stacks are walked in spite of losses: dropping them did not help.
    Resigned { until: Instant },
}

impl Backlog {
    /// Creates a backlog without losses that allows fewer than `most_waiting` batches to wait.
    pub(super) const fn new(most_waiting: usize, now: Instant) -> Self {
        let window = Window { start: now, samples: 0, lost: 0 };
        let state = LossState::Walking { since: now, next: FIRST };
        Self { most_waiting, has_many: false, window, state }
    }

    /// Notes that no batch waits.
    pub(super) const fn caught_up(&mut self) {
        self.has_many = false;
    }

    /// Notes a batch with a number of samples, while `waiting` others wait. `lost` counts all losses up to now.
    pub(super) fn add(&mut self, samples: usize, waiting: usize, lost: u64, now: Instant) {
        self.has_many |= waiting >= self.most_waiting;
        self.window.samples += samples as u64;
        if now.duration_since(self.window.start) >= WINDOW {
            let next = Window { start: now, samples: 0, lost };
            let Window { samples, lost: before, .. } = std::mem::replace(&mut self.window, next);
            let lost = lost.saturating_sub(before);
            let loses = lost >= LEAST && lost.saturating_mul(LOST) > samples;
            self.state = self.state.next(loses, now);
        }
    }

    /// Returns true if stacks are to be dropped.
    pub(super) const fn is_behind(&self) -> bool {
        self.has_many || matches!(self.state, LossState::Dropping { .. })
    }
}

impl LossState {
    /// Returns the state after a window.
    fn next(self, loses: bool, now: Instant) -> Self {
        match self {
            Self::Walking { next, .. } if loses => {
                Self::Dropping { since: now, until: now + next, next: LONGEST.min(next * 2) }
            }
            Self::Walking { since, .. } if now - since >= LONGEST => {
                Self::Walking { since, next: FIRST }
            }
            // Batches that waited have the losses before.
            Self::Dropping { since, .. } if loses && now - since >= FIRST => {
                Self::Resigned { until: now + LONGEST }
            }
            Self::Dropping { until, next, .. } if now >= until => {
                Self::Walking { since: now, next }
            }
            Self::Resigned { until } if now >= until => Self::Walking { since: now, next: FIRST },
            same => same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A backlog to which a batch of 1000 samples is added each second.
    struct Seconds(Backlog, Instant, u64);

    impl Seconds {
        fn new() -> Self {
            let start = Instant::now();
            Self(Backlog::new(8, start), start, 0)
        }

        /// Returns for each second whether stacks are dropped after it, as 1 or 0.
        fn losing(&mut self, lost: impl IntoIterator<Item = u64>) -> String {
            let Self(backlog, now, total) = self;
            let second = |lost| {
                *now += Duration::from_secs(1);
                *total += lost;
                backlog.add(1000, 1, *total, *now);
                if backlog.is_behind() { '1' } else { '0' }
            };
            lost.into_iter().map(second).collect()
        }
    }

    #[test]
    fn stacks_are_dropped_until_no_batch_waits() {
        let now = Instant::now();
        let mut backlog = Backlog::new(8, now);
        let add = |waiting| {
            match waiting {
                0 => backlog.caught_up(),
                _ => backlog.add(100, waiting, 0, now),
            }
            backlog.is_behind()
        };
        let behind = [1, 7, 8, 3, 1, 0, 7].map(add);
        assert_eq!(behind, [false, false, true, true, true, false, false]);
    }

    #[test]
    fn stacks_are_dropped_for_longer_after_each_loss() {
        let mut stream = Seconds::new();
        assert_eq!(stream.losing([0, 10, 11, 11, 0, 0]), "001100");
        assert_eq!(stream.losing([20, 15, 0, 0, 0, 0]), "111100");
        assert_eq!(stream.losing([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "1111111100");
        assert_eq!(stream.losing([0; 64]), "0".repeat(64));
        assert_eq!(stream.losing([11, 0, 0]), "110");
    }

    #[test]
    fn few_losses_do_not_cost_stacks() {
        let mut stream = Seconds::new();
        stream.0.add(1, 1, 9, stream.1 + WINDOW);
        assert!(!stream.0.is_behind());
    }

    #[test]
    fn stacks_are_walked_if_dropping_them_does_not_help() {
        let mut stream = Seconds::new();
        assert_eq!(stream.losing([50; 5]), "11000");
        assert_eq!(stream.losing([50; 61]), "0".repeat(61));
        assert_eq!(stream.losing([50, 50, 50, 0]), "0110");
    }
}
