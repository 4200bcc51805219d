//! The plan: records in time order move the timeline on; each sample that passes the filter is given the space of its
//! process as it is at that moment.
//!
//! Processors' clocks differ: a sample can come before the record of a map that its stack is in. A sample is given the
//! space of shortly afterwards, too, for addresses at which nothing was mapped by then.

use std::sync::Arc;

use address::{Pid, Tid, Timestamp};
use hashbrown::HashMap;
use module_map::{CommId, FileIdentity, Inode, Lineage, MapEvent, Space, Timeline};
use perf_data::{
    CpuMode, Head, Ksymbol, Mmap, MmapId, Record, RecordEntry, SampleEntry, TimedRecord, Window,
};

/// Which samples are wanted. An empty list wants all. Maps are replayed in full whatever is wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Process ids.
    pub pids: Vec<Pid>,
    /// Thread ids.
    pub tids: Vec<Tid>,
    /// Thread names.
    pub comms: Vec<Vec<u8>>,
    /// Indexes of events.
    pub events: Vec<u16>,
    /// The earliest time that is wanted.
    pub from: Option<Timestamp>,
    /// The latest time that is wanted.
    pub to: Option<Timestamp>,
}

impl Filter {
    fn wants(&self, entry: &SampleEntry, comm: impl FnOnce() -> bool) -> bool {
        let any = |empty: bool, found: bool| empty || found;
        any(self.pids.is_empty(), self.pids.contains(&entry.pid))
            && any(self.tids.is_empty(), self.tids.contains(&entry.tid))
            && any(self.events.is_empty(), self.events.contains(&entry.event))
            && self.from.is_none_or(|from| from <= entry.time)
            && self.to.is_none_or(|to| entry.time <= to)
            && any(self.comms.is_empty(), comm())
    }
}

/// A thread under one name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// Its process.
    pub pid: Pid,
    /// Its id.
    pub tid: Tid,
    /// Its name at the time; [`Timeline::comm_name`] has the bytes.
    pub comm: CommId,
}

/// A sample and what it needs for its walk.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) entry: SampleEntry,
    /// Its spaces, by their places among those of its batch.
    pub(crate) space: u32,
    pub(crate) kernel: u32,
    pub(crate) lineage: Lineage,
    /// The space that records of shortly afterwards made, and whose it is.
    pub(crate) later: Option<(Arc<Space>, Lineage)>,
    pub(crate) thread: u32,
}

/// A batch of samples, and the spaces that they need.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) samples: Vec<Planned>,
    pub(crate) spaces: Vec<Arc<Space>>,
}

/// The spaces of a batch. Samples that follow each other have the same ones as a rule, so each is held once.
struct Spaces {
    all: Vec<Arc<Space>>,
    /// Of some processes, the number of their last; behind them that of the kernel.
    last: [u32; LAST + 1],
}

/// How many numbers are kept.
const LAST: usize = 64;

impl Spaces {
    const fn new() -> Self {
        Self { all: Vec::new(), last: [0; LAST + 1] }
    }

    /// The number of the space of a process.
    fn of_process(&mut self, pid: Pid, space: &Arc<Space>) -> u32 {
        self.number(pid.0 as usize % LAST, space)
    }

    /// The number of the space of the kernel.
    fn of_kernel(&mut self, space: &Arc<Space>) -> u32 {
        self.number(LAST, space)
    }

    #[inline]
    fn number(&mut self, at: usize, space: &Arc<Space>) -> u32 {
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
    pub(crate) filtered: u64,
}

/// How far the plan has come in a window.
pub(crate) struct Place<'w> {
    window: &'w Window,
    records: std::slice::Iter<'w, RecordEntry>,
    samples: std::slice::Iter<'w, SampleEntry>,
}

impl<'w> Place<'w> {
    pub(crate) fn start(window: &'w Window) -> Self {
        Self { window, records: window.record_entries().iter(), samples: window.samples().iter() }
    }

    /// Whether everything was planned.
    pub(crate) fn is_at_end(&self) -> bool {
        self.records.as_slice().is_empty() && self.samples.as_slice().is_empty()
    }

    /// Where the next record is that comes before a sample; without a sample, the next one.
    fn record_before(&mut self, sample: Option<&SampleEntry>) -> Option<&'w RecordEntry> {
        let next = self.records.as_slice().first()?;
        if sample.is_some_and(|sample| (next.time, next.position) >= (sample.time, sample.position))
        {
            return None;
        }
        self.records.next()
    }
}

impl<'r> Planner<'r> {
    pub(crate) fn new(timeline: &'r mut Timeline, filter: &'r Filter) -> Self {
        Self { timeline, filter, threads: Vec::new(), thread_index: HashMap::new(), filtered: 0 }
    }

    /// Takes in what the recording lists apart from its records.
    pub(crate) fn learn(&mut self, head: &Head) {
        for entry in &head.features().build_ids {
            if let Some(id) = entry.build_id {
                self.timeline.list_build_id(entry.name, id);
            }
        }
    }

    /// Takes in what a window tells of the files behind paths.
    pub(crate) fn learn_files(&mut self, window: &Window) {
        learn_files(self.timeline, window);
    }

    /// Whether a path led to one file after another.
    pub(crate) const fn saw_replaced_file(&self) -> bool {
        self.timeline.saw_replaced_file()
    }

