//! A frame, and the step that leads to its caller.

use address::{Avma, ModuleId};
use profile::FoundBy;

use crate::rule::{Passed, Rule};

/// A frame as it was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// What was mapped at the looked-up address.
    pub module: Option<ModuleId>,
    /// The looked-up address (for callers: return address - 1) in the module: the address that its file states where
    /// a file was opened; else the offset in the file; for memory without file, and without module, the address in
    /// the process.
    pub relative: u64,
    /// What to add to `relative` for the address in the process.
    pub bias: u64,
    /// How it was found.
    pub found_by: FoundBy,
    /// Whether it ran in kernel mode.
    pub kernel: bool,
}

impl Frame {
    /// A frame at an address where nothing is mapped.
    pub(crate) const fn nowhere(lookup: Avma, found_by: FoundBy) -> Self {
        Self { module: None, relative: lookup.0, bias: 0, found_by, kernel: false }
    }
}

/// The caller of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// Where it goes on; 0 where there is none.
    pub(crate) pc: u64,
    /// It was interrupted there: the instruction at `pc` has not run.
    pub(crate) exact: bool,
    pub(crate) found_by: FoundBy,
    /// The step, where what it read tells whether it would be made again.
    pub(crate) passed: Option<(Rule, Passed)>,
}
