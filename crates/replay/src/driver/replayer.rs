//! The driver: up to four chunks are in the stages plan, walk, repair and merge at a time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use budget::{Exhausted, HeldMemory, MemoryBudget, MemoryUse};
use image_store::ImageStore;
use module_map::{Module, Timeline};
use perf_data::{Batch, Head, SelectedFields};
use profile::Profile;
use unwinder::{Engine, StoredRules};

use crate::driver::chunk::{CHUNK, IdleCaches, PlannedChunk, WalkedChunk};
use crate::driver::findings::{
    dropped_stacks, evidence_ignored, missing_fields, too_many_addresses, too_many_fields,
    unsupported_texts,
};
use crate::driver::history::HistoryCounts;
use crate::driver::merge::MergedTables;
use crate::join::CodeContext;
use crate::plan::filter::{RejectedSamples, ResolvedFilter};
use crate::plan::off_cpu::OffCpuTimes;
use crate::plan::planned::Plan;
use crate::plan::planner::Planner;
use crate::plan::position::PlanPosition;
use crate::plan::threads::Thread;
use crate::repair::repaired::RepairedSlice;
use crate::repair::window::Window;
use crate::slice::evidence::UnwoundChains;
use crate::slice::observed_modules::ObservedModules;
use crate::slice::related::SharedMemory;
use crate::variables::RequestedVariables;

/// How far truncated chains are completed.
pub use options::{FieldSelection, Join, LabelOptions, SpanOptions};

/// Options of a replay.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// Filter of the samples.
    pub filter: ResolvedFilter,
    /// Maximum number of user frames per sample.
    pub max_frames: usize,
    /// True if each batch is scanned first for paths that lead to several files in turn.
    /// The scan is one pass over its records; [`Replayer::saw_several_files`] returns whether a recording needs it.
    pub learn_files: bool,
    /// How truncated chains are completed.
    pub join: Join,
    /// True if the frames that tail calls removed are searched for.
    pub tail_calls: bool,
    /// Fields of samples that become columns.
    pub fields: FieldSelection,
    /// True if samples of tracepoints and probes get the text that the kernel prints for them.
    pub trace_text: bool,
    /// True if samples get their recent branches.
    pub branches: bool,
    /// Labels of samples, which become the first columns.
    pub labels: LabelOptions,
    /// Spans, and the samples inside them that are wanted.
    pub spans: SpanOptions,
    /// Requested variables of functions, which become the columns after those of labels.
    pub variables: Option<Arc<RequestedVariables>>,
    /// Key of the hashes that replace values.
    pub redact: Option<String>,
    /// Pattern of the field, or name of the spans, that are the weight of samples; samples without it are omitted.
    pub weight_field: Option<String>,
    /// True if times off the processor are computed; the batches must contain the records of context switches.
    pub off_cpu: bool,
}

/// A replayed recording.
#[derive(Debug)]
pub struct Replay {
    /// Locations without names, frames, stacks, layouts and samples.
    /// The other tables are empty; the summary counts samples, frames and the stack that chains need.
    pub profile: Profile,
    /// The threads of [`Profile::threads`], in order of first appearance.
    pub threads: Vec<Thread>,
    /// Samples that needed a map which their process did not have when they were taken.
    pub missed_maps: MissedMaps,
    /// Threads, events, processors and times of the samples that the filter rejected.
    pub rejected: RejectedSamples,
    /// Times off the processor, if [`ReplayOptions::off_cpu`] is set.
    pub off_cpu: Option<OffCpuTimes>,
    /// Numbers of events without a label or span.
    pub history: HistoryCounts,
    /// Timings of the stages.
    pub timings: ReplayTimings,
    /// Memory accounted for the tables while the run lasts.
    pub held: HeldMemory,
}

/// Samples that needed a map which their process did not have when they were taken.
#[derive(Debug, Default)]
pub struct MissedMaps {
    /// Samples that needed a map that was recorded shortly after them.
    pub late: u64,
    /// Samples that needed a map of a process that shares the memory.
    pub shared: SharedMemory,
}

