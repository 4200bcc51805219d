//! Threads without a context switch in the whole recording: always asleep, or always running.
//!
//! A thread is known from a record of its name or its start, or from a sample.
//! It is asleep if nothing shows it running although a clock of the recording would have.
//! A thread that ends has a switch at its end.

use address::{Pid, Tid, Timestamp};
use hashbrown::{HashMap, HashSet};
use perf_data::{Event, EventAttr, Head, Record, SampleEntry, TimedRecord, UserRecord};
use profile::ThreadState;

/// A thread without a context switch, from a time to the end of the recording, within the filter's time range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadWithoutSwitches {
    /// The thread, as an index of [`Replay::threads`](crate::Replay::threads).
    pub thread: u32,
    /// Its state.
    pub state: ThreadState,
    /// Start of the recording, of the thread or of the filter's time range, whichever is last.
    pub since: Timestamp,
    /// Duration, in nanoseconds.
    pub duration: u64,
}

/// A recorded thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordedThread {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    /// Start of the thread; `None` if it was before the recording.
    since: Option<Timestamp>,
    /// True if it had a context switch.
    switched: bool,
    /// True if a record or sample shows it running.
    ran: bool,
}

/// The threads of a recording, and whether each had a context switch.
#[derive(Debug, Default)]
pub(crate) struct ThreadsWithoutSwitches {
    threads: HashMap<Tid, RecordedThread>,
    /// Threads that `perf record` was limited to; `None` for all threads, or if the recording does not state them.
    requested: Option<HashSet<Tid>>,
    /// True if threads that these started were recorded too.
    inherited: bool,
    /// True if each switch of the recorded threads has a record or a sample.
    complete: bool,
    /// True if an event samples a thread all the time that it runs.
    has_clock: bool,
    /// First and last time of the recording.
    times: Option<(Timestamp, Timestamp)>,
}

impl ThreadsWithoutSwitches {
    /// Size of the tables, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let requested = self.requested.as_ref().map_or(0, HashSet::allocation_size);
        self.threads.allocation_size() + requested
    }

    /// Reads the events of the head. `sampled`: each switch is sampled.
    pub(crate) fn learn(&mut self, head: &Head, sampled: bool) {
        let events = head.events();
        let has_records = events.iter().any(|event| event.attr.flags.context_switch());
        let limits = RecorderLimits::of(&head.features().command_line);
        self.complete = !limits.threads && (has_records || sampled && !limits.samples);
        self.inherited = events.iter().any(|event| event.attr.flags.inherit());
        self.has_clock = events.iter().any(is_clock);
    }

    /// Applies a sample.
    pub(crate) fn sample(&mut self, entry: &SampleEntry, is_switch: bool) {
        if entry.time == Timestamp(0) {
            return;
        }
        self.note(entry.time);
        if let Some(life) = self.thread(entry.pid, entry.tid) {
            life.switched |= is_switch;
            life.ran = true;
        }
    }

    /// Applies the sample of a switch to thread `tid`.
    pub(crate) fn switch_in(&mut self, tid: Tid) {
        if let Some(life) = self.threads.get_mut(&tid) {
            life.switched = true;
        }
    }

    /// Applies a record that is not a sample.
    pub(crate) fn record(&mut self, record: &TimedRecord<'_>) {
        if record.time != Timestamp(0) {
            self.note(record.time);
            // The kernel writes the record in the context of this running task.
            let task = record.trailer.tid.and_then(|tid| self.threads.get_mut(&tid));
            if let Some(life) = task {
                life.ran = true;
            }
        }
        match &record.record {
            Record::Comm(comm) if self.is_requested(comm.tid) => {
                self.thread(comm.pid, comm.tid);
            }
            Record::Fork(task) if task.synthesized && self.is_requested(task.tid) => {
                self.thread(task.pid, task.tid);
            }
            Record::Fork(task) if !task.synthesized => {
                self.threads.remove(&task.tid);
                if self.inherited || self.is_requested(task.tid) {
                    let since = Some(record.time);
                    if let Some(life) = self.thread(task.pid, task.tid) {
                        life.since = since;
                    }
                }
            }
            // The last switch of an exiting thread has no id, but the thread's samples before it do.
            Record::Exit(task) => {
                if let Some(life) = self.thread(task.pid, task.tid) {
                    life.switched = true;
                }
            }
            Record::Switch(_) => {
                if let (Some(pid), Some(tid)) = (record.trailer.pid, record.trailer.tid)
                    && let Some(life) = self.thread(pid, tid)
                {
                    life.switched = true;
                }
            }
            Record::User(user @ UserRecord::ThreadMap(_)) => self.set_requested(user),
            _ => {}
        }
    }

    /// Returns the threads without a switch, ordered by start, with state, start and end in the recording.
    pub(crate) fn finish(self) -> Vec<(RecordedThread, ThreadState, Timestamp, Timestamp)> {
        if !self.complete {
            return Vec::new();
        }
        let (first, last) = self.times.unwrap_or_default();
        let without_switches = self.threads.into_values().filter(|life| !life.switched);
        let mut found: Vec<_> = without_switches
            .map(|life| {
                let state = match (life.ran, self.has_clock) {
                    (true, _) => ThreadState::Running,
                    (false, true) => ThreadState::Asleep,
                    (false, false) => ThreadState::Unknown,
                };
                (life, state, life.since.unwrap_or(first), last)
            })
            .collect();
        found.sort_unstable_by_key(|(life, _, since, _)| (*since, life.tid));
        found
    }

    /// Returns a thread, adding it as older than the recording if needed. Idle tasks are not threads.
    fn thread(&mut self, pid: Pid, tid: Tid) -> Option<&mut RecordedThread> {
        let new = RecordedThread { pid, tid, since: None, switched: false, ran: false };
        (tid.0 > 0).then(|| self.threads.entry(tid).or_insert(new))
    }

    fn is_requested(&self, tid: Tid) -> bool {
        self.requested.as_ref().is_none_or(|threads| threads.contains(&tid))
    }

    /// The list contains -1 if all threads of the host were recorded.
    fn set_requested(&mut self, map: &UserRecord<'_>) {
        let tids = map.threads().map(|thread| i32::try_from(thread.tid).ok().map(Tid));
        let listed: Option<HashSet<Tid>> = tids.collect();
        self.requested = listed.filter(|threads| !threads.is_empty());
        if let Some(requested) = &self.requested {
            self.threads.retain(|tid, life| life.since.is_some() || requested.contains(tid));
        }
    }

    fn note(&mut self, time: Timestamp) {
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }
}

