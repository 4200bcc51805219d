//! Calls that were under way, and what says that they belong together.

use std::num::NonZeroU32;

use unwinder::{Place, Saved};

/// A call that was under way: a function's frame, and where it returns to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Where the frame of the callee begins: its CFA. The slot of the return address is below it.
    pub(crate) cfa: u64,
    /// Where the callee was when it was seen last.
    pub(crate) callee: Place,
    /// Where it was called, which is where the caller is.
    pub(crate) caller: Place,
    /// What the callee saved of the caller's registers.
    pub(crate) saved: Saved,
    /// What says that the caller's frame is that of the next call outside.
    pub(crate) link: Link,
    /// How many samples showed it.
    pub(crate) seen: u32,
    /// The last of them, counted in samples of the stack.
    pub(crate) last: u32,
    /// Where it is kept as it is now, if it is; of one that is kept, where the one outside of it is.
    pub(super) kept: Option<NonZeroU32>,
}

impl Call {
    /// Whether the other one is at the same place of the stack and returns to the same address.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.cfa == other.cfa && self.caller == other.caller
    }
}

/// What says that a frame belongs to the call outside of it that is remembered, from strong to weak.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Link {
    /// It is the outermost frame: no call is outside of it.
    Root,
    /// A sample showed both.
    Seen,
    /// A frame inside of it is the same in two samples: it is in the same place, was called from the same place of the
    /// code, and saved the same registers, which tell it apart from other calls.
    SameFrame,
    /// Its place and the function agree; whether it is the same call nothing says.
    SamePlace,
    /// Its place agrees: another function of that place was called before, or is called afterwards.
    OtherFunction,
    /// Nothing: what is between was not seen.
    Gap,
}

impl Link {
    /// The link of a call that was linked to the call inside of it in this way, where that one was taken for `inner`: if
    /// it may be another one in the same place, so may be what was seen outside of it.
    pub(super) fn outside_of(self, inner: Self) -> Self {
        match self {
            Self::Seen | Self::SameFrame if inner > Self::SameFrame => Self::SamePlace,
            link => link,
        }
    }

    /// The link for samples that follow: a call of another function is over.
    pub(super) const fn for_later(self) -> Self {
        match self {
            Self::OtherFunction => Self::Gap,
            link => link,
        }
    }
}
