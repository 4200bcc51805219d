//! Active calls, and the evidence that links a call to the next outer one.

use std::num::NonZeroU32;

use unwinder::{CodeLocation, Saved};

/// An active call: a function's frame and its return location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveCall {
    /// CFA of the callee. The slot of the return address is below it.
    pub(crate) cfa: u64,
    /// Last observed location in the callee.
    pub(crate) callee: CodeLocation,
    /// Location of the call in the caller.
    pub(crate) caller: CodeLocation,
    /// Caller's registers that the callee saved.
    pub(crate) saved: Saved,
    /// Evidence that the caller's frame is the callee frame of the next outer call.
    pub(crate) link: Link,
    /// Number of samples that showed it.
    pub(crate) samples: u32,
    /// Index of the last of them, among the samples of the stack.
    pub(crate) last: u32,
    /// Position of the stored copy, if current; in a stored copy, the position of the next outer call.
    pub(super) snapshot: Option<NonZeroU32>,
}

/// Callers of a chain, innermost first, appended to those of other chains.
pub(super) struct CallerList<'l> {
    locations: &'l mut Vec<CodeLocation>,
    /// Number of callers of other chains.
    first: usize,
    /// Number of all callers when the list is full.
    full: usize,
}

impl<'l> CallerList<'l> {
    /// Begins a list that is full with more than `most` callers: the chain omits the others.
    pub(super) fn new(locations: &'l mut Vec<CodeLocation>, most: usize) -> Self {
        let first = locations.len();
        Self { locations, first, full: first.saturating_add(most).saturating_add(1) }
    }

    pub(super) const fn len(&self) -> usize {
        self.locations.len() - self.first
    }

    pub(super) const fn is_full(&self) -> bool {
        self.locations.len() >= self.full
    }

    pub(super) fn push(&mut self, caller: CodeLocation) {
        self.locations.push(caller);
    }

    /// Adds callers until the list is full.
    pub(super) fn extend(&mut self, callers: impl Iterator<Item = CodeLocation>) {
        self.locations.extend(callers.take(self.full.saturating_sub(self.locations.len())));
    }
}

impl ActiveCall {
    /// Returns true if both calls have the same CFA and return address.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.cfa == other.cfa && self.caller == other.caller
    }
}

/// Evidence that links a frame to the next outer call in memory, from strong to weak.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Link {
    /// It is the outermost frame: there is no outer call.
    Root,
    /// A sample showed both frames.
    Observed,
    /// An inner frame is the same in two samples: same CFA, same call location.
    /// It also saved the same registers, which distinguish it from other calls.
    SameFrame,
    /// The CFA and the function agree; nothing shows that it is the same call.
    SamePlace,
    /// Only the CFA agrees: an earlier or later call of another function had it.
    OtherFunction,
    /// None: the frames in between were not observed.
    Gap,
}

impl Link {
    /// Returns the effective link to the next outer call, if the link to this call is `inner`.
    /// If this call may be another one at the same CFA, so may the outer ones.
    pub(super) fn outside_of(self, inner: Self) -> Self {
        match self {
            Self::Observed | Self::SameFrame if inner > Self::SameFrame => Self::SamePlace,
            link => link,
        }
    }

    /// Returns the link for later samples: a call of another function is over.
    pub(super) const fn for_later(self) -> Self {
        match self {
            Self::OtherFunction => Self::Gap,
            link => link,
        }
    }
}
