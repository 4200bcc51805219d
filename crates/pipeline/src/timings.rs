//! Where the time of a run went.

use std::time::{Duration, Instant};

use replay::ReplayTimings;
use symbolizer::SymbolTimings;

/// The stages of a run in the order in which they were first passed, with their times, and some counters.
#[derive(Clone, Debug)]
pub struct Timings {
    start: Instant,
    last: Instant,
    stages: Vec<(&'static str, Duration)>,
    /// Within the replay.
    pub replay: ReplayTimings,
    /// Within the look-up of names.
    pub symbols: SymbolTimings,
    /// Files that were opened and read.
    pub images: u32,
}

impl Timings {
    /// A run that begins now.
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

    /// The stage of that name ended now. A stage that comes again, once for each batch, is added up.
    pub fn ended(&mut self, stage: &'static str) {
        let now = Instant::now();
        let time = now - self.last;
        self.last = now;
        match self.stages.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// The stages and the time of each.
    #[must_use]
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// From the start to the end of the last stage.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.last - self.start
    }
}
