//! Threads: a row for each thread and event, in the order of their processes' first samples. The format has one name
//! per process. A process that executes another program becomes a new process `PID.1`, as in samply's profiles.

use std::io;

use address::Pid;
use hashbrown::{HashMap, HashSet};

use super::markers::Markers;
use super::sink::{TextSink, push_milliseconds};
use super::tables::SharedTables;
use super::{StackWeight, ThreadContext};
use crate::render::text::{push_json, push_number};
use profile::query::{event_name, period_units};
use profile::{EventId, ProcessKey, Profile, SampleId, SampleRow, StringId};

/// Samples of one event in one thread.
pub(super) struct ThreadTrack {
    process: ProcessKey,
    tid: i32,
    event: EventId,
    /// Index among the rows of the thread.
    part: usize,
    /// Whether this is the first row of the process's main thread.
    is_main: bool,
    /// Index among the names of the process id.
    name: usize,
    /// Names in order, each with the time of its first sample.
    comms: Vec<(u64, StringId)>,
    /// Sorted by time.
    samples: Vec<SampleId>,
    /// Time of the process's first sample.
    start: u64,
    /// Number of processes found before its process.
    found: usize,
}

/// Returns the earliest sample time, or 0 if no sample has a time.
pub(super) fn first_time(profile: &Profile) -> u64 {
    profile.samples.iter().filter_map(|sample| sample.time()).map(|time| time.0).min().unwrap_or(0)
}

/// Returns the threads, ordered by the first sample of their process, then by their own first sample.
pub(super) fn threads(profile: &Profile) -> Vec<ThreadTrack> {
    let mut index: HashMap<(ProcessKey, i32, EventId), usize> = HashMap::new();
    // By process: time of its first sample, number of processes found before it, and index among the names of its id.
    let mut processes: HashMap<ProcessKey, (u64, usize, usize)> = HashMap::new();
    let mut names: HashMap<Pid, usize> = HashMap::new();
    let mut parts: HashMap<(Pid, i32), usize> = HashMap::new();
    let mut mains: HashSet<ProcessKey> = HashSet::new();
    let mut threads: Vec<ThreadTrack> = Vec::new();
    let mut now = first_time(profile);
    for (id, sample) in profile.samples.entries() {
        now = sample.time().map_or(now, |time| time.0);
        let Some(row) = profile.threads.get(sample.thread) else { continue };
        let (process, tid) = (row.process_key(), row.tid.0);
        let found = processes.len();
        let &mut (start, found, name) = processes.entry(process).or_insert_with(|| {
            let name = names.entry(process.pid).or_default();
            *name += 1;
            (now, found, *name - 1)
        });
        let at = *index.entry((process, tid, sample.event)).or_insert_with(|| {
            let part = parts.entry((process.pid, tid)).or_default();
            *part += 1;
            threads.push(ThreadTrack {
                process,
                tid,
                event: sample.event,
                part: *part - 1,
                is_main: process.pid.0 == tid && mains.insert(process),
                name,
                comms: Vec::new(),
                samples: Vec::new(),
                start,
                found,
            });
            threads.len() - 1
        });
        if let Some(thread) = threads.get_mut(at) {
            if thread.comms.last().is_none_or(|&(_, comm)| comm != row.comm) {
                thread.comms.push((now, row.comm));
            }
            thread.samples.push(id);
        }
    }
    // Threads were found in time order; the stable sort preserves this order within a process.
    threads.sort_by_key(|thread| (thread.start, thread.found));
    threads
}

