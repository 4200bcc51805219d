//! A replay that can be inspected while it runs, for output that is written before the end.

use std::sync::{Arc, Mutex, PoisonError};

use address::{ModuleId, Timestamp};
use image_store::ImageStore;
use module_map::{JitReader, Timeline};
use perf_data::Batch;
use profile::{Profile, RowId as _, SampleId};
use unwinder::Engine;

use crate::driver::chunk::CHUNK;
use crate::driver::merge::MergedTables;
use crate::driver::replayer::{ReplayObserver, Replayer};
use crate::plan::position::PlanPosition;
use crate::plan::threads::Thread;
use crate::slice::observed_modules::ObservedModules;

/// Samples of the first chunk of a watched replay; chunks double up to the usual size.
const FIRST: usize = 1024;

/// Partial result of a replay. Tables are append-only and ids are stable.
/// A layout may gain modules that later samples need, and loses none.
#[derive(Debug)]
pub struct PartialReplay<'a> {
    /// Tables of the samples so far. The caller may fill in names, strings and events, which the replay leaves empty.
    pub profile: &'a mut Profile,
    /// The timeline as moved by the plan, which is ahead of the merged samples.
    pub timeline: &'a Timeline,
    /// Modules with frames, in the order of the walk, including those of samples that are not merged yet.
    pub modules: &'a [ModuleId],
    /// Threads with samples, in order of first appearance, including those of planned samples.
    pub threads: &'a [Thread],
}

/// What a replay continues with after it was restarted.
#[derive(Debug)]
pub struct Renewed {
    /// An engine without rules.
    pub engine: Arc<Engine>,
    /// A store without opened images.
    pub images: Arc<ImageStore>,
    /// The reader of JIT dumps, which provides that store with their code.
    pub jit: Box<dyn JitReader>,
}

impl Replayer<'_> {
    /// Returns the result so far.
    #[must_use]
    pub fn partial(&mut self) -> PartialReplay<'_> {
        PartialReplay {
            profile: &mut self.merged.profile,
            timeline: self.planner.timeline(),
            modules: self.observed_modules.modules(),
            threads: self.planner.threads(),
        }
    }

    /// Replays a batch as [`Self::feed`] does, in chunks that start small, and calls `watch` after each chunk.
    ///
    /// # Errors
    /// Returns the first error of `watch`; the rest of the batch is then skipped.
    pub fn feed_watched<E>(
        &mut self,
        batch: Batch,
        observer: &dyn ReplayObserver,
        watch: &mut dyn FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.merges_at_once = true;
        let batch = self.begin(batch);
        let mut position = PlanPosition::start(&batch);
        while !position.is_at_end() {
            let limit = self.merged.profile.samples.len().clamp(FIRST, CHUNK);
            self.step(&batch, &mut position, limit, observer);
            watch(self)?;
        }
        Ok(())
    }

    /// Walks the samples of all batches so far, including the last ones, which would wait for the next batch.
    /// Samples that wait for their repair keep waiting.
    pub fn walk_pending(&mut self, observer: &dyn ReplayObserver) {
        while self.is_busy() {
            self.turn(None, CHUNK, observer);
        }
    }

    /// Stops walking the stacks of the samples that are fed from now on, or walks them again. A sample without its stack
    /// has the frame at its instruction.
    pub const fn drop_stacks(&mut self, drops: bool) {
        self.drops_stacks = drops;
    }

    /// Returns the walked samples that still wait for their repair, except those of former calls, with their stacks as
    /// they are now. The tables of the replay get them once they are repaired.
    pub fn waiting(&mut self) -> Profile {
        let mut tables = MergedTables::new(self.options.redact.as_deref());
        self.window.show().for_each(|slice| tables.add(&slice));
        tables.profile
    }

    /// Removes the samples older than `before` and returns their number; their stacks remain.
    /// The ids of the remaining samples shift.
    pub fn forget_before(&mut self, before: Timestamp) -> u64 {
        let Profile { samples, fields, .. } = &mut self.merged.profile;
        let rows = samples.as_slice();
        let old = rows.partition_point(|row| row.time().is_none_or(|time| time < before));
        // Removal moves all later rows, so it waits until at least an eighth of the rows are old.
        if old == 0 || old < rows.len() / 8 {
            return 0;
        }
        samples.drop_first(old);
        fields.renumber(|sample| Some(SampleId::from_index(sample.index().checked_sub(old)?)));
        old as u64
    }

    /// Completes all samples so far and passes their tables to `last`. Continues with empty tables, and with the files
    /// and unwind rules of `renewed`, which bounds memory. The next batch continues the recording.
    ///
    /// # Errors
    /// Returns the error of `last`.
    pub fn restart<E>(
        &mut self,
        observer: &dyn ReplayObserver,
        renewed: Renewed,
        last: impl FnOnce(PartialReplay<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.end(observer);
        self.lose_labels();
        last(self.partial())?;
        self.merged.reset();
        self.add_labels();
        let fields = self.fields.as_ref();
        self.merged.add_columns(fields.map_or(&[][..], |fields| fields.columns()));
        if let Some(head) = self.head.as_ref().filter(|_| self.options.branches) {
            self.merged.note_single(head);
        }
        self.planner.reset();
        self.planner.renew();
        self.observed_modules = ObservedModules::default();
        self.modules.clear();
        let Renewed { engine, images, jit } = renewed;
        // Code out of dumps exists only in the store.
        for module in self.planner.jit_modules() {
            images.adopt(module, &self.images);
        }
        self.planner.read_jit_with(jit);
        (self.engine, self.images) = (engine, images);
        self.exhausted.extend(std::mem::take(&mut self.idle).into_exhausted());
        self.exhausted.extend(self.window.reset());
        Ok(())
    }

    /// Size of the tables and of the state of threads, in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        (self.merged.heap_bytes() + self.planner.heap_bytes()) as u64
    }

    /// Completes all samples so far, without the evidence of later ones.
    pub fn end(&mut self, observer: &dyn ReplayObserver) {
        self.end_beside(observer, || ());
    }

    /// The same, while `other` runs on the pool. It starts after the passes over the samples of each group of threads,
    /// because nothing can be decided before they end.
    pub fn end_beside(&mut self, observer: &dyn ReplayObserver, other: impl FnOnce() + Send) {
        let other = Mutex::new(Some(other));
        rayon::scope(|scope| {
            let start = || {
                let other = other.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(other) = other {
                    scope.spawn(|_| other());
                }
            };
            self.walk_pending(observer);
            self.flush(&start);
            start();
        });
    }
}
