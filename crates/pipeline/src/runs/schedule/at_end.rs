//! The schedule of a profile that is complete when it is output. The fast path replays batches while the file is read.
//! It assumes that the file's rounds are in order and that no file was replaced at its path.

use std::time::Duration;

use perf_data::NextBatch;
use replay::ReplayObserver as _;

use super::read_path::ReadOutcome;
use crate::error::Error;
use crate::observer::{Stage, begin};
use crate::runs::driver::Driver;
use crate::timings::Timings;

/// Replays all of a recording.
pub(crate) fn follow(
    driver: &mut Driver<'_>,
    quick: bool,
    timings: &mut Timings,
) -> Result<ReadOutcome, Error> {
    let run = driver.run;
    let (mut samples, mut done) = (0, 0);
    let mut next = driver.next(Duration::MAX);
    begin(run.observer, Stage::Unwinding);
    while let NextBatch::Batch(batch) = next {
        timings.ended("scan");
        samples += batch.samples().len() as u64;
        run.observer.expected(run.expected(samples, driver.reading.session.counts()));
        let first = batch.first_position();
        driver.replayer.feed(batch, run);
        if let Some(first) = first {
            // The batches before this one are walked; bytes between samples are released with them.
            run.walked(done..first);
            done = first.max(done);
        }
        // Two threads have no time for it before the end of the walk.
        if rayon::current_num_threads() > 2 {
            driver.prefetch();
        }
        timings.ended("replay");
        run.go_on()?;
        if quick && driver.replayer.saw_several_files() {
            return Ok(ReadOutcome::Failed);
        }
        next = driver.next(Duration::MAX);
    }
    if matches!(next, NextBatch::Disordered) {
        return Ok(ReadOutcome::Failed);
    }
    driver.end();
    Ok(ReadOutcome::Complete)
}
