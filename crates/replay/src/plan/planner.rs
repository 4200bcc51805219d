//! The plan: records move the timeline in time order;
//! each accepted sample gets the space of its process at that moment.
//!
//! The clocks of processors differ: a sample can precede the record of a map that it needs.
//! A sample therefore also gets a slightly later space, for addresses that were unmapped at its own time.

use std::sync::Arc;

use address::{ById as _, Pid, Timestamp};
use budget::{HeldMemory, MemoryBudget, MemoryUse};
use module_map::{CgroupId, JitReader, Module, Timeline};
use options::{LabelOptions, SampleFilter, SpanOptions, matches_pattern};
use perf_data::{Batch, Head, Record, RecordEntry, SampleEntry, TimedRecord};

use crate::plan::apply::{
    apply, apply_known_map, apply_map, apply_new_map, learn_build_ids, learn_files,
};
use crate::plan::filter::{RejectedSamples, ResolvedFilter, has_cgroups};
use crate::plan::history::History;
use crate::plan::history::value_filter::ValueFilter;
use crate::plan::kernel_frames::guest_kind;
use crate::plan::look_ahead::DecodedRecord;
use crate::plan::off_cpu::{OffCpu, OffCpuTimes};
use crate::plan::planned::{Plan, PlannedSample};
use crate::plan::position::PlanPosition;
use crate::plan::spaces::{ChunkSpaces, LaterSpace};
use crate::plan::threads::{Thread, Threads};
use crate::plan::without_switches::{
    RecordedThread, ThreadWithoutSwitches, ThreadsWithoutSwitches,
};

/// Longest delay of a map's record after a sample that needs the map, in nanoseconds.
/// It exceeds the skew between processors, and is too short to matter to a reader.
const SKEW: u64 = 10_000_000;
/// Number of samples before such a record that are updated.
const SKEWED: usize = 64;
/// Size of the table of last sample times; processes share its entries.
const SAMPLED: usize = 512;

/// Entry of a process in the table of last sample times.
const fn slot_of(pid: Pid) -> usize {
    pid.0 as usize % SAMPLED
}

/// Time of the last sample of each process.
type LastSampleTimes = [Timestamp; SAMPLED];

/// Returns true if a sample of the process may have been planned within [`SKEW`] before `now`.
#[inline]
fn was_sampled(sampled: &LastSampleTimes, pid: Pid, now: Timestamp) -> bool {
    sampled[slot_of(pid)].0 >= now.0.saturating_sub(SKEW)
}

/// Moves the timeline over a row of maps of one process.
/// Returns false, without any effect, if samples shortly before may need them:
/// then each map must be applied separately.
#[inline]
fn apply_row(
    timeline: &mut Timeline,
    sampled: &LastSampleTimes,
    row: &[DecodedRecord],
    entries: &[RecordEntry],
) -> bool {
    let (Some(first), Some(last)) = (row.first(), entries.last()) else { return false };
    let Some(first_map) = first.map else { return false };
    let pid = first_map.pid();
    let code = entries.get(first.first_code());
    // Later ones are further from the samples.
    if code.is_some_and(|code| was_sampled(sampled, pid, code.time)) {
        return false;
    }
    // All records of a row are maps.
    let map = |read: &DecodedRecord| read.map.unwrap_or(first_map);
    timeline.map_all_cached(last.time, pid, row.iter().map(map))
}

/// The state of the plan.
pub(crate) struct Planner<'r> {
    timeline: &'r mut Timeline,
    filter: &'r ResolvedFilter,
    threads: Threads,
    /// Time of the last planned sample, by the processes' entries.
    sampled: Box<LastSampleTimes>,
    pub(crate) filtered: u64,
    pub(crate) rejected: RejectedSamples,
    memory: Arc<MemoryBudget>,
    /// Memory accounted for the tables.
    held: HeldMemory,
    /// True if samples of some event have a control group.
    has_cgroups: bool,
    /// Times off the processor, if requested.
    off_cpu: Option<OffCpu>,
    /// Labels and spans, if requested.
    history: Option<History>,
    values: ValueFilter,
}

