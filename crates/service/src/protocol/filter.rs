//! Which samples are wanted, in the words of the command.

use pipeline::{Pid, SampleFilter, Tid, TimePoint};
use serde::{Deserialize, Serialize};

use crate::problem::{Kind, Problem};

/// Reads a range of time, as the command does.
pub type TimeRange = fn(&str) -> Result<(Option<TimePoint>, Option<TimePoint>), String>;

/// Which samples are wanted; what is empty lets all pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SampleWords {
    /// Process ids.
    pub(crate) pid: Vec<i32>,
    /// Thread ids.
    pub(crate) tid: Vec<i32>,
    /// Names of threads, or patterns.
    pub(crate) comm: Vec<String>,
    /// Paths of control groups, or patterns.
    pub(crate) cgroup: Vec<String>,
    /// Names of events, or patterns.
    pub(crate) event: Vec<String>,
    /// From and to.
    pub(crate) time: Option<String>,
}

impl SampleWords {
    /// What it means for a run.
    ///
    /// # Errors
    /// Where the time is none.
    pub(crate) fn filter(&self, time_range: TimeRange) -> Result<SampleFilter, Problem> {
        let bad = |why: String| Problem::new(Kind::BadRequest).detail(format!("time: {why}"));
        let (from, to) = match &self.time {
            Some(text) => time_range(text).map_err(bad)?,
            None => (None, None),
        };
        let bytes = |texts: &[String]| texts.iter().map(|it| it.clone().into_bytes()).collect();
        Ok(SampleFilter {
            pids: self.pid.iter().copied().map(Pid).collect(),
            tids: self.tid.iter().copied().map(Tid).collect(),
            comms: bytes(&self.comm),
            cgroups: bytes(&self.cgroup),
            events: self.event.clone(),
            from,
            to,
        })
    }
}