/// The observer of a replay.
pub trait ReplayObserver: Sync {
    /// Called after each merge with the total number of merged samples.
    fn done(&self, _samples: u64) {}

    /// Called by walking threads: the samples in this range of positions are walked,
    /// and their bytes are not read again.
    /// The samples are consecutive in time; the range may contain positions of other samples.
    fn walked(&self, _positions: Range<u64>) {}

    /// Returns true if the run is cancelled; samples that are not walked yet are then missing from the result.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl ReplayObserver for NoObserver {}

/// Timings of a replay. Plan, repair and merge run concurrently with the walk of another chunk.
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
    /// Frames with a cached unwind rule.
    pub cache_hits: u64,
    /// Frames without a cached unwind rule.
    pub cache_misses: u64,
}

/// A replay in progress, fed with the batches of a recording in order.
///
/// The result does not depend on the number of threads:
/// each slice is interned separately and slices are merged in order.
/// Ids therefore follow first appearance, independently of slice boundaries.
pub struct Replayer<'r> {
    pub(crate) images: Arc<ImageStore>,
    pub(super) options: &'r ReplayOptions,
    pub(crate) engine: Arc<Engine>,
    stored_rules: Option<Arc<StoredRules>>,
    pub(crate) idle: IdleCaches,
    pub(crate) planner: Planner<'r>,
    pub(crate) merged: MergedTables,
    timings: ReplayTimings,
    pub(super) head: Option<Arc<Head>>,
    /// Evidence for callchains that were unwound before.
    unwound: Option<Arc<UnwoundChains>>,
    /// The requested fields that the heads so far have.
    pub(crate) fields: Option<Arc<SelectedFields>>,
    /// Planned, to be walked in the next turn.
    planned: Option<PlannedChunk>,
    /// Modules with frames, in the order of the walk.
    pub(crate) observed_modules: ObservedModules,
    /// Walked, to be repaired in the next turn.
    walked: Option<WalkedChunk>,
    /// Walked samples that need later ones for their repair.
    pub(crate) window: Window,
    /// True if the stacks of the next samples are not walked.
    pub(super) drops_stacks: bool,
    /// Repaired, to be merged in the next turn.
    repaired: Vec<RepairedSlice>,
    /// True if slices are merged in the turn that repaired them, so that the tables are current after each turn.
    pub(crate) merges_at_once: bool,
    /// Modules that the plan knew when the turn began; the plan adds more while the repair runs.
    pub(crate) modules: Vec<Arc<Module>>,
    memory: Arc<MemoryBudget>,
    /// Memory accounted for the tables.
    held: HeldMemory,
    /// Files that exhausted the budget of a worker, of earlier generations of images.
    pub(crate) exhausted: BTreeMap<PathBuf, Exhausted>,
}

impl std::fmt::Debug for Replayer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replayer")
            .field("samples", &self.merged.profile.samples.len())
            .finish_non_exhaustive()
    }
}

impl<'r> Replayer<'r> {
    /// Creates an empty replay. `timeline` may already have hints.
    #[must_use]
    pub fn new(
        timeline: &'r mut Timeline,
        images: &Arc<ImageStore>,
        options: &'r ReplayOptions,
    ) -> Self {
        Self::with_engine(Arc::default(), timeline, images, options)
    }