impl<'r> Planner<'r> {
    pub(crate) fn new(
        timeline: &'r mut Timeline,
        filter: &'r ResolvedFilter,
        off_cpu: bool,
        (labels, spans): (&LabelOptions, &SpanOptions),
        memory: &Arc<MemoryBudget>,
    ) -> Self {
        Self {
            timeline,
            filter,
            threads: Threads::new(),
            sampled: Box::new([Timestamp(0); SAMPLED]),
            filtered: 0,
            rejected: RejectedSamples::default(),
            memory: Arc::clone(memory),
            held: HeldMemory::new(memory, MemoryUse::Processes),
            has_cgroups: false,
            off_cpu: off_cpu.then(OffCpu::default),
            history: History::new(labels, spans),
            values: ValueFilter::default(),
        }
    }

    /// Accounts the memory of the tables.
    fn count(&mut self) {
        let bytes = self.heap_bytes();
        self.held.set(bytes as u64);
    }

    /// Reads the build-ids and events of the recording's head.
    pub(crate) fn learn(&mut self, head: &Head) {
        learn_build_ids(self.timeline, head);
        self.has_cgroups = has_cgroups(head);
        if let Some(off_cpu) = &mut self.off_cpu {
            off_cpu.learn(head);
        }
        if let Some(history) = &mut self.history {
            history.learn(head);
        }
        let labels = self.history.as_ref().and_then(|it| it.labels.as_ref());
        self.values = ValueFilter::new(&self.filter.options.conditions, labels, head);
    }

    /// Reads the files that the paths of a batch lead to.
    pub(crate) fn learn_files(&mut self, batch: &Batch) {
        learn_files(self.timeline, batch);
    }

    /// Returns true if a path led to several files in turn.
    pub(crate) const fn saw_several_files(&self) -> bool {
        self.timeline.saw_several_files()
    }

    /// Plans up to `limit` samples that pass the filter: fewer at the end of the batch, none after it.
    #[inline(never)] // A stage of its own in profiles.
    pub(crate) fn next_chunk(&mut self, position: &mut PlanPosition<'_>, limit: usize) -> Plan {
        let mut chunk = Vec::with_capacity(limit.min(position.samples.len()));
        let mut spaces = ChunkSpaces::new();
        while chunk.len() < limit {
            let Some(entry) = position.samples.next() else {
                self.apply_before(None, position, &mut chunk);
                break;
            };
            self.apply_before(Some(entry), position, &mut chunk);
            self.timeline.advance(entry.time);
            let comm = self.timeline.comm_of(entry.pid, entry.tid);
            let process = self.timeline.process_name(entry.pid, comm);
            let cgroup = self.cgroup(entry, position.batch);
            let thread = Thread { pid: entry.pid, tid: entry.tid, comm, process, cgroup };
            let cpu = self.filter.cpu(entry, position.batch);
            let needs_values = self.history.is_some() || !self.values.is_empty();
            let sample = if needs_values { position.batch.sample(entry).ok() } else { None };
            let history = self.history.as_mut();
            let labels = history.and_then(|it| it.sample(entry, sample.as_ref()));
            let wanted = self.filter.wants(entry, || self.has_accepted_names(thread))
                && self.filter.wants_cpu(cpu)
                && self.values.passes(sample.as_ref(), labels.as_ref());
            let index = wanted.then(|| self.threads.index(thread));
            if let Some(off_cpu) = &mut self.off_cpu {
                off_cpu.sample(entry, position.batch, index);
            }
            let Some(index) = index else {
                self.filtered += 1;
                self.rejected.add(entry, thread);
                self.rejected.cpus.extend(cpu);
                continue;
            };
            if let Some(kind) = guest_kind(entry.cpu_mode()) {
                self.timeline.sampled_guest(kind);
            }
            let guest = self.timeline.guest(entry.pid);
            let kernel = spaces.of_kernel(self.timeline.kernel_space(), guest);
            let current = self.timeline.current(entry.pid);
            let (process_image, has_relatives) = (current.image, current.has_relatives);
            let space = spaces.of_process(entry.pid, current.space);
            self.sampled[slot_of(entry.pid)] = entry.time;
            let owner = self.threads.owner(process_image, entry.tid);
            let related =
                if has_relatives { self.timeline.related_spaces(entry.pid) } else { Vec::new() };
            chunk.push(PlannedSample {
                entry: *entry,
                space,
                kernel,
                process_image,
                later: None,
                related,
                thread: index,
                owner,
                labels,
            });
        }
        if let next @ Some(_) = position.samples.as_slice().first() {
            self.apply_before(next, position, &mut chunk);
        }
        self.count();
        Plan { samples: chunk, spaces: spaces.all }
    }

