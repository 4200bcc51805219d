//! Times off the processor: when each thread left it, when it came back, and which sample shows where it was.
//!
//! ```text
//!   runs | sample of sched:sched_switch, SWITCH out | off … | SWITCH in; without records, next_pid of a switch | runs
//! ```
//!
//! Everything is taken in in the order of time, samples that the filter leaves out as well.

use address::{Tid, Timestamp};
use hashbrown::HashMap;
use perf_data::{
    Batch, CpuMode, EventAttr, Head, Record, SampleEntry, SchedSwitch, TimedRecord, TracingData,
};

use crate::plan::unswitched::{Unswitched, UnswitchedThread};

/// A time that a thread was off the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OffCpuSpan {
    /// When it left.
    pub since: Timestamp,
    /// How long, in nanoseconds.
    pub duration: u64,
    /// The sample that shows where it left.
    pub shown_by: SampleKey,
}

/// A sample of the replay: no two of a thread and an event have one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleKey {
    /// Its time.
    pub time: Timestamp,
    /// Its thread, as an index of [`Replay::threads`](crate::Replay::threads).
    pub thread: u32,
    /// The index of its event.
    pub event: u16,
}

/// What a recording says of times off the processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffCpuTimes {
    /// Those of the samples that are wanted, in the order of their ends.
    pub spans: Vec<OffCpuSpan>,
    /// How often a thread left its processor.
    pub switches: u64,
    /// How many times are shown by the last sample before them, since no sample was taken when the thread left.
    pub by_last_sample: u64,
    /// Times that no sample shows: how many, and how long in nanoseconds.
    pub without_sample: (u64, u64),
    /// How many times end where a sample shows the thread running, since its return was not recorded.
    pub ended_by_sample: u64,
    /// How many times have no end: the return was neither recorded nor seen. They are not in [`Self::spans`].
    pub without_end: u64,
    /// How many threads were off the processor at the end of the recording; their times end there.
    pub at_end: u64,
    /// Threads without a switch, by when they began.
    pub unswitched: Vec<UnswitchedThread>,
    /// How many threads were asleep while nothing with a time was recorded, so that how long is not known.
    pub timeless: u64,
}

/// The sample that shows where a thread leaves, and whether it is wanted.
#[derive(Clone, Copy, Debug)]
struct Shown {
    time: Timestamp,
    event: u16,
    /// `None` where the filter leaves it out.
    thread: Option<u32>,
    /// Whether it was taken when the thread left.
    at_switch: bool,
}

/// A thread that left its processor.
#[derive(Clone, Copy, Debug)]
struct Left {
    since: Timestamp,
    shown: Option<Shown>,
    /// Whether a record of the switch was seen, and not only its sample, which comes before it.
    recorded: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadState {
    /// The last sample since it came to the processor.
    last: Option<Shown>,
    left: Option<Left>,
    /// It has ended, and leaves its processor for the last time.
    ended: bool,
}

/// Takes in switches, and tells the times between them.
#[derive(Debug, Default)]
pub(crate) struct OffCpu {
    /// By event: whether it is `sched:sched_switch`, and, if each switch is sampled, where samples state the tasks.
    events: Vec<Option<Option<SchedSwitch>>>,
    /// Whether switches have records, which tell times better than samples: taking a sample takes time.
    has_records: bool,
    /// Whether all processors are watched, so that no return is missed.
    sees_all: bool,
    threads: HashMap<Tid, ThreadState>,
    /// The ids that samples carry, by those of the tracepoint, where they differ.
    by_machine_id: HashMap<Tid, Tid>,
    latest: Timestamp,
    /// Which threads have no switch.
    unswitched: Unswitched,
    times: OffCpuTimes,
}

/// Whether recordings with that head can tell times off the processor.
#[must_use]
pub fn has_switches(head: &Head) -> bool {
    let mut events = head.events().iter();
    events.any(|event| event.attr.flags.context_switch() || is_switch(&event.name))
}

fn is_switch(event: &str) -> bool {
    event
        .strip_prefix("sched:sched_switch")
        .is_some_and(|rest| matches!(rest.get(..1), None | Some(":")))
}

impl OffCpu {
    /// What is known of threads, and the times, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.threads.allocation_size()
            + self.by_machine_id.allocation_size()
            + self.times.spans.capacity() * size_of::<OffCpuSpan>()
            + self.unswitched.heap_bytes()
    }

    /// Takes in what the head says of events.
    pub(crate) fn learn(&mut self, head: &Head) {
        let data = head.features().tracing_data.and_then(TracingData::parse);
        // With -F or -c, perf samples some switches only: those alone do not tell who runs.
        let switch = |attr: &EventAttr| {
            let each = !attr.flags.freq() && attr.sample_period <= 1;
            SchedSwitch::of(data.as_ref().filter(|_| each)?, attr.config)
        };
        let events = head.events().iter();
        self.events = events
            .clone()
            .map(|event| is_switch(&event.name).then(|| switch(&event.attr)))
            .collect();
        self.has_records |= events.clone().any(|event| event.attr.flags.context_switch());
        let each = self.events.iter().flatten().any(Option::is_some);
        self.unswitched.learn(head, each);
    }

