//! The schedule of output that is written before the end: samples are walked in chunks, and after some of them, each time
//! several times as many as before, new locations get their names and the profile is handed on.
//!
//! A stream is handed on as soon as nothing more is there to be read, twice a second at most.

use std::time::{Duration, Instant};

use perf_data::{NextBatch, Session};
use profile::Profile;
use replay::Replayer;

use super::pace::{Due, Pace};
use super::way::Outcome;
use crate::error::Error;
use crate::observer::{Stage, begin};
use crate::runs::driver::Driver;
use crate::runs::output::{Naming, Output};
use crate::runs::run::Run;
use crate::timings::Timings;

/// How many times as many samples as were handed on have to be there before the next are looked up: each time the files
/// are read again.
const GROWTH: u64 = 3;

/// Of a stream that does not pause so many samples have to be there at first. One that pauses has handed on some by then.
const FIRST_OF_STREAM: u64 = 24 << 10;

/// How long to wait for more of a stream before what has come is seen to.
const SOON: Duration = Duration::from_millis(20);
/// How long to wait at a time if nothing is to be done.
const LOOK: Duration = Duration::from_millis(100);

/// Replays a recording and hands it on step by step. `of_stream` is the rule of a stream: of a file, parts
/// follow from its samples.
pub(crate) fn follow(
    driver: &mut Driver<'_>,
    of_stream: StepRule,
    timings: &mut Timings,
) -> Result<Outcome, Error> {
    let run = driver.run;
    let is_stream = driver.reading.is_stream;
    let rule = if is_stream { of_stream } else { StepRule::OfFile };
    let mut steps = Steps { rule, pace: Pace::start() };
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
                wait = steps.rest(driver)?;
                continue;
            }
            NextBatch::Disordered | NextBatch::End => break,
        };
        timings.ended("scan");
        driver.take_in(&batch);
        let Driver { reading, replayer, output, .. } = driver;
        output.account.expected = run.expected_at_last(output.read, &reading.session);
        run.observer.expected(output.account.expected as u64);
        replayer.feed_watched(batch, run, &mut |replayer| steps.step(replayer, output))?;
        // In a stream it may take long until more comes.
        if steps.wants(output.read as u64, output) {
            replayer.settle(run);
            steps.step(replayer, output)?;
        }
        driver.prefetch();
        timings.ended("replay");
        wait = SOON;
    }
    driver.end();
    run.go_on()?;
    driver.output.account.expected = driver.output.read;
    driver.output.hand_on(driver.replayer.partial(), Naming::First)?;
    Ok(Outcome::Complete)
}

impl Run<'_> {
    /// How many samples there will be: if the rest of a file is like what was read. Of a stream nobody knows the end;
    /// it is taken to be in the middle.
    fn expected_at_last(&self, samples: usize, session: &Session) -> usize {
        let Some(size) = self.size else { return samples.saturating_mul(2) };
        let read = u128::from(session.counts().total().bytes.max(1));
        // Headers and features are no records.
        if read * 8 > u128::from(size) * 7 {
            return samples;
        }
        let all = self.expected(samples as u64, session.counts());
        usize::try_from(all).unwrap_or(samples)
    }
}

/// The rule that a part is handed on by while more is there to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StepRule {
    /// Samples, from the first one on.
    OfFile,
    /// Samples, from a number of them on.
    OfStream,
    /// The clock.
    ByTime,
}

/// When a part is handed on.
#[derive(Debug)]
struct Steps {
    rule: StepRule,
    pace: Pace,
}

impl Steps {
    /// Nothing more has come of a stream: hands on what is there, if it is time. Gives how long to wait for more.
    fn rest(&mut self, driver: &mut Driver<'_>) -> Result<Duration, Error> {
        let Driver { run, replayer, output, .. } = driver;
        run.go_on()?;
        replayer.settle(*run);
        let profile = replayer.partial().profile;
        run.observer.done(profile.samples.len() as u64);
        match self.pace.until(due(output, profile)) {
            None => Ok(LOOK),
            Some(Duration::ZERO) => {
                self.hand_on(replayer, output)?;
                Ok(LOOK)
            }
            Some(wait) => Ok(wait.min(LOOK)),
        }
    }

    /// Hands on the new rows if they are worth a look-up of names by now.
    fn step(&mut self, replayer: &mut Replayer<'_>, output: &mut Output<'_>) -> Result<(), Error> {
        let run = output.run();
        run.go_on()?;
        let done = replayer.partial().profile.samples.len();
        run.observer.done(done as u64);
        if self.wants(done as u64, output) {
            return self.hand_on(replayer, output);
        }
        let share = done as f64 / output.account.expected.max(1) as f64;
        output.sink.progress(share).map_err(Error::Output)
    }

    fn hand_on(
        &mut self,
        replayer: &mut Replayer<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let partial = replayer.partial();
        let due = due(output, partial.profile);
        output.hand_on(partial, Naming::First)?;
        self.pace.handed_on(start, due);
        Ok(())
    }

    /// Whether so many samples are worth a look-up though more are there.
    fn wants(&self, done: u64, output: &Output<'_>) -> bool {
        let before = output.before.samples;
        let enough = match self.rule {
            StepRule::ByTime => return done > before && self.pace.is_late(),
            StepRule::OfFile => 1,
            StepRule::OfStream => FIRST_OF_STREAM,
        };
        done > before && done >= enough.max(before * GROWTH)
    }
}

/// What there is to hand on.
fn due(output: &Output<'_>, profile: &Profile) -> Due {
    if profile.samples.len() as u64 <= output.before.samples {
        Due::Nothing
    } else if output.has_unnamed(profile) {
        Due::Unnamed
    } else {
        Due::Named
    }
}
