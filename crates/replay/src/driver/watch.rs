//! A replay that is looked at while it goes on: what is known so far, for output that is written before the end.

use address::{ModuleId, Timestamp};
use module_map::Timeline;
use perf_data::Batch;
use profile::Profile;

use crate::driver::chunk::CHUNK;
use crate::driver::replayer::{ReplayObserver, Replayer};
use crate::plan::position::PlanPosition;
use crate::plan::threads::Thread;
use crate::slice::found_modules::MetModules;

/// The first chunk of a replay that is watched; each is twice as large as the one before, up to the usual size.
const FIRST: usize = 1024;

/// What a replay has found so far. Tables only grow: what has an id keeps it. A layout may get modules that samples of
/// later touch; it loses none.
#[derive(Debug)]
pub struct Partial<'a> {
    /// The tables, as far as samples are done. What is not the replay's (names, strings, events) may be filled in.
    pub profile: &'a mut Profile,
    /// The timeline as the plan has moved it, which is further than the samples.
    pub timeline: &'a Timeline,
    /// Modules with frames, in the order in which walks met them: also of samples that are not in the tables yet.
    pub met: &'a [ModuleId],
    /// Threads that have samples, in order of first appearance; those of planned samples among them.
    pub threads: &'a [Thread],
}

impl Replayer<'_> {
    /// What is known so far.
    #[must_use]
    pub fn partial(&mut self) -> Partial<'_> {
        Partial {
            profile: &mut self.merged.profile,
            timeline: self.planner.timeline(),
            met: self.met.modules(),
            threads: self.planner.threads(),
        }
    }

    /// Replays a batch as [`Self::feed`] does, in chunks that are small at first, and calls `watch` after each step.
    ///
    /// # Errors
    /// The first one of `watch`, which ends the batch.
    pub fn feed_watched<E>(
        &mut self,
        batch: Batch,
        observer: &dyn ReplayObserver,
        watch: &mut dyn FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.merges_at_once = true;
        let batch = self.begin(batch);
        let mut place = PlanPosition::start(&batch);
        while !place.is_at_end() {
            let limit = self.merged.profile.samples.len().clamp(FIRST, CHUNK);
            self.step(&batch, &mut place, limit, observer);
            watch(self)?;
        }
        Ok(())
    }

    /// Walks the samples of all batches so far instead of letting the last ones wait for the next batch. Samples that
    /// wait for their repair go on waiting.
    pub fn settle(&mut self, observer: &dyn ReplayObserver) {
        while self.is_busy() {
            self.turn(None, CHUNK, observer);
        }
    }

    /// Forgets the samples that are older than `before`; their stacks stay. Gives how many it were. The first samples of
    /// the table of those that are kept have other ids then.
    pub fn forget_before(&mut self, before: Timestamp) -> u64 {
        let samples = &mut self.merged.profile.samples;
        let rows = samples.as_slice();
        let old = rows.partition_point(|row| row.time().is_none_or(|time| time < before));
        // All behind them are moved, so it is done where that is many times as many.
        if old == 0 || old < rows.len() / 8 {
            return 0;
        }
        samples.drop_first(old);
        old as u64
    }

    /// Finishes all samples so far, hands their tables to `last`, and begins with empty ones: memory is bounded by those
    /// who do so. Batches go on where they were.
    pub fn begin_anew(&mut self, observer: &dyn ReplayObserver, last: impl FnOnce(Partial<'_>)) {
        self.end(observer);
        last(self.partial());
        self.merged.begin_anew();
        self.planner.begin_anew();
        self.window.begin_anew();
        self.met = MetModules::default();
    }

    /// What the tables and what is known of threads take, in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        (self.merged.heap_bytes() + self.planner.heap_bytes()) as u64
    }

    /// Finishes all samples. No batch may follow.
    pub fn end(&mut self, observer: &dyn ReplayObserver) {
        self.settle(observer);
        self.flush();
    }
}
