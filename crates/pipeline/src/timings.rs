//! Time spent in the stages of a run.

use std::time::{Duration, Instant};

use replay::ReplayTimings;
use symbolizer::SymbolTimings;

/// The stages of a run in the order of their first end, with their durations, and some counters.
#[derive(Clone, Debug)]
pub struct Timings {
    start: Instant,
    last: Instant,
    stages: Vec<(&'static str, Duration)>,
    /// Timings within the replay.
    pub replay: ReplayTimings,
    /// Timings within the look-up of names.
    pub symbols: SymbolTimings,
    /// Number of files that were opened and read.
    pub images: u32,
}

impl Timings {
    /// Starts the timings of a run.
    #[must_use]
    pub fn start() -> Self {
        let now = Instant::now();
        Self {
            start: now,
            last: now,
            stages: Vec::new(),
            replay: ReplayTimings::default(),
            symbols: SymbolTimings::default(),
            images: 0,
        }
    }

    /// Ends a stage now. The durations of a repeated stage, such as one per batch, are added up.
    pub fn ended(&mut self, stage: &'static str) {
        let now = Instant::now();
        let time = now - self.last;
        self.last = now;
        match self.stages.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// Returns the stages and the duration of each.
    #[must_use]
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// Returns the time from the start to the end of the last stage.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.last - self.start
    }
}
