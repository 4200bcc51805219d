//! What the walk of one sample saw of its thread's stack.

use unwinder::{Place, Saved};

/// A thread of a process image.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StackOwner(pub(crate) u32);

/// A stack of a thread. Threads can have several: for signals, of coroutines. Those lie far apart as a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Stack {
    owner: StackOwner,
    region: u32,
}

/// A frame, as much of it as tells whether another sample shows the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SeenFrame {
    /// Where it is.
    pub(crate) place: Place,
    /// The stack pointer in it, which is where the frame of its callee begins (the callee's CFA).
    pub(crate) sp: u64,
    /// What it saved of its caller's registers.
    pub(crate) saved: Saved,
}

/// Frames so far away are looked at, to tell one apart: more than most recursions take for a round.
pub(super) const AROUND: usize = 16;

/// How a chain ended, as far as repair is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeenEnd {
    /// At the root: there is nothing outside of it.
    Root,
    /// For want of bytes; with the place where the frame of the last function begins, if that is known.
    Cut(Option<u64>),
    /// Otherwise: what is outside of it is not known, and not to be joined.
    Other,
}

/// What was seen of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// Whose stack.
    pub(crate) owner: StackOwner,
    /// User frames that can be relied on, innermost first; at least one.
    pub(crate) frames: &'a [SeenFrame],
    pub(crate) end: SeenEnd,
}

impl<'a> Seen<'a> {
    /// Which stack it is.
    pub(crate) fn stack(&self) -> Stack {
        /// Stacks in the same 4 GiB are taken for one.
        const REGION: u32 = 32;
        let sp = self.frames.first().map_or(0, |frame| frame.sp);
        Stack { owner: self.owner, region: (sp >> REGION) as u32 }
    }

    /// Up to where on the stack the chain says what there is, if it was cut off and where its last frame begins is known.
    pub(crate) fn told(&self) -> Option<u64> {
        match self.end {
            SeenEnd::Cut(Some(cfa)) => Some(cfa.saturating_sub(1)),
            _ => None,
        }
    }

    /// Whether what a frame saved tells it apart from those around it: none of them saved the same. What functions hand
    /// down to each other, and frames of a recursion have in common, is the same in any other activation of these.
    pub(crate) fn tells_apart(&self, index: usize) -> bool {
        let Some(saved) = self.frames.get(index).map(|frame| frame.saved) else { return false };
        let around = self.frames.iter().enumerate().skip(index.saturating_sub(AROUND));
        let mut around = around.take_while(|(at, _)| *at <= index + AROUND);
        around.all(|(at, other)| at == index || other.saved != saved)
    }

    /// The calls, innermost first: each frame with that of its caller.
    pub(crate) fn calls(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&'a SeenFrame, &'a SeenFrame)> + ExactSizeIterator + use<'a>
    {
        self.frames.iter().zip(self.frames.get(1..).unwrap_or_default())
    }
}
