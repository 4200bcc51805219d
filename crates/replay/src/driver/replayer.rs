//! The driver: chunks go through plan, walk, repair and merge, four of them at a time.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use budget::{Held, Memory, MemoryUse};
use image_store::ImageStore;
use module_map::{Module, Timeline};
use perf_data::{Batch, Head};
use profile::{FindingRow, Profile};
use unwinder::{Engine, KeptRules};

use crate::driver::chunk::{CHUNK, Idle, PlannedChunk, WalkedChunk};
use crate::driver::merge::Merged;
use crate::join::Code;
use crate::plan::filter::{Filter, LeftOut};
use crate::plan::off_cpu::OffCpuTimes;
use crate::plan::planner::{Plan, Planner};
use crate::plan::position::PlanPosition;
use crate::plan::threads::Thread;
use crate::repair::repaired::RepairedSlice;
use crate::repair::window::Window;
use crate::slice::found_modules::MetModules;
use crate::slice::related::SharedMemory;

/// How far chains that the dump cut off are continued.
pub use options::Join;

/// How to replay.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// Which samples are wanted.
    pub filter: Filter,
    /// The most user frames of a sample.
    pub max_frames: usize,
    /// Whether each batch is asked in advance which paths lead to one file after another. That takes a pass over its
    /// records; [`Replayer::saw_several_files`] says whether it would have been of use.
    pub learn_files: bool,
    /// How chains that the dump cut off are continued.
    pub join: Join,
    /// Whether the frames that tail calls removed are looked for.
    pub tail_calls: bool,
    /// Whether times off the processor are wanted; the batches must have the records of switches.
    pub off_cpu: bool,
}

/// A replayed recording.
#[derive(Debug)]
pub struct Replay {
    /// The tables of the replay: locations without names, frames, stacks, layouts, samples. The others are empty, but
    /// the summary counts samples and frames, and what chains need of the stack.
    pub profile: Profile,
    /// The threads of [`Profile::threads`], in order of first appearance.
    pub threads: Vec<Thread>,
    /// Samples whose chain needed a map that their process did not have when they were taken.
    pub missed_maps: MissedMaps,
    /// What the samples were of that the filter left out.
    pub left_out: LeftOut,
    /// Times off the processor, where they were wanted.
    pub off_cpu: Option<OffCpuTimes>,
    /// Where the time went.
    pub timings: ReplayTimings,
    /// What the tables count as, for as long as the run goes on.
    pub held: Held,
}

/// Samples whose chain needed a map that their process did not have when they were taken.
#[derive(Debug, Default)]
pub struct MissedMaps {
    /// Samples that needed a map that was recorded shortly after them.
    pub late: u64,
    /// Samples that needed a map of a process that shares the memory.
    pub shared: SharedMemory,
}

/// The observer of a replay.
pub trait ReplayObserver: Sync {
    /// So many samples are done.
    fn done(&self, _samples: u64) {}

    /// Samples at these positions, which follow each other in time, were walked: their bytes are not needed again. Others
    /// can lie between them. Called by the threads that walk.
    fn walked(&self, _positions: Range<u64>) {}

    /// Whether the rest is not wanted any more. Then the samples that were not walked yet are missing.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl ReplayObserver for Unwatched {}

/// Where the time of a replay went. Plan, repair and merge run beside the walk of another chunk.
#[derive(Clone, Copy, Default, Debug)]
pub struct ReplayTimings {
    /// Time of the plan, on one thread.
    pub plan: Duration,
    /// Time from the start of each chunk's walk to its end, summed.
    pub walk: Duration,
    /// Time of the merge, on one thread.
    pub merge: Duration,
    /// Time of the repair, on a few threads.
    pub repair: Duration,
    /// Frames whose unwind rule was in the cache.
    pub cache_hits: u64,
    /// Frames whose unwind rule had to be made.
    pub cache_misses: u64,
}

/// A replay under way: it is fed with the batches of a recording in their order.
///
/// The result is the same whatever the number of threads is: each slice of samples is interned by itself, and they are
/// merged in their order, so that ids are those of the first appearance wherever slices end.
pub struct Replayer<'r> {
    images: &'r ImageStore,
    options: &'r ReplayOptions,
    engine: Arc<Engine>,
    kept: Option<Arc<KeptRules>>,
    idle: Idle,
    pub(crate) planner: Planner<'r>,
    pub(crate) merged: Merged,
    timings: ReplayTimings,
    head: Option<Arc<Head>>,
    /// What was planned and is to be walked next.
    planned: Option<PlannedChunk>,
    /// The modules of what was walked.
    pub(crate) met: MetModules,
    /// What was walked and is to be repaired next.
    walked: Option<WalkedChunk>,
    /// What was walked and waits for its repair.
    pub(crate) window: Window,
    /// What was repaired and is to be merged next.
    repaired: Vec<RepairedSlice>,
    /// Whether that is merged in the turn in which it was repaired, for those who look at the tables after each turn.
    pub(crate) merges_at_once: bool,
    /// The modules that the plan knew when the turn began: it goes on beside the repair.
    modules: Vec<Arc<Module>>,
    memory: &'r Arc<Memory>,
    /// What the tables take.
    held: Held,
}

