//! Which samples are wanted.

use address::{Pid, Tid, Timestamp};
use perf_data::SampleEntry;

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
    pub(crate) fn wants(&self, entry: &SampleEntry, comm: impl FnOnce() -> bool) -> bool {
        let any = |empty: bool, found: bool| empty || found;
        any(self.pids.is_empty(), self.pids.contains(&entry.pid))
            && any(self.tids.is_empty(), self.tids.contains(&entry.tid))
            && any(self.events.is_empty(), self.events.contains(&entry.event))
            && self.from.is_none_or(|from| from <= entry.time)
            && self.to.is_none_or(|to| entry.time <= to)
            && any(self.comms.is_empty(), comm())
    }
}
