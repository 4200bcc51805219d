//! The plan: records in time order move the timeline on; each sample that passes the filter is given the space of its
//! process as it is at that moment.
//!
//! Processors' clocks differ: a sample can come before the record of a map that its stack is in. A sample is given the
//! space of shortly afterwards, too, for addresses at which nothing was mapped by then.

use std::sync::Arc;

use address::{Pid, Tid, Timestamp};
use budget::{Held, Memory, MemoryUse};
use hashbrown::HashMap;
use module_map::{CgroupId, CommId, ProcessImage, Space, Timeline};
use perf_data::{Batch, Head, Record, RecordEntry, SampleEntry, SampleType};

use crate::repair::StackOwner;
use crate::replay::apply::{
    apply, apply_known_map, apply_map, apply_new_map, learn_build_ids, learn_files,
};
use crate::replay::filter::{Filter, LeftOut, matches_pattern};
use crate::replay::off_cpu::{OffCpu, OffCpuTimes};

/// A thread under one name, in one control group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// Its process.
    pub pid: Pid,
    /// Its id.
    pub tid: Tid,
    /// Its name at the time; [`Timeline::comm_name`] has the bytes.
    pub comm: CommId,
    /// Its control group at the time, where that was recorded; [`Timeline::cgroup_path`] has its path.
    pub cgroup: Option<CgroupId>,
}

/// A sample and what it needs for its walk.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) entry: SampleEntry,
    /// Its spaces, by their places among those of its chunk.
    pub(crate) space: u32,
    pub(crate) kernel: u32,
    pub(crate) process_image: ProcessImage,
    /// The space that records of shortly afterwards made, and whose it is.
    pub(crate) later: Option<(Arc<Space>, ProcessImage)>,
    pub(crate) thread: u32,
    /// Whose stack it is.
    pub(crate) owner: StackOwner,
}

/// A chunk of samples, and the spaces that they need.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) samples: Vec<Planned>,
    pub(crate) spaces: Vec<Arc<Space>>,
}

/// The spaces of a chunk. Samples that follow each other have the same ones as a rule, so each is held once.
struct Spaces {
    all: Vec<Arc<Space>>,
    /// Of some processes, the index of their last; after them that of the kernel.
    last: [u32; LAST + 1],
}

/// How many indexes are kept.
const LAST: usize = 64;

impl Spaces {
    const fn new() -> Self {
        Self { all: Vec::new(), last: [0; LAST + 1] }
    }

    /// The index of the space of a process.
    fn of_process(&mut self, pid: Pid, space: &Arc<Space>) -> u32 {
        self.index(pid.0 as usize % LAST, space)
    }

    /// The index of the space of the kernel.
    fn of_kernel(&mut self, space: &Arc<Space>) -> u32 {
        self.index(LAST, space)
    }

    #[inline]
    fn index(&mut self, at: usize, space: &Arc<Space>) -> u32 {
        let last = &mut self.last[at];
        if self.all.get(*last as usize).is_none_or(|known| !Arc::ptr_eq(known, space)) {
            *last = self.all.len() as u32;
            self.all.push(space.clone());
        }
        *last
    }
}

/// How much later than a sample the record of a map may come that was there before it, in nanoseconds: more than clocks
/// of processors are apart, less than it takes to notice.
const SKEW: u64 = 10_000_000;
/// How many samples before such a record are looked at.
const SKEWED: usize = 64;

/// The state of the plan.
pub(crate) struct Planner<'r> {
    timeline: &'r mut Timeline,
    filter: &'r Filter,
    threads: Vec<Thread>,
    thread_index: HashMap<Thread, u32>,
    /// The stacks: a thread, by what process image it is of and how often its id was given anew.
    owners: HashMap<(ProcessImage, Tid, u32), StackOwner>,
    /// How often the id of a thread was given to a new one.
    births: HashMap<Tid, u32>,
    pub(crate) filtered: u64,
    pub(crate) left_out: LeftOut,
    memory: &'r Arc<Memory>,
    /// What its tables take.
    held: Held,
    /// Whether samples of any event have a control group.
    has_cgroups: bool,
    /// Times off the processor, where they are wanted.
    off_cpu: Option<OffCpu>,
}