impl std::fmt::Debug for Replayer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replayer")
            .field("samples", &self.merged.profile.samples.len())
            .finish_non_exhaustive()
    }
}

impl<'r> Replayer<'r> {
    /// A replay that has seen nothing yet. `timeline` may have been given hints.
    #[must_use]
    pub fn new(
        timeline: &'r mut Timeline,
        images: &'r ImageStore,
        options: &'r ReplayOptions,
    ) -> Self {
        Self::with_engine(Arc::default(), timeline, images, options)
    }

    /// The same with the rules that other runs have made; [`Engine`] says when it can be shared.
    #[must_use]
    pub fn with_engine(
        engine: Arc<Engine>,
        timeline: &'r mut Timeline,
        images: &'r ImageStore,
        options: &'r ReplayOptions,
    ) -> Self {
        let memory = &images.options().memory;
        Self {
            images,
            options,
            engine,
            kept: None,
            idle: Idle::default(),
            planner: Planner::new(timeline, &options.filter, options.off_cpu, memory),
            merged: Merged::default(),
            timings: ReplayTimings::default(),
            head: None,
            planned: None,
            met: MetModules::default(),
            walked: None,
            window: Window::new(options.join, options.max_frames, options.tail_calls),
            repaired: Vec::new(),
            merges_at_once: false,
            modules: Vec::new(),
            memory,
            held: Held::new(memory, MemoryUse::Stacks),
        }
    }

    /// Rules are taken from those that are kept, and made ones are noted there.
    #[must_use]
    pub fn keeping(self, kept: Option<Arc<KeptRules>>) -> Self {
        Self { kept, ..self }
    }

    /// From now on chains are repaired batch by batch, for those who watch: a sample is done when the batch after its own
    /// is walked, whatever could be learned later. Batches that end at other places give other repairs then.
    pub const fn repair_by_batches(&mut self) {
        self.window.by_batches();
    }

    /// Replays a batch on the current thread pool. The last samples of it wait for the next batch, so that no thread
    /// is idle between them. Where more is held than may be ([`Memory::is_exceeded`]), the rest of it is not replayed.
    pub fn feed(&mut self, batch: Batch, observer: &dyn ReplayObserver) {
        let batch = self.begin(batch);
        let mut place = PlanPosition::start(&batch);
        while !place.is_at_end() {
            if observer.is_cancelled() || self.memory.is_exceeded() {
                break;
            }
            self.step(&batch, &mut place, CHUNK, observer);
        }
    }

    /// Takes in what a batch says apart from its samples.
    pub(crate) fn begin(&mut self, batch: Batch) -> Arc<Batch> {
        if !self.head.as_ref().is_some_and(|head| Arc::ptr_eq(head, batch.head())) {
            self.planner.learn(batch.head());
            self.head = Some(batch.head().clone());
        }
        if self.options.learn_files {
            timed(&mut self.timings.plan, || self.planner.learn_files(&batch));
        }
        Arc::new(batch)
    }

    /// Plans a chunk of a batch, beside the walk of the one before.
    pub(crate) fn step(
        &mut self,
        batch: &Arc<Batch>,
        place: &mut PlanPosition<'_>,
        limit: usize,
        observer: &dyn ReplayObserver,
    ) {
        if let Some(plan) = self.turn(Some(place), limit, observer) {
            let is_last = place.is_at_end();
            self.planned = Some(PlannedChunk { batch: Arc::clone(batch), plan, is_last });
        }
    }

    /// Whether samples are planned or walked that are not in the tables yet.
    pub(crate) const fn is_busy(&self) -> bool {
        self.planned.is_some() || self.walked.is_some() || !self.repaired.is_empty()
    }

    /// Whether a path led to one file after another, so that the build-id of the header's list is that of the last one.
    #[must_use]
    pub const fn saw_several_files(&self) -> bool {
        self.planner.saw_several_files()
    }