    /// Creates a replay with the rules of other runs; [`Engine`] documents when it can be shared.
    #[must_use]
    pub fn with_engine(
        engine: Arc<Engine>,
        timeline: &'r mut Timeline,
        images: &Arc<ImageStore>,
        options: &'r ReplayOptions,
    ) -> Self {
        let memory = Arc::clone(&images.options().memory);
        let held = HeldMemory::new(&memory, MemoryUse::Stacks);
        Self {
            images: Arc::clone(images),
            options,
            engine,
            stored_rules: None,
            idle: IdleCaches::default(),
            planner: Planner::new(
                timeline,
                &options.filter,
                options.off_cpu,
                (&options.labels, &options.spans),
                &memory,
            ),
            merged: MergedTables::new(options.redact.as_deref()),
            timings: ReplayTimings::default(),
            head: None,
            unwound: None,
            fields: None,
            planned: None,
            observed_modules: ObservedModules::default(),
            walked: None,
            window: Window::new(options.join, options.max_frames, options.tail_calls),
            drops_stacks: false,
            repaired: Vec::new(),
            merges_at_once: false,
            modules: Vec::new(),
            memory,
            held,
            exhausted: BTreeMap::new(),
        }
    }

    /// Takes unwind rules from `stored_rules` if it has them, and records new ones there.
    #[must_use]
    pub fn with_stored_rules(self, stored_rules: Option<Arc<StoredRules>>) -> Self {
        Self { stored_rules, ..self }
    }

    /// Repairs chains batch by batch from now on, for live output: a sample is complete once the next batch is walked.
    /// Different batch boundaries then give different repairs.
    pub const fn repair_by_batches(&mut self) {
        self.window.by_batches();
    }

    /// Replays a batch on the current thread pool.
    /// The batch's last samples wait for the next batch, so that no thread is idle in between.
    /// Once the memory limit is exceeded ([`MemoryBudget::is_exceeded`]), the rest is not replayed.
    pub fn feed(&mut self, batch: Batch, observer: &dyn ReplayObserver) {
        let batch = self.begin(batch);
        let mut position = PlanPosition::start(&batch);
        while !position.is_at_end() {
            if observer.is_cancelled() || self.memory.is_exceeded() {
                break;
            }
            self.step(&batch, &mut position, CHUNK, observer);
        }
    }

    /// Applies the head of a batch and, if requested, the files of its paths.
    pub(crate) fn begin(&mut self, batch: Batch) -> Arc<Batch> {
        if !self.head.as_ref().is_some_and(|head| Arc::ptr_eq(head, batch.head())) {
            self.planner.learn(batch.head());
            // A file states its evidence before its first record; later heads are those of a stream.
            if let (None, Some(section)) = (&self.head, batch.head().chain_evidence()) {
                self.learn_evidence(section);
            }
            if self.head.is_none() {
                self.add_labels();
            }
            self.learn_fields(batch.head());
            self.head = Some(batch.head().clone());
        }
        if self.options.learn_files {
            timed(&mut self.timings.plan, || self.planner.learn_files(&batch));
        }
        Arc::new(batch)
    }

    /// Reads the evidence for callchains that were unwound before.
    fn learn_evidence(&mut self, section: &[u8]) {
        self.unwound = UnwoundChains::read(section, &self.memory).map(Arc::new);
        match self.unwound {
            Some(_) => self.window.without_repair(),
            None => self.merged.profile.summary.findings.push(evidence_ignored()),
        }
    }

    /// Plans a chunk of a batch while the previous chunk is walked.
    pub(crate) fn step(
        &mut self,
        batch: &Arc<Batch>,
        position: &mut PlanPosition<'_>,
        limit: usize,
        observer: &dyn ReplayObserver,
    ) {
        if let Some(plan) = self.turn(Some(position), limit, observer) {
            let is_last = position.is_at_end();
            let (batch, unwound) = (Arc::clone(batch), self.unwound.clone());
            let fields = self.fields.clone();
            let drops_stacks = self.drops_stacks;
            self.planned =
                Some(PlannedChunk { batch, plan, unwound, fields, drops_stacks, is_last });
        }
    }

    /// Returns true if planned, walked or repaired samples are not yet in the tables.
    pub(crate) const fn is_busy(&self) -> bool {
        self.planned.is_some() || self.walked.is_some() || !self.repaired.is_empty()
    }

    /// Returns true if a path led to several files in turn, so that the header's build-id is that of the last one.
    #[must_use]
    pub const fn saw_several_files(&self) -> bool {
        self.planner.saw_several_files()
    }

