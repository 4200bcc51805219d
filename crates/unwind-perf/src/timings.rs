//! Where the time went, for `--timings`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use symbolizer::SymbolTimings;
use unwinder::ReplayTimings;

/// A stop watch that names the stages it passes.
pub(crate) struct Timings {
    start: Instant,
    last: Instant,
    stages: Vec<(&'static str, Duration)>,
}

impl Timings {
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self { start: now, last: now, stages: Vec::new() }
    }

    /// The stage of that name ended now.
    pub(crate) fn ended(&mut self, stage: &'static str) {
        let now = Instant::now();
        let time = now - self.last;
        self.last = now;
        // A stage that comes again, once for each window, is added up.
        match self.stages.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// A line a stage, and the counters of the replay.
    pub(crate) fn report(
        &self,
        replay: &ReplayTimings,
        symbols: &SymbolTimings,
        images: u32,
        addresses: usize,
    ) -> String {
        let mut text = String::new();
        let mut line = |what: &str, time: Duration| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{what:<22} {:>9.1} ms", time.as_secs_f64() * 1e3);
        };
        for &(stage, time) in &self.stages {
            line(stage, time);
            if stage == "replay" {
                line("  plan, one thread", replay.plan);
                line("  walk, all threads", replay.walk);
                line("  merge, one thread", replay.merge);
            }
            if stage == "symbolize" {
                line("  symbol load", symbols.loading);
                line("  functions and lines", symbols.looking_up);
                line("  names", symbols.naming);
            }
        }
        line("total", self.last - self.start);
        let steps = replay.cache_hits + replay.cache_misses;
        let share = 100.0 * replay.cache_hits as f64 / steps.max(1) as f64;
        let _ = writeln!(text, "unwind rules cached    {share:>9.2} % of {steps} steps");
        let _ = writeln!(text, "files parsed           {images:>9}");
        let _ = writeln!(text, "distinct addresses     {addresses:>9}");
        text
    }
}
