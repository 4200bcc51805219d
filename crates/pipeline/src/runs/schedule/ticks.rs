//! The schedule of a recording that is followed live, for hours. Samples are unwound as they arrive, output by a tick,
//! named a little later, and finally dropped.
//!
//! ```text
//!   stream  ~~~ records ~~~~ records ~~~~~~~~ records ~~~
//!   walk        | b1 |       | b2 |           | b3 |
//!   names            | n |                         | n |     for a tenth of the time
//!   tick             ^           ^         ^       ^         rows that are new since the last
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use address::Timestamp;
use host::return_freed_memory;
use perf_data::NextBatch;
use profile::{Profile, SampleRow};
use replay::Renewed;

use super::backlog::Backlog;
use super::read_path::{ReadOutcome, TICK_BATCHES, Ticks};
use crate::error::Error;
use crate::observer::{Stage, begin};
use crate::runs::driver::Driver;
use crate::runs::output::{Naming, Output};

/// Longest time to wait for a batch.
const LOOK: Duration = Duration::from_millis(50);
/// Least time between two look-ups of names.
const LOOK_UP: Duration = Duration::from_secs(1);
/// Least pause after a look-up of names, as a multiple of its duration.
const REST: u32 = 9;

/// Batches that wait when stacks begin to be dropped, until none waits.
const BEHIND: usize = TICK_BATCHES / 4;

/// Processes a stream to its end, or until the sink has enough.
pub(crate) fn follow(driver: &mut Driver<'_>, ticks: Ticks) -> Result<ReadOutcome, Error> {
    let run = driver.run;
    if !ticks.waits_for_evidence {
        driver.replayer.repair_by_batches();
    }
    driver.output.watch_lag();
    driver.output.begin(driver.replayer.partial().profile)?;
    begin(run.observer, Stage::Unwinding);
    let mut clock = TickClock { ticks, look_up: None, renewed: Instant::now() };
    let mut backlog = Backlog::new(BEHIND, Instant::now());
    let mut wait = LOOK;
    while !driver.output.sink.is_enough() {
        let batch = match driver.next(Duration::ZERO) {
            NextBatch::NotYet => {
                backlog.caught_up();
                driver.next(wait)
            }
            next => next,
        };
        let batch = match batch {
            NextBatch::Batch(batch) => Some(batch),
            NextBatch::NotYet => None,
            NextBatch::Disordered | NextBatch::End => break,
        };
        if let Some(batch) = &batch {
            let samples = batch.samples().len();
            backlog.add(samples, driver.waiting(), driver.lost(), Instant::now());
        }
        driver.replayer.drop_stacks(ticks.drops_stacks && backlog.is_behind());
        run.go_on()?;
        if let Some(batch) = batch {
            driver.record_batch(&batch);
            driver.replayer.feed(batch, run);
            driver.prefetch();
            wait = LOOK.min(clock.until_tick(&driver.output));
            if !wait.is_zero() {
                continue;
            }
        }
        clock.update(driver)?;
        let waits = driver.output.has_changed(driver.replayer.partial().profile);
        wait = if waits { LOOK.min(clock.until_tick(&driver.output)) } else { LOOK };
    }
    driver.end();
    run.go_on()?;
    let Driver { replayer, output, .. } = driver;
    if output.has_unnamed(replayer.partial().profile) {
        output.name(replayer.partial());
    }
    run.go_on()?;
    output.send_rows(replayer.partial(), Naming::Later)?;
    Ok(ReadOutcome::Complete)
}

/// Clock of a recording that is followed live.
struct TickClock {
    ticks: Ticks,
    /// End of the last look-up of names, and its duration.
    look_up: Option<(Instant, Duration)>,
    /// Time at which the tables were last cleared.
    renewed: Instant,
}

impl TickClock {
    /// Returns the time until the next output is allowed.
    fn until_tick(&self, output: &Output<'_>) -> Duration {
        self.ticks.tick.saturating_sub(output.last().elapsed())
    }

    /// Finishes the samples that have arrived. Drops old ones, looks up names and outputs, each if it is due.
    fn update(&mut self, driver: &mut Driver<'_>) -> Result<(), Error> {
        let Driver { run, replayer, output, .. } = driver;
        replayer.walk_pending(*run);
        run.go_on()?;
        run.observer.done(output.samples(replayer.partial().profile));
        if let Some(oldest) = self.oldest(replayer.partial().profile) {
            // Samples that waited may be older by now than the retained ones.
            if self.ticks.waits_for_evidence
                && output.has_unsent_before(replayer.partial().profile, oldest)
            {
                output.send_rows(replayer.partial(), Naming::Later)?;
            }
            output.forget(replayer.forget_before(oldest));
        }
        if self.needs_names(output, replayer.partial().profile) {
            let start = Instant::now();
            output.name(replayer.partial());
            self.look_up = Some((Instant::now(), start.elapsed()));
            run.go_on()?;
        }
        if self.until_tick(output).is_zero() {
            self.tick(driver)?;
        }
        let Driver { run, replayer, output, .. } = driver;
        let samples = size_of::<SampleRow>() * replayer.partial().profile.samples.len();
        let tables = replayer.held_bytes().saturating_sub(2 * samples as u64);
        let is_due = self.ticks.renew_after.is_some_and(|after| self.renewed.elapsed() >= after);
        if tables > self.ticks.table_bytes || is_due {
            let files = output.renewed_files()?;
            let (images, jit) = (Arc::clone(&files.images), files.jit_reader());
            let renewed = Renewed { engine: run.engine(), images, jit };
            replayer.restart(*run, renewed, |partial| output.send_rows(partial, Naming::Later))?;
            output.restart(replayer.partial().profile, files);
            return_freed_memory();
            self.renewed = Instant::now();
        }
        Ok(())
    }

    /// Outputs what is new.
    fn tick(&self, driver: &mut Driver<'_>) -> Result<(), Error> {
        let Driver { run, replayer, output, .. } = driver;
        let wants_all = output.sink.wants_all();
        if wants_all {
            replayer.end(*run);
        }
        let shows_waiting = self.ticks.waits_for_evidence && output.sink.shows_waiting();
        let is_waiting = shows_waiting && output.show_waiting(&replayer.waiting());
        if wants_all || is_waiting || output.has_changed(replayer.partial().profile) {
            output.send_rows(replayer.partial(), Naming::Later)?;
        }
        Ok(())
    }

    /// Returns the time before which samples are dropped.
    fn oldest(&self, profile: &Profile) -> Option<Timestamp> {
        let keep = u64::try_from(self.ticks.max_age?.as_nanos()).unwrap_or(u64::MAX);
        let newest = profile.samples.as_slice().last()?.time()?;
        Some(Timestamp(newest.0.saturating_sub(keep)))
    }

    /// Returns true if names are to be looked up now.
    fn needs_names(&self, output: &Output<'_>, profile: &Profile) -> bool {
        let rest = |(ended, took): (Instant, Duration)| ended.elapsed() >= LOOK_UP.max(took * REST);
        output.has_unnamed(profile) && self.look_up.is_none_or(rest)
    }
}