/// How far the plan has come in a batch.
pub(crate) struct PlanPosition<'b> {
    batch: &'b Batch,
    records: std::slice::Iter<'b, RecordEntry>,
    samples: std::slice::Iter<'b, SampleEntry>,
}

impl<'b> PlanPosition<'b> {
    pub(crate) fn start(batch: &'b Batch) -> Self {
        Self { batch, records: batch.record_entries().iter(), samples: batch.samples().iter() }
    }

    /// Whether everything was planned.
    pub(crate) fn is_at_end(&self) -> bool {
        self.records.as_slice().is_empty() && self.samples.as_slice().is_empty()
    }

    /// Where the next record is that comes before a sample; without a sample, the next one.
    fn record_before(&mut self, sample: Option<&SampleEntry>) -> Option<&'b RecordEntry> {
        let next = self.records.as_slice().first()?;
        if sample.is_some_and(|sample| (next.time, next.position) >= (sample.time, sample.position))
        {
            return None;
        }
        self.records.next()
    }
}

/// Whether samples of recordings with that head have a control group.
#[must_use]
pub fn has_cgroups(head: &Head) -> bool {
    head.events().iter().any(|event| event.attr.sample_type.has(SampleType::CGROUP))
}

impl<'r> Planner<'r> {
    pub(crate) fn new(
        timeline: &'r mut Timeline,
        filter: &'r Filter,
        off_cpu: bool,
        memory: &'r Arc<Memory>,
    ) -> Self {
        Self {
            timeline,
            filter,
            threads: Vec::new(),
            thread_index: HashMap::new(),
            owners: HashMap::new(),
            births: HashMap::new(),
            filtered: 0,
            left_out: LeftOut::default(),
            memory,
            held: Held::new(memory, MemoryUse::Processes),
            has_cgroups: false,
            off_cpu: off_cpu.then(OffCpu::default),
        }
    }

    /// Counts what its tables take.
    fn count(&mut self) {
        let bytes = self.heap_bytes();
        self.held.set(bytes as u64);
    }

    /// Takes in what the recording lists apart from its records.
    pub(crate) fn learn(&mut self, head: &Head) {
        learn_build_ids(self.timeline, head);
        self.has_cgroups = has_cgroups(head);
        if let Some(off_cpu) = &mut self.off_cpu {
            off_cpu.learn(head);
        }
    }

    /// Takes in what a batch says about the files that paths lead to.
    pub(crate) fn learn_files(&mut self, batch: &Batch) {
        learn_files(self.timeline, batch);
    }

    /// Whether a path led to one file after another.
    pub(crate) const fn saw_replaced_file(&self) -> bool {
        self.timeline.saw_replaced_file()
    }

    /// The next `limit` samples that are wanted, fewer at the end of the batch, none after it.
    pub(crate) fn next_chunk(&mut self, place: &mut PlanPosition<'_>, limit: usize) -> Plan {
        let mut chunk = Vec::with_capacity(limit.min(place.samples.len()));
        let mut spaces = Spaces::new();
        while chunk.len() < limit {
            let Some(entry) = place.samples.next() else {
                while let Some(record) = place.record_before(None) {
                    self.apply(record, place.batch, &mut chunk);
                }
                break;
            };
            while let Some(record) = place.record_before(Some(entry)) {
                self.apply(record, place.batch, &mut chunk);
            }
            self.timeline.advance(entry.time);
            let comm = self.timeline.comm_of(entry.pid, entry.tid);
            let cgroup = self.cgroup(entry, place.batch);
            let thread = Thread { pid: entry.pid, tid: entry.tid, comm, cgroup };
            let wanted = self.filter.wants(entry, || self.is_named_so(thread));
            let index = wanted.then(|| self.thread(thread));
            if let Some(off_cpu) = &mut self.off_cpu {
                off_cpu.sample(entry, place.batch, index);
            }
            let Some(index) = index else {
                self.filtered += 1;
                self.left_out.add(entry, thread);
                continue;
            };
            let kernel = spaces.of_kernel(self.timeline.kernel_space());
            let (space, process_image) = self.timeline.current(entry.pid);
            let space = spaces.of_process(entry.pid, space);
            let birth = self.births.get(&entry.tid).copied().unwrap_or(0);
            let next = StackOwner(self.owners.len() as u32);
            let owner = *self.owners.entry((process_image, entry.tid, birth)).or_insert(next);
            chunk.push(Planned {
                entry: *entry,
                space,
                kernel,
                process_image,
                later: None,
                thread: index,
                owner,
            });
        }
        if let Some(next) = place.samples.as_slice().first() {
            while let Some(record) = place.record_before(Some(next)) {
                self.apply(record, place.batch, &mut chunk);
            }
        }
        self.count();
        Plan { samples: chunk, spaces: spaces.all }
    }