    /// Moves the timeline over the records before a sample or, without a sample, over the remaining ones.
    #[inline]
    fn apply_before(
        &mut self,
        sample: Option<&SampleEntry>,
        position: &mut PlanPosition<'_>,
        chunk: &mut [PlannedSample],
    ) {
        let batch = position.batch;
        loop {
            let (entries, row) = position.row_before(sample, self.timeline.cached_names());
            let Some(entry) = entries.first() else { break };
            let n_done = if self.memory.is_exceeded() {
                // The run ends after this chunk, so the records are skipped.
                entries.len()
            } else if let Some(read) = row.maps.first() {
                if apply_row(self.timeline, &self.sampled, row.maps, entries) {
                    entries.len()
                } else {
                    self.apply_known(entry, *read, chunk);
                    1
                }
            } else {
                self.apply_other(entry, row.other, batch, chunk);
                1
            };
            position.skip(n_done);
        }
    }

    /// Applies a map, and gives the resulting space to samples shortly before it.
    fn apply_known(
        &mut self,
        entry: &RecordEntry,
        read: DecodedRecord,
        chunk: &mut [PlannedSample],
    ) {
        let Some(map) = read.map else { return };
        self.timeline.advance(entry.time);
        self.timeline.map_cached(&map);
        if read.executable {
            self.update_recent(entry.time, map.pid(), chunk);
        }
    }

    /// Applies another record, and gives the resulting space to samples shortly before it.
    fn apply_other(
        &mut self,
        entry: &RecordEntry,
        record: Option<&TimedRecord<'_>>,
        batch: &Batch,
        chunk: &mut [PlannedSample],
    ) {
        let pid = match record {
            Some(record) => self.apply_record(record),
            None => match self.apply_map(entry, batch) {
                Some(pid) => pid,
                // Listed records were decodable earlier; if the mapped file changed since, its bytes are lost.
                None => return,
            },
        };
        if let Some(pid) = pid {
            self.update_recent(entry.time, pid, chunk);
        }
    }

    /// Returns the control group of a sample. Few recordings have any, so samples are decoded a second time for it.
    #[inline]
    fn cgroup(&self, entry: &SampleEntry, batch: &Batch) -> Option<CgroupId> {
        if !self.has_cgroups {
            return None;
        }
        batch.sample(entry).ok()?.cgroup.map(CgroupId)
    }

    /// Returns true if the names of a thread and of its control group pass the filter.
    fn has_accepted_names(&self, thread: Thread) -> bool {
        let SampleFilter { comms, cgroups, .. } = &self.filter.options;
        let fits = |patterns: &[Vec<u8>], name: &[u8]| {
            patterns.iter().any(|wanted| matches_pattern(wanted, name))
        };
        let in_cgroup = || {
            let path = thread.cgroup.map(|cgroup| self.timeline.cgroup_path(cgroup));
            path.is_some_and(|path| fits(cgroups, &path))
        };
        (comms.is_empty() || fits(comms, self.timeline.comm_name(thread.comm)))
            && (cgroups.is_empty() || in_cgroup())
    }

    /// Moves the timeline over a decoded record.
    /// Returns the process if samples shortly before may need its changed space.
    fn apply_record(&mut self, record: &TimedRecord<'_>) -> Option<Pid> {
        apply(self.timeline, record);
        if let Some(off_cpu) = &mut self.off_cpu {
            off_cpu.record(record);
        }
        if let Some(history) = &mut self.history {
            history.record(record);
        }
        if let Record::Fork(task) = &record.record
            && !task.synthesized
        {
            self.threads.born(task.tid);
        }
        match &record.record {
            Record::Mmap(map) if map.executable => Some(map.pid),
            Record::Fork(task) if task.pid != task.ppid && !task.synthesized => Some(task.pid),
            _ => None,
        }
    }