/// Limits from the recorder's command line, which no record states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RecorderLimits {
    /// Some threads are omitted: those on other processors (`-C`) or in other control groups (`-G`).
    threads: bool,
    /// Some tracepoint samples are omitted (`--filter`).
    samples: bool,
}

impl RecorderLimits {
    /// Reads the options. Arguments of the recorded program that look like them only make the result more cautious.
    fn of(command_line: &[&[u8]]) -> Self {
        let any = |limits: fn(&[u8]) -> bool| command_line.iter().any(|word| limits(word));
        let threads = any(|word| match word {
            [b'-', b'-', long @ ..] => long.starts_with(b"cpu") || long.starts_with(b"cgroup"),
            [b'-', short @ ..] => short.iter().any(|letter| b"CG".contains(letter)),
            _ => false,
        });
        let samples = any(|word| word.starts_with(b"--filter") || word == b"--exclude-perf");
        Self { threads, samples }
    }
}

/// Returns true if an event samples threads all the time that they run: a kernel clock, or a processor counter.
///
/// Source: `include/uapi/linux/perf_event.h`, `enum perf_type_id` and `enum perf_sw_ids`.
const fn is_clock(event: &Event) -> bool {
    const SOFTWARE: u32 = 1;
    const TRACEPOINT: u32 = 2;
    const BREAKPOINT: u32 = 5;
    const TASK_CLOCK: u64 = 1;
    let EventAttr { kind, config, .. } = event.attr;
    match kind {
        SOFTWARE => config <= TASK_CLOCK,
        TRACEPOINT | BREAKPOINT => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let of = |line: &str| {
            RecorderLimits::of(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>())
        };
        let none = RecorderLimits::default();
        assert_eq!(of("perf record -g -a -F 99 -- sleep 1"), none);
        for line in
            ["perf record -C 0", "perf record -aC1", "perf record --cpu=1", "perf record -a -G web"]
        {
            assert_eq!(of(line), RecorderLimits { threads: true, ..none }, "{line}");
        }
        let filtered = RecorderLimits { samples: true, ..none };
        assert_eq!(of("perf record -e sched:sched_switch --filter prev_pid!=0"), filtered);
    }
}
