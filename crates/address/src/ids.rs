//! Ids as newtypes: processes, threads, points in time, modules.

use std::fmt;

/// A process id as recorded, in the pid namespace of the recorder. `Pid(-1)` marks a task that had already exited.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pid(pub i32);

/// A thread id as recorded, in the pid namespace of the recorder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tid(pub i32);

/// Nanoseconds on the recording's clock. The recorder chooses its origin (usually boot).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub u64);

/// An index into the table of modules: distinct mapped objects, in order of first appearance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleId(pub u32);

impl ModuleId {
    /// Index of the row in the module table.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl crate::Id for ModuleId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
