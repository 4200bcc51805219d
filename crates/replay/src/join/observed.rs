//! Frames of a thread's stack that the walk of one sample observed.

use unwinder::{CodeLocation, Saved};

/// A thread of a process image.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StackOwner(pub(crate) u32);

/// A stack of a thread. Threads can have several, for signals or coroutines, mostly far apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Stack {
    owner: StackOwner,
    region: u32,
}

/// An observed frame, reduced to the fields for comparing samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ObservedFrame {
    /// Location in the code.
    pub(crate) location: CodeLocation,
    /// Stack pointer in the frame, equal to the CFA of its callee.
    pub(crate) sp: u64,
    /// Caller's registers that it saved.
    pub(crate) saved: Saved,
}

/// Number of neighbours on each side that a frame must differ from: more than the period of most recursions.
pub(super) const AROUND: usize = 16;

/// Why a chain ended, as repair distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StackEnd {
    /// At the root: there are no outer frames.
    Root,
    /// For lack of stack bytes; with the CFA of the last frame, if known.
    Truncated(Option<u64>),
    /// Otherwise: the outer frames are unknown and must not be joined.
    Other,
}

/// Observed frames of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedStack<'a> {
    /// Owner of the stack.
    pub(crate) owner: StackOwner,
    /// Reliable user frames, innermost first; at least one.
    pub(crate) frames: &'a [ObservedFrame],
    pub(crate) end: StackEnd,
}

impl<'a> ObservedStack<'a> {
    /// Returns the stack of the first frame.
    pub(crate) fn stack(&self) -> Stack {
        /// Stack pointers in the same 4 GiB belong to one stack.
        const REGION: u32 = 32;
        let sp = self.frames.first().map_or(0, |frame| frame.sp);
        Stack { owner: self.owner, region: (sp >> REGION) as u32 }
    }

    /// Returns the last stack address that a truncated chain shows, if the CFA of its last frame is known.
    pub(crate) fn shown_to(&self) -> Option<u64> {
        match self.end {
            StackEnd::Truncated(Some(cfa)) => Some(cfa.saturating_sub(1)),
            _ => None,
        }
    }

    /// Returns true if none of the surrounding frames saved the same registers.
    /// Registers that functions pass down to each other,
    /// or that recursive frames share, are the same in every activation.
    pub(crate) fn is_distinctive(&self, index: usize) -> bool {
        let Some(saved) = self.frames.get(index).map(|frame| frame.saved) else { return false };
        let around = self.frames.iter().enumerate().skip(index.saturating_sub(AROUND));
        let mut around = around.take_while(|(at, _)| *at <= index + AROUND);
        around.all(|(at, other)| at == index || other.saved != saved)
    }

    /// Returns the calls, innermost first: each frame with that of its caller.
    pub(crate) fn calls(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&'a ObservedFrame, &'a ObservedFrame)>
    + ExactSizeIterator
    + use<'a> {
        self.frames.iter().zip(self.frames.get(1..).unwrap_or_default())
    }
}
