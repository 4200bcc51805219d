//! The constant facts of one walk.

use std::cell::Cell;

use crate::arch::Processor;
use crate::state::SampleMemory;

/// The purpose of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WalkMode {
    /// To find the frames of a sample.
    Sample,
    /// To find the frames of a sample beyond a guess, so that a return address of 0 proves nothing.
    BeyondGuess,
    /// To test whether call frame information alone leads from a word of the stack to a root. Zeros are everywhere, so
    /// a return address of 0 proves nothing.
    Trial,
}

/// The memory, the processor and the purpose of one walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkContext<'a> {
    /// The recorded stack, and the files that are mapped in the address space.
    pub(crate) memory: SampleMemory<'a>,
    /// The processor of the registers.
    pub(crate) arch: Processor,
    pub(crate) mode: WalkMode,
    /// Number of frames that trials may still find for this sample.
    pub(crate) trial_frames: &'a Cell<usize>,
}

impl WalkContext<'_> {
    /// Returns the context for a trial.
    pub(crate) const fn for_trial(&self) -> Self {
        Self { mode: WalkMode::Trial, ..*self }
    }
}
