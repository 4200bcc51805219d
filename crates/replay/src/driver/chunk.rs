//! Chunks of samples in the replay, and the parallel walk of one chunk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use budget::{Exhausted, HeldMemory, MemoryUse};
use image_store::ImageStore;
use perf_data::{Batch, SelectedFields};
use profile::FindingRow;
use rayon::prelude::*;
use unwinder::{Engine, StoredRules, Walker, WorkerCache};

use crate::driver::replayer::{Join, ReplayObserver, ReplayOptions};
use crate::plan::planned::{Plan, PlannedSample};
use crate::slice::evidence::UnwoundChains;
use crate::slice::walk::{SliceInputs, WalkedSlice, walk_slice};

/// Samples that are walked and interned together. The last slices of a chunk are smaller, down to [`LEAST_SLICE`], so
/// that all threads end at nearly the same time. The output is the same.
const SLICE: usize = 512;
const LEAST_SLICE: usize = 128;
/// Samples in one plan.
pub(crate) const CHUNK: usize = 32 * SLICE;

/// Samples of a batch with the plan for their walk.
pub(crate) struct PlannedChunk {
    pub(crate) batch: Arc<Batch>,
    pub(crate) plan: Plan,
    /// Evidence for callchains that were unwound before.
    pub(crate) unwound: Option<Arc<UnwoundChains>>,
    /// Requested fields of samples.
    pub(crate) fields: Option<Arc<SelectedFields>>,
    /// True if stacks are not walked.
    pub(crate) drops_stacks: bool,
    /// True if they are the last ones of the batch.
    pub(crate) is_last: bool,
}

/// The walked slices of a [`PlannedChunk`].
pub(crate) struct WalkedChunk {
    pub(crate) slices: Vec<WalkedSlice>,
    pub(crate) is_last: bool,
}

impl PlannedChunk {
    /// Walks the samples.
    /// Threads take slices one by one in their order, so at the end they wait for at most one of the smallest.
    pub(crate) fn walk(
        self,
        engine: &Engine,
        stored_rules: Option<&StoredRules>,
        images: &ImageStore,
        options: &ReplayOptions,
        idle: &IdleCaches,
        observer: &dyn ReplayObserver,
    ) -> WalkedChunk {
        let Self { batch, plan, unwound, fields, drops_stacks, is_last } = self;
        let Plan { samples, spaces } = plan;
        let memory = &images.options().memory;
        let held = HeldMemory::new(memory, MemoryUse::Stacks);
        let walk = |slice: &[PlannedSample]| {
            if observer.is_cancelled() || memory.is_exceeded() {
                return WalkedSlice::default();
            }
            let cache = idle.take().unwrap_or_default();
            let mut walker = Walker::with_cache(cache, engine, images, options.max_frames);
            walker.use_stored_rules(stored_rules);
            let repair = options.join != Join::Off && unwound.is_none();
            let inputs = SliceInputs {
                batch: &batch,
                spaces: &spaces,
                unwound: unwound.as_deref(),
                fields: fields.as_deref(),
                variables: options.variables.as_deref(),
                branches: options.branches,
                drops_stacks,
            };
            let mut result = walk_slice(inputs, slice, &mut walker, repair);
            result.held = held.another(result.heap_bytes() as u64);
            idle.put(walker.into_cache());
            let positions = || slice.iter().map(|planned| planned.entry.position);
            if let (Some(first), Some(last)) = (positions().min(), positions().max()) {
                observer.walked(first..last);
            }
            result
        };
        let slices = slices_of(&samples, rayon::current_num_threads()).enumerate().par_bridge();
        let mut slices: Vec<_> = slices.map(|(number, slice)| (number, walk(slice))).collect();
        slices.sort_unstable_by_key(|(number, _)| *number);
        spaces.discard();
        WalkedChunk { slices: slices.into_iter().map(|(_, slice)| slice).collect(), is_last }
    }
}

/// Returns the slices of a chunk for that many threads: each has at most half of a thread's share of the rest.
fn slices_of<T>(samples: &[T], threads: usize) -> impl Iterator<Item = &[T]> {
    let mut rest = samples;
    std::iter::from_fn(move || {
        let size = (rest.len() / (2 * threads)).clamp(LEAST_SLICE, SLICE).min(rest.len());
        let (first, others) = rest.split_at(size);
        rest = others;
        (!first.is_empty()).then_some(first)
    })
}

/// Caches of workers that are not walking: at most one per thread.
#[derive(Default)]
pub(crate) struct IdleCaches(Mutex<Vec<WorkerCache>>);

impl IdleCaches {
    fn take(&self) -> Option<WorkerCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, cache: WorkerCache) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(cache);
    }

    /// Returns the files that exhausted the budget of a worker.
    pub(crate) fn into_exhausted(self) -> impl Iterator<Item = (PathBuf, Exhausted)> {
        let caches = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        caches.into_iter().flat_map(WorkerCache::into_exhausted)
    }

    /// Returns a finding for each file that exhausted the budget of a worker; `files` are the ones already recorded.
    pub(crate) fn limits(self, mut files: BTreeMap<PathBuf, Exhausted>) -> Vec<FindingRow> {
        files.extend(self.into_exhausted());
        let row = |(path, exhausted): (PathBuf, Exhausted)| FindingRow {
            kind: "limit-reached".to_owned(),
            message: format!("{}: {exhausted}: stacks end there", path.display()),
            count: 1,
            help: None,
        };
        files.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_slices_are_smaller() {
        let sizes = |samples: usize, threads: usize| {
            slices_of(&vec![(); samples], threads).map(<[_]>::len).collect::<Vec<_>>()
        };
        let expected = [512, 512, 512, 512, 488, 366, 274, 206, 154, 128, 128, 128, 80];
        assert_eq!(sizes(4000, 2), expected);
        assert_eq!(sizes(1200, 1), [512, 344, 172, 128, 44]);
        assert_eq!(sizes(100, 8), [100]);
        assert_eq!(sizes(0, 8), [0; 0]);
    }
}