impl ThreadTrack {
    /// Writes the thread.
    pub(super) fn write(
        &self,
        shared: &ThreadContext<'_>,
        last: bool,
        tables: &SharedTables<'_>,
        sink: &mut TextSink<'_>,
    ) -> io::Result<()> {
        let profile = shared.profile;
        sink.raw(b"{\"processType\":\"default\",\"processStartupTime\":");
        sink.milliseconds(self.start.saturating_sub(shared.origin));
        sink.raw(b",\"processShutdownTime\":null,\"registerTime\":");
        let registered = self.comms.first().map_or(self.start, |&(time, _)| time);
        sink.milliseconds(registered.saturating_sub(shared.origin));
        sink.raw(b",\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":\"");
        let comm = self.comms.last().map_or(self.process.name, |&(_, comm)| comm);
        let name = shared.names.escaped(comm);
        sink.raw(if name.is_empty() { b"[unknown]" } else { name });
        if profile.events.len() > 1 {
            sink.raw(b" (");
            push_json(sink.text(), event_name(profile, self.event));
            sink.raw(b")");
        }
        sink.raw(b"\",\"processName\":\"");
        sink.raw(shared.names.escaped(self.process.name));
        let pid = self.process.pid;
        // Process ids must differ, too.
        let pid = if self.name == 0 { pid.to_string() } else { format!("{pid}.{}", self.name) };
        let main = self.is_main;
        sink.raw(format!("\",\"isMainThread\":{main},\"pid\":\"{pid}\",\"tid\":").as_bytes());
        // Thread ids must differ.
        if self.part == 0 {
            sink.raw(format!("{},\n", self.tid).as_bytes());
        } else {
            sink.raw(format!("\"{}.{}\",\n", self.tid, self.part).as_bytes());
        }
        self.write_samples(shared, tables, sink)?;
        sink.raw(b",\n");
        self.markers(shared, last).write(shared.origin, sink)?;
        sink.raw(b"}");
        Ok(())
    }

    /// Returns the markers. The `last` thread also has the kernel's losses, because their threads are unknown.
    fn markers(&self, shared: &ThreadContext<'_>, last: bool) -> Markers {
        let profile = shared.profile;
        let mut markers = Markers::default();
        markers.renamed(self.comms.iter().skip(1), shared);
        let lost = profile.summary.lost_samples;
        if last && lost > 0 {
            let time = self.rows(profile).filter_map(|row| row.time()).map(|time| time.0).max();
            markers.lost(time.unwrap_or(shared.origin), lost, shared);
        }
        markers.values(self.event, &self.samples, profile);
        markers.spans(&self.samples, profile);
        markers
    }

    fn rows<'a>(&'a self, profile: &'a Profile) -> impl Iterator<Item = &'a SampleRow> {
        self.samples.iter().filter_map(|&id| profile.samples.get(id))
    }

    fn write_samples(
        &self,
        shared: &ThreadContext<'_>,
        tables: &SharedTables<'_>,
        sink: &mut TextSink<'_>,
    ) -> io::Result<()> {
        let profile = shared.profile;
        sink.raw(b"\"samples\":{");
        sink.options("stack", self.rows(profile).map(|row| tables.node(row)))?;
        sink.raw(b",");
        let mut before = shared.origin;
        let deltas = self.rows(profile).map(|row| {
            let now = row.time().map_or(before, |time| time.0.max(before));
            std::mem::replace(&mut before, now).abs_diff(now)
        });
        sink.column("timeDeltas", deltas, push_milliseconds)?;
        let units = period_units(profile);
        let nanoseconds = units.get(self.event) == Some(&Some("nanoseconds"));
        let kind = match shared.printer.weight {
            StackWeight::Period | StackWeight::OffCpu if nanoseconds => "tracing-ms",
            _ => "samples",
        };
        if shared.printer.weight != StackWeight::Samples {
            sink.raw(b",");
            let periods = self.rows(profile).map(|row| row.period().unwrap_or(1));
            let put = |text: &mut Vec<u8>, period: u64| {
                if nanoseconds {
                    push_milliseconds(text, period)
                } else {
                    push_number(text, period)
                }
            };
            sink.column("weight", periods, put)?;
        } else {
            sink.raw(b",\"weight\":null");
        }
        // The period of a clock event is the CPU time of the thread since its previous sample.
        if nanoseconds && profile.off_cpu != Some(self.event) {
            sink.raw(b",");
            let periods = self.rows(profile).map(|row| row.period().unwrap_or(0));
            sink.column("threadCPUDelta", periods, push_number)?;
        }
        sink.raw(
            format!(",\"weightType\":\"{kind}\",\"length\":{}}}", self.samples.len()).as_bytes(),
        );
        Ok(())
    }
}