    /// The next `limit` samples that are wanted, fewer at the end of the window, none behind it.
    pub(crate) fn next_batch(&mut self, place: &mut Place<'_>, limit: usize) -> Plan {
        let mut batch = Vec::with_capacity(limit.min(place.samples.len()));
        let mut spaces = Spaces::new();
        while batch.len() < limit {
            let Some(entry) = place.samples.next() else {
                while let Some(record) = place.record_before(None) {
                    self.apply(record, place.window, &mut batch);
                }
                break;
            };
            while let Some(record) = place.record_before(Some(entry)) {
                self.apply(record, place.window, &mut batch);
            }
            self.timeline.advance(entry.time);
            let comm = self.timeline.comm_of(entry.pid, entry.tid);
            let named =
                || self.filter.comms.iter().any(|wanted| *wanted == self.timeline.comm_name(comm));
            if !self.filter.wants(entry, named) {
                self.filtered += 1;
                continue;
            }
            let thread = self.thread(Thread { pid: entry.pid, tid: entry.tid, comm });
            let kernel = spaces.of_kernel(self.timeline.kernel_space());
            let (space, lineage) = self.timeline.current(entry.pid);
            let space = spaces.of_process(entry.pid, space);
            batch.push(Planned { entry: *entry, space, kernel, lineage, later: None, thread });
        }
        if let Some(next) = place.samples.as_slice().first() {
            while let Some(record) = place.record_before(Some(next)) {
                self.apply(record, place.window, &mut batch);
            }
        }
        Plan { samples: batch, spaces: spaces.all }
    }

    /// Moves the timeline over a record, and lets samples of just before it know of the space that it made.
    fn apply(&mut self, entry: &RecordEntry, window: &Window, batch: &mut [Planned]) {
        let pid = if let Some(map) = window.map(entry.position) {
            self.timeline.advance(entry.time);
            apply_map(self.timeline, &map);
            Some(map.pid).filter(|_| map.executable)
        } else {
            // What is listed was decoded before; a window whose bytes changed under us has lost it.
            let Some(record) = window.record(entry.position) else { return };
            apply(self.timeline, &record);
            match &record.record {
                Record::Mmap(map) if map.executable => Some(map.pid),
                Record::Fork(task) if task.pid != task.ppid && !task.synthesized => Some(task.pid),
                _ => None,
            }
        };
        if let Some(pid) = pid {
            self.tell_recent(entry.time, pid, batch);
        }
    }

    /// Lets samples of a process from just before `now` know of its space.
    fn tell_recent(&mut self, now: Timestamp, pid: Pid, batch: &mut [Planned]) {
        let earliest = Timestamp(now.0.saturating_sub(SKEW));
        let recent = batch.iter_mut().rev().take(SKEWED);
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

    /// The timeline, as far as the plan has moved it.
    pub(crate) const fn timeline(&self) -> &Timeline {
        self.timeline
    }

    /// The threads of the samples that were planned.
    pub(crate) fn threads(&self) -> &[Thread] {
        &self.threads
    }

    pub(crate) fn into_threads(self) -> Vec<Thread> {
        self.threads
    }
}

/// Looks for paths that lead to several files in a window, and tells the timeline which was the last of each: the
/// recorder read the build-id of a path when it ended. To be called before the window's records are applied.
pub fn learn_files(timeline: &mut Timeline, window: &Window) {
    let mut last = HashMap::<&[u8], Inode>::new();
    let mut several = Vec::new();
    for entry in window.record_entries() {
        let Some(Mmap { id: MmapId::Inode { major, minor, inode, generation }, path, .. }) =
            window.map(entry.position)
        else {
            continue;
        };
        let file = Inode { major, minor, number: inode, generation };
        if path.starts_with(b"/")
            && last.insert(path, file).is_some_and(|before| file.replaces(before))
        {
            several.push(path);
        }
    }
    for path in several {
        if let Some(&last) = last.get(path) {
            timeline.list_last_file(path, last);
        }
    }
}

/// Moves a timeline over one record. Records are to be applied in the order of time.
pub fn apply(timeline: &mut Timeline, record: &TimedRecord<'_>) {
    timeline.advance(record.time);
    match &record.record {
        Record::Mmap(map) => apply_map(timeline, map),
        Record::Comm(comm) => timeline.comm(comm.pid, comm.tid, comm.comm, comm.exec),
        Record::Fork(task) if task.synthesized => {
            timeline.already_running(task.pid, task.tid, task.ppid, task.ptid);
        }
        Record::Fork(task) => timeline.fork(task.pid, task.tid, task.ppid, task.ptid),
        Record::Exit(task) => timeline.exit(task.pid, task.tid),
        Record::Ksymbol(symbol) => apply_ksymbol(timeline, symbol),
        _ => {}
    }
}

fn apply_map(timeline: &mut Timeline, map: &Mmap<'_>) {
    const PROT_WRITE: u32 = 2;
    let identity = match map.id {
        MmapId::None => FileIdentity::default(),
        MmapId::Inode { major, minor, inode, generation } => {
            let inode = Some(Inode { major, minor, number: inode, generation });
            FileIdentity { inode, ..FileIdentity::default() }
        }
        MmapId::BuildId(id) => FileIdentity { build_id: Some(id), ..FileIdentity::default() },
    };
    let kernel = matches!(map.cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel);
    timeline.map(&MapEvent {
        pid: map.pid,
        kernel,
        start: map.start,
        len: map.len,
        offset: map.pgoff,
        executable: map.executable,
        writable: map.prot & PROT_WRITE != 0,
        path: map.path,
        identity,
    });
}

fn apply_ksymbol(timeline: &mut Timeline, symbol: &Ksymbol<'_>) {
    if symbol.unregister {
        timeline.unmap_kernel(symbol.addr, u64::from(symbol.len));
        return;
    }
    timeline.map(&MapEvent {
        pid: Pid(-1),
        kernel: true,
        start: symbol.addr,
        len: u64::from(symbol.len),
        offset: address::FileOffset(0),
        executable: true,
        writable: false,
        path: symbol.name,
        identity: FileIdentity::default(),
    });
}
