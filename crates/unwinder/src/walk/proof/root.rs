//! Decides whether a thread can begin at the outermost frame of a chain. CFI that states an undefined return address is
//! trusted, unless its file contradicts itself. A return address of 0, and code that does not return, need more: no
//! direct call of that code in the file, and no guessed frame before it.

use address::Svma;
use hashbrown::HashMap;
use profile::{EndReason, FoundBy};

use crate::code::{ImageAddress, locate};
use crate::frame::{Frame, Step, StepEvidence};
use crate::rule::Rule;
use crate::state::WalkContext;
use crate::walk::Walker;

/// Evidence that a frame has no caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::walk) enum RootEvidence {
    /// Its unwind information, or the fact that it is the first code of a process.
    Stated,
    /// A return address of 0.
    Zero,
    /// The program counter 0 of code that a signal interrupted.
    Interrupted,
    /// Its instructions.
    Code,
}

/// Results of whether a file calls the code at an address, by the serial of the file. Each is computed once.
#[derive(Default, Debug)]
pub(in crate::walk) struct RootCache(HashMap<(u32, Svma), bool>);

/// Maximum number of cached addresses; beyond it, the cache is cleared.
const MAX_CACHED: usize = 1 << 12;

impl RootEvidence {
    /// Returns the evidence of a step from a frame without a caller.
    pub(in crate::walk) const fn of(rule: &Rule, step: &Step) -> Self {
        match (rule, &step.evidence) {
            (_, Some(StepEvidence::Outermost)) => Self::Stated,
            (Rule::Simple(rule), _) if rule.signal => Self::Interrupted,
            (Rule::Full { signal: true, .. }, _) => Self::Interrupted,
            (Rule::Simple(_) | Rule::Full { .. }, _) => Self::Zero,
            _ => Self::Code,
        }
    }
}

impl Walker<'_> {
    /// Returns the end of a chain with a last frame without a caller: `Root`, or `UnprovenRoot`.
    #[inline]
    pub(in crate::walk) fn judge_root(
        &mut self,
        by: RootEvidence,
        is_guessed: bool,
        frames: &[Frame],
        context: &WalkContext<'_>,
    ) -> EndReason {
        if by == RootEvidence::Stated && !self.engine.has_damaged_files() {
            return EndReason::Root;
        }
        self.judge_doubtful_root(by, is_guessed, frames, context)
    }

    #[cold]
    fn judge_doubtful_root(
        &mut self,
        by: RootEvidence,
        is_guessed: bool,
        frames: &[Frame],
        context: &WalkContext<'_>,
    ) -> EndReason {
        let is_damaged = self.engine.has_damaged_files()
            && frames.iter().any(|frame| {
                locate(frame.in_process(), &context.memory)
                    .is_some_and(|at| self.engine.unwind_info(at.file).is_damaged())
            });
        let is_proven = match by {
            _ if is_damaged => false,
            RootEvidence::Stated => true,
            RootEvidence::Interrupted => false,
            // Zeros are everywhere: one that a guess leads to proves nothing.
            RootEvidence::Zero => {
                !is_guessed && !frames.iter().any(is_guess) && self.is_beginning(frames, context)
            }
            RootEvidence::Code => self.is_beginning(frames, context),
        };
        if is_proven { EndReason::Root } else { EndReason::UnprovenRoot }
    }

    /// Returns true if no readable code of the outermost frame's file calls its function directly.
    fn is_beginning(&mut self, frames: &[Frame], context: &WalkContext<'_>) -> bool {
        let Some(at) = frames.last().and_then(|frame| locate(frame.in_process(), &context.memory))
        else {
            return false;
        };
        let key = (at.file.serial, at.svma);
        if let Some(&is_called) = self.cache.roots.0.get(&key) {
            return !is_called;
        }
        if self.cache.roots.0.len() >= MAX_CACHED {
            self.cache.roots.0.clear();
        }
        let is_called = self.is_called_directly(at, context);
        self.cache.roots.0.insert(key, is_called);
        !is_called
    }

    /// Returns true if a direct call of the file leads to the function at `at`, or if that is not known.
    fn is_called_directly(&mut self, at: ImageAddress<'_>, context: &WalkContext<'_>) -> bool {
        let start = self.engine.function_start(at.file, at.svma, context.memory.images);
        let functions = self.cache.fallback.functions();
        match start {
            Some(start) => {
                let function = ImageAddress { svma: Svma(start), ..at };
                functions.is_called_directly(function, context.arch).unwrap_or(true)
            }
            None => functions.is_in_called_function(at, context.arch).unwrap_or(true),
        }
    }
}

/// Returns true if a frame was not proven.
const fn is_guess(frame: &Frame) -> bool {
    matches!(frame.found_by, FoundBy::FramePointer | FoundBy::Prologue | FoundBy::Scan)
}
