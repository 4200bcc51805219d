//! The schedule of output before the end: samples are walked in chunks. Once their number has grown several times since
//! the last output, new locations are looked up and the profile goes to the sink.
//!
//! A stream is output as soon as it pauses, at most twice a second.

use std::time::{Duration, Instant};

use perf_data::{NextBatch, Session};
use profile::Profile;
use replay::Replayer;

use super::output_clock::{OutputClock, PendingRows};
use super::read_path::ReadOutcome;
use crate::error::Error;
use crate::observer::{Stage, begin};
use crate::runs::driver::Driver;
use crate::runs::output::{Naming, Output};
use crate::runs::run::Run;
use crate::timings::Timings;

/// Least growth of the number of samples between two look-ups of names, as a factor, since each look-up reads the files
/// again.
const GROWTH: u64 = 3;

/// Least number of samples for the first output of a stream without a pause. A stream with pauses has had output before
/// that.
const FIRST_OF_STREAM: u64 = 24 << 10;

/// Time to wait for more of a stream before processing the samples that have arrived.
const SOON: Duration = Duration::from_millis(20);
/// Time to wait for a batch if there is nothing to do.
const LOOK: Duration = Duration::from_millis(100);

/// Replays a recording in steps. `of_stream` is the rule for a stream; the steps of a file depend only on its samples.
pub(crate) fn follow(
    driver: &mut Driver<'_>,
    of_stream: StepRule,
    timings: &mut Timings,
) -> Result<ReadOutcome, Error> {
    let run = driver.run;
    let is_stream = driver.reading.is_stream;
    let rule = if is_stream { of_stream } else { StepRule::OfFile };
    let mut steps = Steps { rule, clock: OutputClock::start() };
    if is_stream {
        driver.replayer.repair_by_batches();
    }
    driver.output.begin(driver.replayer.partial().profile)?;
    begin(run.observer, Stage::Unwinding);
    let mut wait = LOOK;
    loop {
        let batch = match driver.next(wait) {
            NextBatch::Batch(batch) => batch,
            NextBatch::NotYet => {
                wait = steps.pause(driver)?;
                continue;
            }
            NextBatch::Disordered | NextBatch::End => break,
        };
        timings.ended("scan");
        driver.record_batch(&batch);
        let Driver { reading, replayer, output, .. } = driver;
        output.account.expected = run.expected_at_last(output.read, &reading.session);
        run.observer.expected(output.account.expected as u64);
        replayer.feed_watched(batch, run, &mut |replayer| steps.step(replayer, output))?;
        // In a stream it may take long until more arrives.
        if steps.is_step_due(output.read as u64, output) {
            replayer.walk_pending(run);
            steps.step(replayer, output)?;
        }
        driver.prefetch();
        timings.ended("replay");
        wait = SOON;
    }
    driver.end();
    run.go_on()?;
    driver.output.account.expected = driver.output.read;
    driver.output.send_rows(driver.replayer.partial(), Naming::First)?;
    Ok(ReadOutcome::Complete)
}

impl Run<'_> {
    /// Estimates the number of samples: for a file, assumes that the rest is like the part read so far. For a stream of
    /// unknown length, assumes that half of it was read.
    fn expected_at_last(&self, samples: usize, session: &Session) -> usize {
        let Some(size) = self.size else { return samples.saturating_mul(2) };
        let read = u128::from(session.counts().total().bytes.max(1));
        // The size includes headers and features, which are not records.
        if read * 8 > u128::from(size) * 7 {
            return samples;
        }
        let all = self.expected(samples as u64, session.counts());
        usize::try_from(all).unwrap_or(samples)
    }
}

/// The rule for a step while more data is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StepRule {
    /// By samples, from the first one on.
    OfFile,
    /// By samples, from a minimum number on.
    OfStream,
    /// By the clock.
    ByTime,
}

/// State that decides when a step is output.
#[derive(Debug)]
struct Steps {
    rule: StepRule,
    clock: OutputClock,
}

impl Steps {
    /// Handles a pause of a stream: outputs new rows if it is time. Returns the time to wait for more.
    fn pause(&mut self, driver: &mut Driver<'_>) -> Result<Duration, Error> {
        let Driver { run, replayer, output, .. } = driver;
        run.go_on()?;
        replayer.walk_pending(*run);
        let profile = replayer.partial().profile;
        run.observer.done(profile.samples.len() as u64);
        match self.clock.until(pending_rows(output, profile)) {
            None => Ok(LOOK),
            Some(Duration::ZERO) => {
                self.send_rows(replayer, output)?;
                Ok(LOOK)
            }
            Some(wait) => Ok(wait.min(LOOK)),
        }
    }

    /// Outputs the new rows if there are enough of them for a look-up of names.
    fn step(&mut self, replayer: &mut Replayer<'_>, output: &mut Output<'_>) -> Result<(), Error> {
        let run = output.run();
        run.go_on()?;
        let done = replayer.partial().profile.samples.len();
        run.observer.done(done as u64);
        if self.is_step_due(done as u64, output) {
            return self.send_rows(replayer, output);
        }
        let share = done as f64 / output.account.expected.max(1) as f64;
        output.sink.progress(share).map_err(Error::Output)
    }

    fn send_rows(
        &mut self,
        replayer: &mut Replayer<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let partial = replayer.partial();
        let due = pending_rows(output, partial.profile);
        output.send_rows(partial, Naming::First)?;
        self.clock.record_output(start, due);
        Ok(())
    }

    /// Returns true if `done` samples are enough for a look-up although more are available.
    fn is_step_due(&self, done: u64, output: &Output<'_>) -> bool {
        let before = output.before.samples;
        let enough = match self.rule {
            StepRule::ByTime => return done > before && self.clock.is_late(),
            StepRule::OfFile => 1,
            StepRule::OfStream => FIRST_OF_STREAM,
        };
        done > before && done >= enough.max(before * GROWTH)
    }
}

/// Returns the kind of rows to output.
fn pending_rows(output: &Output<'_>, profile: &Profile) -> PendingRows {
    if profile.samples.len() as u64 <= output.before.samples {
        PendingRows::Nothing
    } else if output.has_unnamed(profile) {
        PendingRows::Unnamed
    } else {
        PendingRows::Named
    }
}
