//! Times off the processor: when each thread left and returned, and the sample that shows its stack.
//!
//! ```text
//!   runs | sample of sched:sched_switch, SWITCH out | off … | SWITCH in; without records, next_pid of a switch | runs
//! ```
//!
//! All events are applied in time order, including samples that the filter rejects.

use address::{Tid, Timestamp};
use hashbrown::HashMap;
use perf_data::{
    Batch, CpuMode, EventAttr, Head, Record, SampleEntry, SchedSwitch, TimedRecord, TracingData,
};

use crate::plan::without_switches::{ThreadWithoutSwitches, ThreadsWithoutSwitches};

/// A period that a thread spent off the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OffCpuSpan {
    /// Start.
    pub since: Timestamp,
    /// Duration, in nanoseconds.
    pub duration: u64,
    /// The sample with the thread's stack at the start.
    pub shown_by: SampleKey,
    /// Whether the thread could have continued: another one took its processor. `None` if nothing shows it.
    pub preempted: Option<bool>,
}

/// Key of a sample in the replay: thread, event and time are unique together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleKey {
    /// Its time.
    pub time: Timestamp,
    /// Its thread, as an index of [`Replay::threads`](crate::Replay::threads).
    pub thread: u32,
    /// The index of its event.
    pub event: u16,
}

/// Times off the processor, and counts of incomplete ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffCpuTimes {
    /// Times with a sample that passes the filter, ordered by end.
    pub spans: Vec<OffCpuSpan>,
    /// Number of switches away from a processor.
    pub switches: u64,
    /// Number of times shown by the last sample before them, because none was taken at the switch.
    pub by_last_sample: u64,
    /// Times without a sample: their number, and their sum in nanoseconds.
    pub without_sample: (u64, u64),
    /// Number of times that end at a sample of the running thread, because its return was not recorded.
    pub ended_by_sample: u64,
    /// Number of times without an end: the return was neither recorded nor sampled. Not in [`Self::spans`].
    pub without_end: u64,
    /// Number of threads off the processor at the end of the recording; their times end there.
    pub at_end: u64,
    /// Threads without a switch, ordered by start.
    pub without_switches: Vec<ThreadWithoutSwitches>,
    /// Number of sleeping threads with an unknown duration, because no record or sample has a time.
    pub timeless: u64,
}

/// The sample that shows the stack of a thread at its switch.
#[derive(Clone, Copy, Debug)]
struct SwitchSample {
    time: Timestamp,
    event: u16,
    /// `None` if the filter rejects the sample.
    thread: Option<u32>,
    /// True if it was taken at the switch.
    at_switch: bool,
}

