//! Description of the samples that a filter rejected.

use address::{Pid, Tid, Timestamp};
use module_map::Timeline;
use perf_data::Event;

/// Threads, control groups, events, processors and times of the samples that a filter rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectedSamples {
    /// Their threads, once for each name, sorted.
    pub threads: Vec<(Pid, Tid, Vec<u8>)>,
    /// The paths of their control groups, sorted.
    pub cgroups: Vec<Vec<u8>>,
    /// The names of their events, in the order of the recording.
    pub events: Vec<String>,
    /// The numbers of their processors, sorted, if the filter names processors.
    pub cpus: Vec<u32>,
    /// The first and last of their times.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl RejectedSamples {
    pub(crate) fn new(
        found: &replay::RejectedSamples,
        timeline: &Timeline,
        events: &[Event],
    ) -> Self {
        let named = |thread: &replay::Thread| {
            (thread.pid, thread.tid, timeline.comm_name(thread.comm).to_vec())
        };
        let mut threads: Vec<_> = found.threads.iter().map(named).collect();
        threads.sort();
        let mut cgroups: Vec<_> =
            found.threads.iter().filter_map(|it| Some(timeline.cgroup_path(it.cgroup?))).collect();
        cgroups.sort();
        cgroups.dedup();
        let mut indexes: Vec<u16> = found.events.iter().copied().collect();
        indexes.sort_unstable();
        let events = indexes.iter().filter_map(|&index| events.get(usize::from(index)));
        let events = events.map(|event| event.name.clone()).collect();
        // A thread has one entry for each of its control groups.
        threads.dedup();
        let mut cpus: Vec<u32> = found.cpus.iter().copied().collect();
        cpus.sort_unstable();
        Self { threads, cgroups, events, cpus, times: found.times }
    }
}
