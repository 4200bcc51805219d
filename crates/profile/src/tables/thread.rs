//! Threads that have samples.

use address::{Pid, Tid};

use crate::id::StringId;

/// A thread under one name, in a process under one name, in one control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadRow {
    /// Process id; -1 for a task that had already exited.
    pub pid: Pid,
    /// Thread id.
    pub tid: Tid,
    /// Its name (`comm`) at the time.
    pub comm: StringId,
    /// The name of its process at the time: that of the last program that it executed, or under which the recorder listed
    /// it. A renaming of the main thread does not change it.
    pub process: StringId,
    /// The path of its control group at the time; `None` where it was not recorded.
    pub cgroup: Option<StringId>,
}

/// A process under one name: a process that executes another program is another one from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessKey {
    /// Process id; -1 for a task that had already exited.
    pub pid: Pid,
    /// Its name; empty if nothing is known.
    pub name: StringId,
}

impl ThreadRow {
    /// The thread's process.
    #[must_use]
    pub const fn process_key(&self) -> ProcessKey {
        ProcessKey { pid: self.pid, name: self.process }
    }
}