    /// The control group of a sample. Few recordings have any, so samples are decoded for it a second time.
    #[inline]
    fn cgroup(&self, entry: &SampleEntry, batch: &Batch) -> Option<CgroupId> {
        if !self.has_cgroups {
            return None;
        }
        batch.sample(entry).ok()?.cgroup.map(CgroupId)
    }

    /// Whether the names of a thread and of its control group are wanted.
    fn is_named_so(&self, thread: Thread) -> bool {
        let Filter { comms, cgroups, .. } = self.filter;
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

    /// Moves the timeline over a record, and gives samples of just before it the space that it made. Where too much is
    /// held, the run ends after this chunk, and nothing more is taken.
    fn apply(&mut self, entry: &RecordEntry, batch: &Batch, chunk: &mut [Planned]) {
        if self.memory.is_exceeded() {
            return;
        }
        let pid = if let Some(pid) = self.apply_map(entry, batch) {
            pid
        } else {
            // What is listed was decoded before; a batch whose bytes changed under us has lost it.
            let Some(record) = batch.record(entry.position) else { return };
            apply(self.timeline, &record);
            if let Some(off_cpu) = &mut self.off_cpu {
                off_cpu.record(&record);
            }
            if let Record::Fork(task) = &record.record
                && !task.synthesized
            {
                *self.births.entry(task.tid).or_default() += 1;
            }
            match &record.record {
                Record::Mmap(map) if map.executable => Some(map.pid),
                Record::Fork(task) if task.pid != task.ppid && !task.synthesized => Some(task.pid),
                _ => None,
            }
        };
        if let Some(pid) = pid {
            self.update_recent(entry.time, pid, chunk);
        }
    }

    /// Moves the timeline over a record if that is a map as most are; its process then, if it is executable.
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

    /// Gives samples of a process from just before `now` its space.
    fn update_recent(&mut self, now: Timestamp, pid: Pid, chunk: &mut [Planned]) {
        let earliest = Timestamp(now.0.saturating_sub(SKEW));
        let recent = chunk.iter_mut().rev().take(SKEWED);
        let recent = recent.take_while(|planned| planned.entry.time >= earliest);
        let mut space = None;
        for planned in recent.filter(|planned| planned.entry.pid == pid) {
            let space = space.get_or_insert_with(|| self.timeline.space(pid));
            planned.later = Some(space.clone());
        }
    }

    fn thread(&mut self, thread: Thread) -> u32 {
        let Self { threads, thread_index, .. } = self;
        *thread_index.entry(thread).or_insert_with(|| {
            threads.push(thread);
            threads.len() as u32 - 1
        })
    }

    /// Forgets the threads. No samples that were planned may wait.
    pub(crate) fn begin_anew(&mut self) {
        self.threads = Vec::new();
        self.thread_index = HashMap::new();
        self.owners = HashMap::new();
        self.births = HashMap::new();
    }

    /// What is known of threads and of their times off the processor, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.threads.capacity() * size_of::<Thread>()
            + self.thread_index.allocation_size()
            + self.owners.allocation_size()
            + self.births.allocation_size()
            + self.off_cpu.as_ref().map_or(0, OffCpu::heap_bytes)
    }

    /// The timeline, as far as the plan has moved it.
    pub(crate) const fn timeline(&self) -> &Timeline {
        self.timeline
    }

    /// The threads of the samples that were planned.
    pub(crate) fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The threads of the samples that were planned, and their times off the processor, where those are wanted.
    pub(crate) fn into_parts(self) -> (Vec<Thread>, Option<OffCpuTimes>) {
        (self.threads, self.off_cpu.map(OffCpu::finish))
    }
}
