//! Threads with samples.

use address::{Pid, Tid};

use crate::encoding::encoding;
use crate::id::StringId;

/// A thread with one name, in a process with one name, in one control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadRow {
    /// Process id; -1 for a task that had already exited.
    pub pid: Pid,
    /// Thread id.
    pub tid: Tid,
    /// Its name (`comm`) at that time.
    pub comm: StringId,
    /// Name of its process at that time: that of the last executed program, or the one listed by the recorder. Renaming
    /// the main thread does not change it.
    pub process: StringId,
    /// Path of its control group at that time; `None` if it was not recorded.
    pub cgroup: Option<StringId>,
}

encoding! { ThreadRow {
    pid: Pid,
    tid: Tid,
    comm: StringId,
    process: StringId,
    cgroup: Option<StringId>,
} }

/// A process with one name. A process that executes another program has a new key from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessKey {
    /// Process id; -1 for a task that had already exited.
    pub pid: Pid,
    /// Its name; empty if it is unknown.
    pub name: StringId,
}

impl ThreadRow {
    /// Key of the thread's process.
    #[must_use]
    pub const fn process_key(&self) -> ProcessKey {
        ProcessKey { pid: self.pid, name: self.process }
    }
}
