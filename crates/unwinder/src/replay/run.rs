//! The driver: batches go through plan, walk and merge, three of them at a time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use module_map::{Library, Timeline};
use perf_data::{Head, Window};
use rayon::prelude::*;

use crate::engine::Engine;
use crate::replay::batch::{BatchResult, walk_batch};
use crate::replay::filter::Filter;
use crate::replay::layout::Layout;
use crate::replay::merge::{FrameKey, Merged, Outcome, StackNode};
use crate::replay::plan::{Plan, PlanPosition, Planned, Planner, Thread};
use crate::walk::{Walker, WorkerCache};

/// How to replay.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// Which samples are wanted.
    pub filter: Filter,
    /// The most user frames of a sample.
    pub max_frames: usize,
    /// Whether each window is asked in advance which paths lead to one file after another. That takes a pass over its
    /// records; [`Replayer::saw_replaced_file`] tells whether it would have been of use.
    pub learn_files: bool,
}

/// A replayed recording.
#[derive(Debug)]
pub struct Replay {
    /// Threads that have samples, in order of first appearance.
    pub threads: Vec<Thread>,
    /// Distinct frames.
    pub frames: Vec<FrameKey>,
    /// The prefix tree of stacks; parents before their children.
    pub stacks: Vec<StackNode>,
    /// Where modules lay.
    pub layouts: Vec<Layout>,
    /// The samples in time order.
    pub samples: Vec<Outcome>,
    /// Frames of all samples.
    pub n_frames: u64,
    /// Samples that the filter left out.
    pub filtered: u64,
    /// Samples that could not be decoded.
    pub undecoded: u64,
    /// Samples whose chain needed a map that was recorded shortly after them.
    pub late_maps: u64,
    /// Where the time went.
    pub timings: ReplayTimings,
}

/// Where the time of a replay went. Plan and merge run beside the walk of another batch.
#[derive(Clone, Copy, Default, Debug)]
pub struct ReplayTimings {
    /// Time of the plan, on one thread.
    pub plan: Duration,
    /// Time from the start of each batch's walk to its end, summed.
    pub walk: Duration,
    /// Time of the merge, on one thread.
    pub merge: Duration,
    /// Frames whose unwind rule was in the cache.
    pub cache_hits: u64,
    /// Frames whose unwind rule had to be made.
    pub cache_misses: u64,
}

/// Samples that are walked and interned as one.
const RUN: usize = 512;
/// Samples that are planned at a time.
pub(crate) const BATCH: usize = 32 * RUN;

/// A replay under way: it is fed with the windows of a recording in their order.
///
/// The result is the same whatever the number of threads is: runs of samples are of a fixed size, each is interned by
/// itself, and they are merged in their order.
pub struct Replayer<'r> {
    library: &'r Library,
    options: &'r ReplayOptions,
    engine: Arc<Engine>,
    idle: Idle,
    pub(crate) planner: Planner<'r>,
    pub(crate) merged: Merged,
    timings: ReplayTimings,
    head: Option<Arc<Head>>,
    /// What was planned and is to be walked next.
    planned: Option<Batch>,
    /// What was walked and is to be merged next.
    walked: Option<(Vec<Planned>, Vec<BatchResult>)>,
}

/// Samples of a window with what they need for their walk.
struct Batch {
    window: Arc<Window>,
    plan: Plan,
}

impl std::fmt::Debug for Replayer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replayer")
            .field("samples", &self.merged.samples.len())
            .finish_non_exhaustive()
    }
}

impl<'r> Replayer<'r> {
    /// A replay that has seen nothing yet. `timeline` may have been told hints.
    #[must_use]
    pub fn new(
        timeline: &'r mut Timeline,
        library: &'r Library,
        options: &'r ReplayOptions,
    ) -> Self {
        Self::with_engine(Arc::default(), timeline, library, options)
    }

    /// The same with the rules that other runs have made; [`Engine`] says when it can be shared.
    #[must_use]
    pub fn with_engine(
        engine: Arc<Engine>,
        timeline: &'r mut Timeline,
        library: &'r Library,
        options: &'r ReplayOptions,
    ) -> Self {
        Self {
            library,
            options,
            engine,
            idle: Idle::default(),
            planner: Planner::new(timeline, &options.filter),
            merged: Merged::default(),
            timings: ReplayTimings::default(),
            head: None,
            planned: None,
            walked: None,
        }
    }

    /// Replays a window on the current thread pool. The last samples of it wait for the next window, so that no thread
    /// is idle between them. `progress` is told the number of samples that are done.
    pub fn feed(&mut self, window: Window, progress: &(dyn Fn(u64) + Sync)) {
        let window = self.begin(window);
        let mut place = PlanPosition::start(&window);
        while !place.is_at_end() {
            self.step(&window, &mut place, BATCH, progress);
        }
    }