    /// One turn: plans what comes next, walks what was planned, repairs what was walked, and merges what was repaired, all
    /// beside each other.
    pub(crate) fn turn(
        &mut self,
        place: Option<&mut PlanPosition<'_>>,
        limit: usize,
        observer: &dyn ReplayObserver,
    ) -> Option<Plan> {
        self.learn_modules();
        let (planned, walked) = (self.planned.take(), self.walked.take());
        let before = std::mem::take(&mut self.repaired);
        let (images, options, timings) = (self.images, self.options, &mut self.timings);
        let (engine, kept) = (&*self.engine, self.kept.as_deref());
        let code = Code { engine, images, modules: &self.modules };
        let (idle, merged, held) = (&self.idle, &mut self.merged, &mut self.held);
        let mut merge = |slices: Vec<RepairedSlice>| {
            if !slices.is_empty() {
                timed(&mut timings.merge, || slices.iter().for_each(|it| merged.add(it)));
                held.set(merged.heap_bytes() as u64);
                observer.done(merged.profile.samples.len() as u64);
            }
        };
        let repair = || {
            let Some(WalkedChunk { slices, is_last }) = walked else { return Vec::new() };
            timed(&mut timings.repair, || {
                slices.into_iter().for_each(|slice| self.window.push(slice));
                self.window.ready_after(is_last, code)
            })
        };
        let plan = || place.map(|place| self.planner.next_chunk(place, limit));
        let walk = |chunk: PlannedChunk| chunk.walk(engine, kept, images, options, idle, observer);
        let plan_and_walk = || {
            rayon::join(
                || timed(&mut timings.plan, plan),
                || timed(&mut timings.walk, || planned.map(walk)),
            )
        };
        let repair_and_merge = || {
            if self.merges_at_once {
                merge(before);
                merge(repair());
                return Vec::new();
            }
            rayon::join(repair, || merge(before)).0
        };
        let ((next, walked), repaired) = rayon::join(plan_and_walk, repair_and_merge);
        let slices = walked.iter().flat_map(|chunk| &chunk.slices);
        slices.for_each(|slice| self.met.add(&slice.modules));
        (self.walked, self.repaired) = (walked, repaired);
        next.filter(|plan| !plan.samples.is_empty())
    }

    /// Takes over the modules that the plan has met since the last turn.
    fn learn_modules(&mut self) {
        let known = self.planner.timeline().modules();
        self.modules.extend_from_slice(known.get(self.modules.len()..).unwrap_or_default());
    }

    /// Repairs and merges what waits.
    pub(crate) fn flush(&mut self) {
        self.learn_modules();
        let Self { images, engine, merged, timings, window, modules, .. } = self;
        let code = Code { engine, images, modules };
        let (mut merging, mut both) = (Duration::ZERO, Duration::ZERO);
        let merge = |slice| timed(&mut merging, || merged.add(&slice));
        timed(&mut both, || window.finish(code, merge));
        timings.merge += merging;
        timings.repair += both.saturating_sub(merging);
        self.held.set(merged.heap_bytes() as u64);
    }

    /// What came of all batches.
    #[must_use]
    pub fn finish(mut self, observer: &dyn ReplayObserver) -> Replay {
        while self.is_busy() {
            self.turn(None, CHUNK, observer);
        }
        self.flush();
        let Self { planner, merged, mut timings, held, idle, window, .. } = self;
        timings.cache_hits = merged.cache_hits;
        timings.cache_misses = merged.cache_misses;
        let mut profile = merged.profile;
        profile.summary.findings.extend(too_many_places(merged.unplaced));
        let limits = idle.limits(window.into_exhausted());
        profile.summary.names_lost |= !limits.is_empty();
        profile.summary.findings.extend(limits);
        profile.summary.samples = profile.samples.len() as u64;
        profile.summary.samples_filtered = planner.filtered;
        profile.summary.samples_dropped = merged.undecoded;
        let missed_maps = MissedMaps { late: merged.late_maps, shared: merged.shared_memory };
        let left_out = planner.left_out.clone();
        let (threads, off_cpu) = planner.into_parts();
        Replay { profile, threads, missed_maps, left_out, off_cpu, timings, held }
    }
}

/// Frames of modules that lie at more places of a process than can be told apart.
fn too_many_places(frames: u64) -> Option<FindingRow> {
    (frames > 0).then(|| FindingRow {
        kind: "limit-reached".to_owned(),
        message: "a module is mapped at more than 256 addresses of a process; frames at the others have no module or name"
            .to_owned(),
        count: frames, help: None, })
}

/// Adds the time that `f` takes.
fn timed<T>(total: &mut Duration, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    *total += start.elapsed();
    result
}
