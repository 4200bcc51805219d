//! Threads without a context switch in the whole recording: they were asleep all the time, or running all the time.
//!
//! A thread is known by a record of its name or its start, or by a sample. It is asleep if nothing shows it running and a
//! clock of the recording would have. A thread that ends has a switch at its end.

use address::{Pid, Tid, Timestamp};
use hashbrown::{HashMap, HashSet};
use perf_data::{Event, EventAttr, Head, Record, SampleEntry, TimedRecord, UserRecord};
use profile::ThreadState;

/// A thread without a context switch, from a time to the end of the recording, as far as the filter wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnswitchedThread {
    /// The thread, as an index of [`Replay::threads`](crate::Replay::threads).
    pub thread: u32,
    /// Its state.
    pub state: ThreadState,
    /// When the recording or the thread began, or the time that the filter wants.
    pub since: Timestamp,
    /// How long, in nanoseconds.
    pub duration: u64,
}

/// A thread that was recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    /// When it began; `None` if that was before the recording.
    since: Option<Timestamp>,
    /// It had a context switch.
    switched: bool,
    /// Something shows it running.
    ran: bool,
}

/// The threads of a recording, and which of them had a context switch.
#[derive(Debug, Default)]
pub(crate) struct Unswitched {
    threads: HashMap<Tid, Life>,
    /// The threads that were asked for; `None` for all of the machine, and if the recording does not state them.
    asked_for: Option<HashSet<Tid>>,
    /// Threads that these started were recorded, too.
    inherited: bool,
    /// Each switch of the recorded threads has a record or a sample.
    complete: bool,
    /// An event samples all time that a thread runs.
    has_clock: bool,
    /// The first and the last time of the recording.
    times: Option<(Timestamp, Timestamp)>,
}

impl Unswitched {
    /// The size of its tables, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let asked_for = self.asked_for.as_ref().map_or(0, HashSet::allocation_size);
        self.threads.allocation_size() + asked_for
    }

    /// Takes in the events. `sampled`: each switch is sampled.
    pub(crate) fn learn(&mut self, head: &Head, sampled: bool) {
        let events = head.events();
        let has_records = events.iter().any(|event| event.attr.flags.context_switch());
        let limits = Limits::of(&head.features().command_line);
        self.complete = !limits.threads && (has_records || sampled && !limits.samples);
        self.inherited = events.iter().any(|event| event.attr.flags.inherit());
        self.has_clock = events.iter().any(is_clock);
    }

    /// Takes in a sample, and whether it is of a context switch.
    pub(crate) fn sample(&mut self, entry: &SampleEntry, is_switch: bool) {
        if entry.time == Timestamp(0) {
            return;
        }
        self.note(entry.time);
        if let Some(life) = self.known(entry.pid, entry.tid) {
            life.switched |= is_switch;
            life.ran = true;
        }
    }

    /// A sample of a switch names the thread that comes.
    pub(crate) fn comes(&mut self, tid: Tid) {
        if let Some(life) = self.threads.get_mut(&tid) {
            life.switched = true;
        }
    }

    /// Takes in a record that is no sample.
    pub(crate) fn record(&mut self, record: &TimedRecord<'_>) {
        if record.time != Timestamp(0) {
            self.note(record.time);
            // The task at hand writes the record.
            let task = record.trailer.tid.and_then(|tid| self.threads.get_mut(&tid));
            if let Some(life) = task {
                life.ran = true;
            }
        }
        match &record.record {
            Record::Comm(comm) if self.is_asked_for(comm.tid) => {
                self.known(comm.pid, comm.tid);
            }
            Record::Fork(task) if task.synthesized && self.is_asked_for(task.tid) => {
                self.known(task.pid, task.tid);
            }
            Record::Fork(task) if !task.synthesized => {
                self.threads.remove(&task.tid);
                if self.inherited || self.is_asked_for(task.tid) {
                    let since = Some(record.time);
                    if let Some(life) = self.known(task.pid, task.tid) {
                        life.since = since;
                    }
                }
            }
            // Its last switch has no id any more, but samples before that do.
            Record::Exit(task) => {
                if let Some(life) = self.known(task.pid, task.tid) {
                    life.switched = true;
                }
            }
            Record::Switch(_) => {
                if let (Some(pid), Some(tid)) = (record.trailer.pid, record.trailer.tid)
                    && let Some(life) = self.known(pid, tid)
                {
                    life.switched = true;
                }
            }
            Record::User(user @ UserRecord::ThreadMap(_)) => self.ask_for(user),
            _ => {}
        }
    }

    /// The threads without a switch, by when they began, with their states and their time in the recording.
    pub(crate) fn finish(self) -> Vec<(Life, ThreadState, Timestamp, Timestamp)> {
        if !self.complete {
            return Vec::new();
        }
        let (first, last) = self.times.unwrap_or_default();
        let unswitched = self.threads.into_values().filter(|life| !life.switched);
        let mut found: Vec<_> = unswitched
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

    /// A thread, which is there since before the recording if it was not known. Idle tasks are no threads.
    fn known(&mut self, pid: Pid, tid: Tid) -> Option<&mut Life> {
        let new = Life { pid, tid, since: None, switched: false, ran: false };
        (tid.0 > 0).then(|| self.threads.entry(tid).or_insert(new))
    }

    fn is_asked_for(&self, tid: Tid) -> bool {
        self.asked_for.as_ref().is_none_or(|threads| threads.contains(&tid))
    }

    /// The list has -1 if all threads of the machine were recorded.
    fn ask_for(&mut self, map: &UserRecord<'_>) {
        let tids = map.threads().map(|thread| i32::try_from(thread.tid).ok().map(Tid));
        let listed: Option<HashSet<Tid>> = tids.collect();
        self.asked_for = listed.filter(|threads| !threads.is_empty());
        if let Some(asked_for) = &self.asked_for {
            self.threads.retain(|tid, life| life.since.is_some() || asked_for.contains(tid));
        }
    }

    fn note(&mut self, time: Timestamp) {
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }
}

/// The limits that the recorder was given on its command line. No record states them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Limits {
    /// Threads: those on other processors (`-C`), in other control groups (`-G`).
    threads: bool,
    /// Samples of tracepoints (`--filter`).
    samples: bool,
}

impl Limits {
    /// Arguments of the recorded program that look like such options only make the result more cautious.
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

/// Returns true if an event samples threads all the time that they run: a clock of the kernel, or a counter of the
/// processor.
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
        let of = |line: &str| Limits::of(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        let none = Limits::default();
        assert_eq!(of("perf record -g -a -F 99 -- sleep 1"), none);
        for line in
            ["perf record -C 0", "perf record -aC1", "perf record --cpu=1", "perf record -a -G web"]
        {
            assert_eq!(of(line), Limits { threads: true, ..none }, "{line}");
        }
        let filtered = Limits { samples: true, ..none };
        assert_eq!(of("perf record -e sched:sched_switch --filter prev_pid!=0"), filtered);
    }
}