    /// One turn: plans the next chunk, walks the planned one,
    /// repairs the walked one and merges the repaired one, concurrently.
    pub(crate) fn turn(
        &mut self,
        position: Option<&mut PlanPosition<'_>>,
        limit: usize,
        observer: &dyn ReplayObserver,
    ) -> Option<Plan> {
        self.learn_modules();
        let (planned, walked) = (self.planned.take(), self.walked.take());
        let before = std::mem::take(&mut self.repaired);
        let (images, options, timings) = (&*self.images, self.options, &mut self.timings);
        let (engine, stored_rules) = (&*self.engine, self.stored_rules.as_deref());
        let code = CodeContext { engine, images, modules: &self.modules };
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
        let plan = || position.map(|position| self.planner.next_chunk(position, limit));
        let walk =
            |chunk: PlannedChunk| chunk.walk(engine, stored_rules, images, options, idle, observer);
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
        slices.for_each(|slice| self.observed_modules.add(&slice.modules));
        (self.walked, self.repaired) = (walked, repaired);
        next.filter(|plan| !plan.samples.is_empty())
    }

    /// Copies the modules that the plan has added since the last turn.
    fn learn_modules(&mut self) {
        let known = self.planner.timeline().modules();
        self.modules.extend_from_slice(known.get(self.modules.len()..).unwrap_or_default());
    }

    /// Repairs and merges the waiting samples. Calls `passes_run` once no pass over them waits for a thread.
    pub(crate) fn flush(&mut self, passes_run: &(dyn Fn() + Sync)) {
        self.learn_modules();
        let Self { images, engine, merged, timings, window, modules, .. } = self;
        let code = CodeContext { engine, images, modules };
        let (mut merging, mut both) = (Duration::ZERO, Duration::ZERO);
        let merge = |slice| timed(&mut merging, || merged.add(&slice));
        timed(&mut both, || window.finish(code, passes_run, merge));
        timings.merge += merging;
        timings.repair += both.saturating_sub(merging);
        self.held.set(merged.heap_bytes() as u64);
    }

    /// Completes all samples and returns the result.
    #[must_use]
    pub fn finish(mut self, observer: &dyn ReplayObserver) -> Replay {
        while self.is_busy() {
            self.turn(None, CHUNK, observer);
        }
        self.flush(&|| ());
        let history = self.finish_history();
        let Self {
            planner, merged, mut timings, held, idle, window, fields, mut exhausted, ..
        } = self;
        timings.cache_hits = merged.cache_hits;
        timings.cache_misses = merged.cache_misses;
        let mut profile = merged.profile;
        profile.summary.findings.extend(too_many_addresses(merged.unplaced));
        profile.summary.findings.extend(missing_fields(merged.missing_fields));
        profile.summary.findings.extend(dropped_stacks(merged.dropped_stacks));
        let unsupported = fields.as_ref().map_or(0, |fields| fields.texts().unsupported());
        profile.summary.findings.extend(unsupported_texts(unsupported));
        let omitted = fields.map_or(0, |fields| fields.omitted());
        profile.summary.findings.extend(too_many_fields(omitted));
        exhausted.extend(window.into_exhausted());
        let limits = idle.limits(exhausted);
        profile.summary.names_lost |= !limits.is_empty();
        profile.summary.findings.extend(limits);
        profile.summary.samples = profile.samples.len() as u64;
        profile.summary.samples_filtered = planner.filtered;
        profile.summary.samples_dropped = merged.undecoded;
        let missed_maps = MissedMaps { late: merged.late_maps, shared: merged.shared_memory };
        let rejected = planner.rejected.clone();
        let (threads, off_cpu) = planner.into_parts();
        Replay { profile, threads, missed_maps, rejected, off_cpu, history, timings, held }
    }
}

/// Runs `f` and adds its duration to `total`.
fn timed<T>(total: &mut Duration, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    *total += start.elapsed();
    result
}
