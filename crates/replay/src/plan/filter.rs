//! The filter of samples, and a description of the rejected ones.

use address::{Pid, Tid, Timestamp};
use hashbrown::HashSet;
use options::SampleFilter;
use perf_data::{Batch, Head, SampleEntry, SampleType};

use crate::plan::threads::Thread;

/// The filter of the options, resolved for one recording. Maps are replayed in full, whatever it accepts.
#[derive(Clone, Debug, Default)]
pub struct ResolvedFilter {
    /// The options. An empty list accepts all samples.
    pub options: SampleFilter,
    /// Indexes of the events that `options.events` names.
    pub events: Vec<u16>,
    /// Start of `options.time` on the recording's clock, inclusive.
    pub from: Option<Timestamp>,
    /// End of `options.time` on the recording's clock, inclusive.
    pub to: Option<Timestamp>,
}

impl ResolvedFilter {
    /// Restricts the filter to events with these indexes.
    pub fn select_events(&mut self, events: &[u16]) {
        /// No recording has as many events.
        const NONE: u16 = u16::MAX;
        if self.events.is_empty() {
            self.events = events.to_vec();
        } else {
            self.events.retain(|event| events.contains(event));
        }
        if self.events.is_empty() {
            self.events.push(NONE);
        }
    }

    /// Returns true if a sample is wanted. `named` tests the name and the control group of its thread.
    pub(crate) fn wants(&self, entry: &SampleEntry, named: impl FnOnce() -> bool) -> bool {
        (self.events.is_empty() || self.events.contains(&entry.event))
            && self.from.is_none_or(|from| from <= entry.time)
            && self.to.is_none_or(|to| entry.time <= to)
            && self.wants_thread(entry.pid, entry.tid, named)
    }

    /// Returns the processor of a sample if the filter names processors; the sample is decoded a second time for it.
    #[inline]
    pub(crate) fn cpu(&self, entry: &SampleEntry, batch: &Batch) -> Option<u32> {
        if self.options.cpus.is_empty() {
            return None;
        }
        batch.sample(entry).ok()?.cpu
    }

    /// Returns true if samples on a processor are wanted.
    #[inline]
    pub(crate) fn wants_cpu(&self, cpu: Option<u32>) -> bool {
        let cpus = &self.options.cpus;
        cpus.is_empty() || cpu.is_some_and(|cpu| cpus.contains(&cpu))
    }

    /// Returns true if samples of a thread are wanted, of any event and time.
    pub(crate) fn wants_thread(&self, pid: Pid, tid: Tid, named: impl FnOnce() -> bool) -> bool {
        // Every option is named, so that one that no code obeys does not compile.
        let SampleFilter { pids, tids, comms, cgroups, events: _, cpus: _, time: _, conditions: _ } =
            &self.options;
        (pids.is_empty() || pids.contains(&pid))
            && (tids.is_empty() || tids.contains(&tid))
            && ((comms.is_empty() && cgroups.is_empty()) || named())
    }
}

/// Returns true if samples of the recording have a control group.
#[must_use]
pub fn has_cgroups(head: &Head) -> bool {
    any_samples(head, SampleType::CGROUP)
}

/// Returns true if samples of the recording state their processor.
#[must_use]
pub fn has_cpus(head: &Head) -> bool {
    any_samples(head, SampleType::CPU)
}

fn any_samples(head: &Head, field: SampleType) -> bool {
    head.events().iter().any(|event| event.attr.sample_type.has(field))
}

/// Threads, events, processors and times of the samples that a filter rejected.
#[derive(Clone, Debug, Default)]
pub struct RejectedSamples {
    /// Threads, one entry for each name.
    pub threads: HashSet<Thread>,
    /// Event indexes.
    pub events: HashSet<u16>,
    /// Processors, if the filter names some.
    pub cpus: HashSet<u32>,
    /// First and last time.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl RejectedSamples {
    pub(crate) fn add(&mut self, entry: &SampleEntry, thread: Thread) {
        self.threads.insert(thread);
        self.events.insert(entry.event);
        let (first, last) = self.times.unwrap_or((entry.time, entry.time));
        self.times = Some((first.min(entry.time), last.max(entry.time)));
    }
}