    /// Takes in what a window says apart from its samples.
    pub(crate) fn begin(&mut self, window: Window) -> Arc<Window> {
        if !self.head.as_ref().is_some_and(|head| Arc::ptr_eq(head, window.head())) {
            self.planner.learn(window.head());
            self.head = Some(window.head().clone());
        }
        if self.options.learn_files {
            timed(&mut self.timings.plan, || self.planner.learn_files(&window));
        }
        Arc::new(window)
    }

    /// Plans a batch of a window, beside the walk of the one before.
    pub(crate) fn step(
        &mut self,
        window: &Arc<Window>,
        place: &mut PlanPosition<'_>,
        limit: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) {
        if let Some(plan) = self.turn(Some(place), limit, progress) {
            self.planned = Some(Batch { window: Arc::clone(window), plan });
        }
    }

    /// Whether samples are planned or walked that are not in the tables yet.
    pub(crate) const fn is_busy(&self) -> bool {
        self.planned.is_some() || self.walked.is_some()
    }

    /// Whether a path led to one file after another, so that the build-id of the header's list is that of the last one.
    #[must_use]
    pub const fn saw_replaced_file(&self) -> bool {
        self.planner.saw_replaced_file()
    }

    /// One turn: walks what was planned, beside that merges what was walked before and plans what comes next.
    pub(crate) fn turn(
        &mut self,
        place: Option<&mut PlanPosition<'_>>,
        limit: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Option<Plan> {
        let Self { library, options, engine, idle, planner, merged, timings, .. } = self;
        let ReplayTimings { plan, walk, merge, .. } = timings;
        let (current, done) = (self.planned.take(), self.walked.take());
        let (results, next) = rayon::join(
            || {
                let batch = current.as_ref()?;
                Some(timed(walk, || walk_all(batch, engine, library, options, idle)))
            },
            || {
                if let Some((planned, results)) = done {
                    timed(merge, || merge_all(merged, &planned, &results));
                    progress(merged.samples.len() as u64);
                }
                timed(plan, || place.map(|place| planner.next_batch(place, limit)))
            },
        );
        self.walked = current.map(|batch| batch.plan.samples).zip(results);
        next.filter(|plan| !plan.samples.is_empty())
    }

    /// What the tables take so far, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> u64 {
        let Merged { frames, stacks, samples, .. } = &self.merged;
        let samples = samples.capacity() * size_of::<Outcome>();
        (frames.heap_bytes() + stacks.heap_bytes() + samples) as u64
    }

    /// What came of all windows.
    #[must_use]
    pub fn finish(mut self, progress: &(dyn Fn(u64) + Sync)) -> Replay {
        while self.is_busy() {
            self.turn(None, BATCH, progress);
        }
        let Self { planner, merged, mut timings, .. } = self;
        timings.cache_hits = merged.cache_hits;
        timings.cache_misses = merged.cache_misses;
        Replay {
            timings,
            filtered: planner.filtered,
            threads: planner.into_threads(),
            frames: merged.frames.into_values(),
            stacks: merged.stacks.into_values(),
            layouts: merged.layouts.rows.into_iter().map(|(_, layout)| layout).collect(),
            samples: merged.samples,
            n_frames: merged.n_frames,
            undecoded: merged.undecoded,
            late_maps: merged.late_maps,
        }
    }
}

/// Adds the time that `f` takes.
fn timed<T>(total: &mut Duration, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    *total += start.elapsed();
    result
}

fn walk_all(
    batch: &Batch,
    engine: &Engine,
    library: &Library,
    options: &ReplayOptions,
    idle: &Idle,
) -> Vec<BatchResult> {
    let Plan { samples, spaces } = &batch.plan;
    // Runs are taken one by one: what a thread still has before it when the others are done is what they wait for.
    let runs = samples.par_chunks(RUN).with_max_len(1);
    let walk = |run: &[Planned]| {
        let cache = idle.take().unwrap_or_else(WorkerCache::new);
        let mut walker = Walker::with_cache(cache, engine, library, options.max_frames);
        let result = walk_batch(&batch.window, run, spaces, &mut walker);
        idle.put(walker.into_cache());
        result
    };
    runs.map(walk).collect()
}

/// The caches of workers that do not walk now: as many as there are threads, at most.
#[derive(Default)]
struct Idle(Mutex<Vec<WorkerCache>>);

impl Idle {
    fn take(&self) -> Option<WorkerCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, cache: WorkerCache) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(cache);
    }
}

fn merge_all(merged: &mut Merged, planned: &[Planned], results: &[BatchResult]) {
    for (planned, result) in planned.chunks(RUN).zip(results) {
        merged.add(planned, result);
    }
}