    /// Moves the timeline over a record if it is a map; returns its process if the map is executable.
    fn apply_map(&mut self, entry: &RecordEntry, batch: &Batch) -> Option<Option<Pid>> {
        let Some(named) = batch.named_map(entry.position) else {
            let map = batch.map(entry.position)?;
            self.timeline.advance(entry.time);
            apply_map(self.timeline, &map);
            return Some(Some(map.pid).filter(|_| map.executable));
        };
        self.timeline.advance(entry.time);
        if !apply_known_map(self.timeline, &named) {
            apply_new_map(self.timeline, &named, &batch.map(entry.position)?);
        }
        Some(Some(named.pid).filter(|_| named.is_executable()))
    }

    /// Gives the current space of a process to its samples from shortly before `now`.
    fn update_recent(&mut self, now: Timestamp, pid: Pid, chunk: &mut [PlannedSample]) {
        if !was_sampled(&self.sampled, pid, now) {
            return;
        }
        let earliest = Timestamp(now.0.saturating_sub(SKEW));
        let recent = chunk.iter_mut().rev().take(SKEWED);
        let recent = recent.take_while(|planned| planned.entry.time >= earliest);
        let mut space = None;
        for planned in recent.filter(|planned| planned.entry.pid == pid) {
            let space = space.get_or_insert_with(|| {
                let current = self.timeline.current(pid);
                LaterSpace { space: current.space.clone(), process_image: current.image }
            });
            planned.later = Some(space.clone());
        }
    }

    /// Forgets the threads. No planned sample may be waiting.
    pub(crate) fn reset(&mut self) {
        self.threads = Threads::new();
    }

    /// Forgets the modules and files that no process maps. Modules get new ids.
    pub(crate) fn renew(&mut self) {
        self.timeline.renew();
    }

    /// Modules of JIT dumps.
    pub(crate) fn jit_modules(&self) -> impl Iterator<Item = &Module> {
        let modules = self.timeline.modules();
        self.timeline.jit_modules().filter_map(|id| Some(&**modules.by_id(id)?))
    }

    /// Sets the reader of JIT dumps.
    pub(crate) fn read_jit_with(&mut self, reader: Box<dyn JitReader>) {
        self.timeline.read_jit_with(reader);
    }

    /// Labels and spans, if requested.
    pub(crate) const fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// Size of the state of threads, of their history and times off the processor, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.threads.heap_bytes()
            + self.off_cpu.as_ref().map_or(0, OffCpu::heap_bytes)
            + self.history.as_ref().map_or(0, History::heap_bytes)
    }

    /// The timeline as moved by the plan.
    pub(crate) const fn timeline(&self) -> &Timeline {
        self.timeline
    }

    /// Threads of the planned samples.
    pub(crate) fn threads(&self) -> &[Thread] {
        self.threads.all()
    }

    /// Returns the threads of the planned samples, and their times off the processor if requested.
    pub(crate) fn into_parts(mut self) -> (Vec<Thread>, Option<OffCpuTimes>) {
        let off_cpu = self.off_cpu.take().map(|off_cpu| {
            let (mut times, without_switches) = off_cpu.finish();
            self.add_without_switches(without_switches, &mut times);
            times
        });
        (self.threads.into_all(), off_cpu)
    }

    /// Adds the threads without a switch that pass the filter, limited to the filter's time range.
    fn add_without_switches(
        &mut self,
        without_switches: ThreadsWithoutSwitches,
        times: &mut OffCpuTimes,
    ) {
        if !self.filter.options.conditions.is_empty() {
            // These threads have no sample with a value.
            return;
        }
        for (life, state, first, last) in without_switches.finish() {
            let RecordedThread { pid, tid, .. } = life;
            let comm = self.timeline.comm_of(pid, tid);
            let process = self.timeline.process_name(pid, comm);
            let thread = Thread { pid, tid, comm, process, cgroup: None };
            if !self.filter.wants_thread(pid, tid, || self.has_accepted_names(thread)) {
                continue;
            }
            let since = self.filter.from.map_or(first, |from| from.max(first));
            let until = self.filter.to.map_or(last, |to| to.min(last));
            let duration = until.0.saturating_sub(since.0);
            if last == Timestamp(0) {
                times.timeless += 1;
            } else if duration > 0 {
                let thread = self.threads.index(thread);
                times.without_switches.push(ThreadWithoutSwitches {
                    thread,
                    state,
                    since,
                    duration,
                });
            }
        }
    }
}