/// A thread that left its processor.
#[derive(Clone, Copy, Debug)]
struct Departure {
    since: Timestamp,
    shown: Option<SwitchSample>,
    /// True if the switch had a record; its sample comes before the record.
    recorded: bool,
    preempted: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OffCpuThread {
    /// Last sample since the thread came to the processor.
    last: Option<SwitchSample>,
    left: Option<Departure>,
    /// True once the thread has exited; its next switch is its last.
    ended: bool,
}

/// The event `sched:sched_switch`.
#[derive(Clone, Copy, Debug)]
struct SwitchEvent {
    /// Layout of the task fields, if it was recorded.
    fields: Option<SchedSwitch>,
    /// True if every switch is sampled. With -F or -c, perf samples only some, which do not determine the running
    /// thread.
    each: bool,
}

impl SwitchEvent {
    /// Returns the layout of the task fields if they determine the running thread.
    fn running(self) -> Option<SchedSwitch> {
        self.fields.filter(|_| self.each)
    }
}

/// Computes times off the processor from context switches.
#[derive(Debug, Default)]
pub(crate) struct OffCpu {
    /// By event: `Some` for `sched:sched_switch`.
    events: Vec<Option<SwitchEvent>>,
    /// True if switches have records, which time them better than samples: taking a sample takes time.
    has_records: bool,
    /// True if the kernel marks the records of preempted threads.
    marks_preempted: bool,
    /// True if all processors are recorded, so that every return is visible.
    sees_all: bool,
    threads: HashMap<Tid, OffCpuThread>,
    /// Thread ids of samples by the ids in the tracepoint, if these differ.
    by_machine_id: HashMap<Tid, Tid>,
    latest: Timestamp,
    /// Tracks threads without a switch.
    without_switches: ThreadsWithoutSwitches,
    times: OffCpuTimes,
}

/// Returns true if recordings with that head can show times off the processor.
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

/// Returns true for the release of a kernel that sets `PERF_RECORD_MISC_SWITCH_OUT_PREEMPT`: Linux 4.17 and later.
fn marks_preempted(release: &[u8]) -> bool {
    let text = std::str::from_utf8(release).unwrap_or_default();
    let mut numbers = text.split(|it: char| !it.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(Result::ok);
    let (major, minor) = (next(), next());
    major.zip(minor).is_some_and(|release| release >= (4, 17))
}

impl OffCpu {
    /// Size of the thread state and the times, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.threads.allocation_size()
            + self.by_machine_id.allocation_size()
            + self.times.spans.capacity() * size_of::<OffCpuSpan>()
            + self.without_switches.heap_bytes()
    }

    /// Reads the events of the head.
    pub(crate) fn learn(&mut self, head: &Head) {
        let data = head.features().tracing_data.and_then(TracingData::parse);
        let switch = |attr: &EventAttr| SwitchEvent {
            fields: data.as_ref().and_then(|data| SchedSwitch::of(data, attr.config)),
            each: !attr.flags.freq() && attr.sample_period <= 1,
        };
        let events = head.events().iter();
        self.events = events
            .clone()
            .map(|event| is_switch(&event.name).then(|| switch(&event.attr)))
            .collect();
        self.marks_preempted = head.features().os_release.is_some_and(marks_preempted);
        self.has_records |= events.clone().any(|event| event.attr.flags.context_switch());
        let each = self.events.iter().flatten().any(|event| event.running().is_some());
        self.without_switches.learn(head, each);
    }

    /// Applies a sample; `thread` is its index, or `None` if the filter rejects it.
    pub(crate) fn sample(&mut self, entry: &SampleEntry, batch: &Batch, thread: Option<u32>) {
        let SampleEntry { time, tid, event, .. } = *entry;
        if time == Timestamp(0) {
            return;
        }
        self.latest = self.latest.max(time);
        let is_switch = self.events.get(usize::from(event)).is_some_and(Option::is_some);
        self.without_switches.sample(entry, is_switch);
        let Some(switch) = self.events.get(usize::from(event)).copied().flatten() else {
            if is_task(tid) {
                self.running(entry, SwitchSample { time, event, thread, at_switch: false });
            }
            return;
        };
        // The idle task is sampled only if all processors are recorded.
        self.sees_all |= tid == Tid(0) && switch.running().is_some();
        let raw = batch.sample(entry).ok().and_then(|sample| sample.raw);
        let tasks = raw.and_then(|raw| switch.running()?.tasks(raw));
        if let Some((_, next)) = tasks {
            self.without_switches.switch_in(self.by_machine_id.get(&next).copied().unwrap_or(next));
        }
        if let Some((_, next)) = tasks.filter(|_| !self.has_records)
            && let Some(&next) = self.by_machine_id.get(&next)
        {
            self.returned(next, time);
        }
        if is_task(tid) && !self.threads.get(&tid).is_some_and(|state| state.ended) {
            self.times.switches += 1;
            self.by_machine_id.extend(tasks.map(|(machine_id, _)| (machine_id, tid)));
            let shown = Some(SwitchSample { time, event, thread, at_switch: true });
            let preempted = raw.and_then(|raw| switch.fields?.is_runnable(raw));
            self.leave(tid, Departure { since: time, shown, recorded: false, preempted });
        }
    }

    /// Applies a record that is not a sample.
    pub(crate) fn record(&mut self, record: &TimedRecord<'_>) {
        self.latest = self.latest.max(record.time);
        self.without_switches.record(record);
        match record.record {
            Record::Fork(task) if !task.synthesized => {
                self.threads.remove(&task.tid);
            }
            // A thread that calls exec takes the id of its process's main thread, which ends.
            Record::Comm(comm) if comm.exec => {
                self.threads.remove(&comm.tid);
            }
            Record::Exit(task) => {
                let ended = OffCpuThread { ended: true, ..OffCpuThread::default() };
                self.threads.insert(task.tid, ended);
            }
            Record::Switch(switch) => {
                let Some(tid) = record.trailer.tid.filter(|&tid| is_task(tid)) else { return };
                if switch.out {
                    let is_known = switch.preempted || self.marks_preempted;
                    self.left(tid, record.time, is_known.then_some(switch.preempted));
                } else {
                    self.returned(tid, record.time);
                }
            }
            _ => {}
        }
    }

    /// Applies a sample that is not a switch. In kernel mode the thread may still be leaving the processor.
    fn running(&mut self, entry: &SampleEntry, shown: SwitchSample) {
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

    /// Applies the record of a switch away; its sample, if any, came earlier.
    fn left(&mut self, tid: Tid, time: Timestamp, preempted: Option<bool>) {
        let sampled = self.events.iter().any(Option::is_some);
        let state = self.threads.entry(tid).or_default();
        if state.ended {
            return;
        }
        if let Some(left) = state.left.as_mut().filter(|left| !left.recorded) {
            left.recorded = true;
            left.preempted = left.preempted.or(preempted);
            return;
        }
        self.times.switches += 1;
        let shown = state.last.filter(|_| !sampled);
        self.leave(tid, Departure { since: time, shown, recorded: true, preempted });
    }

    fn leave(&mut self, tid: Tid, left: Departure) {
        let state = OffCpuThread { left: Some(left), ..OffCpuThread::default() };
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

    /// Returns all times, and the threads without a switch.
    /// Times of threads that are still off the processor end with the recording.
    pub(crate) fn finish(self) -> (OffCpuTimes, ThreadsWithoutSwitches) {
        let Self { has_records, sees_all, threads, latest, without_switches, mut times, .. } = self;
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
        (times, without_switches)
    }
}

impl OffCpuTimes {
    fn add(&mut self, left: Departure, until: Timestamp) {
        let Departure { since, shown, preempted, .. } = left;
        let duration = until.0.saturating_sub(since.0);
        let Some(shown) = shown else {
            self.without_sample.0 += 1;
            self.without_sample.1 = self.without_sample.1.saturating_add(duration);
            return;
        };
        let SwitchSample { time, event, thread: Some(thread), at_switch } = shown else { return };
        self.by_last_sample += u64::from(!at_switch);
        let shown_by = SampleKey { time, thread, event };
        self.spans.push(OffCpuSpan { since, duration, shown_by, preempted });
    }
}

/// Returns true for the id of a thread, and false for an idle task or an exited thread.
const fn is_task(tid: Tid) -> bool {
    tid.0 > 0
}

#[cfg(test)]
mod tests {
    use super::marks_preempted;

    #[test]
    fn kernels_mark_preempted_threads_since_4_17() {
        let marked = ["6.18.44-fc", "4.17.0", "5.4"].map(|it| marks_preempted(it.as_bytes()));
        assert_eq!(marked, [true; 3]);
        let unmarked =
            ["4.16.9", "3.10.0-957.el7", "", "x"].map(|it| marks_preempted(it.as_bytes()));
        assert_eq!(unmarked, [false; 4]);
    }
}
