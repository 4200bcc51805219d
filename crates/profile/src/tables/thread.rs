//! Threads that have samples.

use address::{Pid, Tid};

use crate::id::StringId;

/// A thread under one name, in one control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadRow {
    /// Process id; -1 for a task that had already exited.
    pub pid: Pid,
    /// Thread id.
    pub tid: Tid,
    /// Its name (`comm`) at the time.
    pub comm: StringId,
    /// The path of its control group at the time; `None` where it was not recorded.
    pub cgroup: Option<StringId>,
}
