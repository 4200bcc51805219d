//! Whether a thread can begin where a chain has its outermost frame. Call frame information that states an undefined
//! return address is believed, unless its file contradicts itself. A return address of 0, and code that does not return,
//! need more: nothing in the file may call that code directly, and no frame before it may be a guess.

use address::Svma;
use hashbrown::HashMap;
use profile::{EndReason, FoundBy};

use crate::code::{InFile, locate};
use crate::frame::{Evidence, Frame, Step};
use crate::rule::Rule;
use crate::state::WalkContext;
use crate::walk::Walker;

/// What showed that a frame has no caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::walk) enum RootBy {
    /// Its unwind information, or that it is the code which a process begins with.
    Stated,
    /// A return address of 0.
    Zero,
    /// The program counter of 0 that a signal interrupted.
    Interrupted,
    /// Its instructions.
    Code,
}

/// Whether something calls the code at an address, by the serial of its file. Each is decided once.
#[derive(Default, Debug)]
pub(in crate::walk) struct RootCache(HashMap<(u32, Svma), bool>);

/// Addresses that are kept; beyond, all are forgotten.
const MOST_KEPT: usize = 1 << 12;

impl RootBy {
    /// What the step out of a frame without a caller was made by.
    pub(in crate::walk) const fn of(rule: &Rule, step: &Step) -> Self {
        match (rule, &step.evidence) {
            (_, Some(Evidence::Outermost)) => Self::Stated,
            (Rule::Simple(rule), _) if rule.signal => Self::Interrupted,
            (Rule::Full { signal: true, .. }, _) => Self::Interrupted,
            (Rule::Simple(_) | Rule::Full { .. }, _) => Self::Zero,
            _ => Self::Code,
        }
    }
}

impl Walker<'_> {
    /// The end of a chain whose last frame has no caller: `Root`, or `UnprovenRoot`.
    #[inline]
    pub(in crate::walk) fn judge_root(
        &mut self,
        by: RootBy,
        is_guessed: bool,
        frames: &[Frame],
        context: &WalkContext<'_>,
    ) -> EndReason {
        if by == RootBy::Stated && !self.engine.has_damaged_files() {
            return EndReason::Root;
        }
        self.judge_doubtful_root(by, is_guessed, frames, context)
    }

    #[cold]
    fn judge_doubtful_root(
        &mut self,
        by: RootBy,
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
            RootBy::Stated => true,
            RootBy::Interrupted => false,
            // Zeros are everywhere: one that a guess leads to proves nothing.
            RootBy::Zero => {
                !is_guessed && !frames.iter().any(is_guess) && self.is_beginning(frames, context)
            }
            RootBy::Code => self.is_beginning(frames, context),
        };
        if is_proven { EndReason::Root } else { EndReason::UnprovenRoot }
    }

    /// Whether nothing in its file calls the function of the outermost frame directly, as far as its code can be read.
    fn is_beginning(&mut self, frames: &[Frame], context: &WalkContext<'_>) -> bool {
        let Some(at) = frames.last().and_then(|frame| locate(frame.in_process(), &context.memory))
        else {
            return false;
        };
        let key = (at.file.serial, at.svma);
        if let Some(&is_called) = self.cache.roots.0.get(&key) {
            return !is_called;
        }
        if self.cache.roots.0.len() >= MOST_KEPT {
            self.cache.roots.0.clear();
        }
        let is_called = self.is_called_directly(at, context);
        self.cache.roots.0.insert(key, is_called);
        !is_called
    }

    /// Whether a direct call of the file leads to the function at hand, or that is not known.
    fn is_called_directly(&mut self, at: InFile<'_>, context: &WalkContext<'_>) -> bool {
        let start = self.engine.function_start(at.file, at.svma, context.memory.images);
        let functions = self.cache.fallback.functions();
        match start {
            Some(start) => {
                let function = InFile { svma: Svma(start), ..at };
                functions.is_called_directly(function, context.arch).unwrap_or(true)
            }
            None => functions.is_in_called_function(at, context.arch).unwrap_or(true),
        }
    }
}

/// Whether a frame was not proven.
const fn is_guess(frame: &Frame) -> bool {
    matches!(frame.found_by, FoundBy::FramePointer | FoundBy::Prologue | FoundBy::Scan)
}