    /// Takes in a sample: of the thread of that index, where the filter does not leave it out.
    pub(crate) fn sample(&mut self, entry: &SampleEntry, batch: &Batch, thread: Option<u32>) {
        let SampleEntry { time, tid, event, .. } = *entry;
        if time == Timestamp(0) {
            return;
        }
        self.latest = self.latest.max(time);
        let is_switch = self.events.get(usize::from(event)).is_some_and(Option::is_some);
        self.unswitched.sample(entry, is_switch);
        let Some(switch) = self.events.get(usize::from(event)).copied().flatten() else {
            if is_task(tid) {
                self.running(entry, Shown { time, event, thread, at_switch: false });
            }
            return;
        };
        // Only where all processors are watched, the idle task is.
        self.sees_all |= tid == Tid(0) && switch.is_some();
        let raw = batch.sample(entry).ok().and_then(|sample| sample.raw);
        let tasks = raw.and_then(|raw| switch?.tasks(raw));
        if let Some((_, next)) = tasks {
            self.unswitched.comes(self.by_machine_id.get(&next).copied().unwrap_or(next));
        }
        if let Some((_, next)) = tasks.filter(|_| !self.has_records)
            && let Some(&next) = self.by_machine_id.get(&next)
        {
            self.returned(next, time);
        }
        if is_task(tid) && !self.threads.get(&tid).is_some_and(|state| state.ended) {
            self.times.switches += 1;
            self.by_machine_id.extend(tasks.map(|(machine_id, _)| (machine_id, tid)));
            let shown = Some(Shown { time, event, thread, at_switch: true });
            self.leave(tid, Left { since: time, shown, recorded: false });
        }
    }

    /// Takes in a record that is no sample.
    pub(crate) fn record(&mut self, record: &TimedRecord<'_>) {
        self.latest = self.latest.max(record.time);
        self.unswitched.record(record);
        match record.record {
            Record::Fork(task) if !task.synthesized => {
                self.threads.remove(&task.tid);
            }
            // A thread that calls exec takes the id of its process's first one, which ends.
            Record::Comm(comm) if comm.exec => {
                self.threads.remove(&comm.tid);
            }
            Record::Exit(task) => {
                let ended = ThreadState { ended: true, ..ThreadState::default() };
                self.threads.insert(task.tid, ended);
            }
            Record::Switch(switch) => {
                let Some(tid) = record.trailer.tid.filter(|&tid| is_task(tid)) else { return };
                if switch.out {
                    self.left(tid, record.time);
                } else {
                    self.returned(tid, record.time);
                }
            }
            _ => {}
        }
    }

    /// A sample of a thread that is no switch. In the kernel it may still be on its way off the processor.
    fn running(&mut self, entry: &SampleEntry, shown: Shown) {
        let state = self.threads.entry(entry.tid).or_default();
        match state.left {
            Some(left) if entry.cpu_mode() == CpuMode::User => {
                (state.last, state.left) = (Some(shown), None);
                self.times.ended_by_sample += 1;
                self.times.add(left, shown.time);
            }
            Some(_) => {}
            None => state.last = Some(shown),
        }
    }

    /// The record of a switch: its sample, if there is one, came before it.
    fn left(&mut self, tid: Tid, time: Timestamp) {
        let sampled = self.events.iter().any(Option::is_some);
        let state = self.threads.entry(tid).or_default();
        if state.ended {
            return;
        }
        if let Some(left) = state.left.as_mut().filter(|left| !left.recorded) {
            left.recorded = true;
            return;
        }
        self.times.switches += 1;
        let shown = state.last.filter(|_| !sampled);
        self.leave(tid, Left { since: time, shown, recorded: true });
    }

    fn leave(&mut self, tid: Tid, left: Left) {
        let state = ThreadState { left: Some(left), ..ThreadState::default() };
        let before = self.threads.insert(tid, state);
        if before.is_some_and(|before| before.left.is_some()) {
            self.times.without_end += 1;
        }
    }

    fn returned(&mut self, tid: Tid, time: Timestamp) {
        let Some(state) = self.threads.get_mut(&tid) else { return };
        state.last = None;
        if let Some(left) = state.left.take() {
            self.times.add(left, time);
        }
    }

    /// All times, those of threads that are off the processor up to the end of the recording; and the threads without a
    /// switch.
    pub(crate) fn finish(self) -> (OffCpuTimes, Unswitched) {
        let Self { has_records, sees_all, threads, latest, unswitched, mut times, .. } = self;
        let mut left: Vec<_> =
            threads.into_iter().filter_map(|(tid, state)| Some((state.left?, tid))).collect();
        left.sort_unstable_by_key(|(left, tid)| (left.since, *tid));
        for (left, _) in left {
            if has_records || sees_all {
                times.at_end += 1;
                times.add(left, latest);
            } else {
                times.without_end += 1;
            }
        }
        (times, unswitched)
    }
}

impl OffCpuTimes {
    fn add(&mut self, left: Left, until: Timestamp) {
        let Left { since, shown, .. } = left;
        let duration = until.0.saturating_sub(since.0);
        let Some(shown) = shown else {
            self.without_sample.0 += 1;
            self.without_sample.1 = self.without_sample.1.saturating_add(duration);
            return;
        };
        let Shown { time, event, thread: Some(thread), at_switch } = shown else { return };
        self.by_last_sample += u64::from(!at_switch);
        let shown_by = SampleKey { time, thread, event };
        self.spans.push(OffCpuSpan { since, duration, shown_by });
    }
}

/// Whether it is a thread, and neither an idle task nor one that has ended.
const fn is_task(tid: Tid) -> bool {
    tid.0 > 0
}
