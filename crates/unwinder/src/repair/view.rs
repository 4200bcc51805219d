//! What one direction of time says of a sample.

use crate::repair::call::{Call, Link};
use crate::repair::kept::Calls;
use crate::repair::start::Start;
use crate::repair::trials::Trials;

/// What one direction says of a sample.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// Calls outside of the sample's.
    pub(crate) calls: Calls<'a>,
    /// What says that the sample's last frame belongs to the first of them.
    pub(crate) link: Link,
    /// How far weak evidence can be relied on.
    pub(crate) trials: &'a Trials,
    /// What the stack starts with.
    pub(crate) start: Option<&'a Start>,
    /// How many samples of the stack were taken in before this one.
    pub(crate) now: u32,
    /// Whether all that was taken from this direction so far is proven by it alone.
    pub(crate) sure: bool,
}

impl<'a> View<'a> {
    /// The next call outside, and what says so.
    pub(super) fn next(&self) -> Option<(&'a Call, Link)> {
        self.calls.innermost().map(|call| (call, self.link)).filter(|_| self.link < Link::Gap)
    }

    /// Where the callee's frame of the next call outside begins.
    pub(super) fn next_cfa(&self) -> Option<u64> {
        self.next().map(|(call, _)| call.cfa)
    }

    /// Whether the next call outside is proven by this direction alone.
    pub(super) fn proves_next(&self) -> bool {
        self.sure
            && self.link < Link::OtherFunction
            && self.calls.innermost().is_some_and(|call| self.trials.prove(self.link, call))
    }

    /// Whether this direction supports what both say.
    pub(super) fn supports_next(&self) -> bool {
        self.next().is_some_and(|(call, link)| self.trials.support(link, call))
    }

    /// Goes one call outwards.
    pub(super) fn advance(&mut self) {
        if let Some(call) = self.calls.innermost() {
            self.sure = self.proves_next();
            (self.calls, self.link) = (self.calls.outer(), call.link.outside_of(self.link));
        }
    }

    /// Nothing more is taken from this direction step by step.
    pub(super) const fn give_up(&mut self) {
        self.link = Link::Gap;
    }

    /// How many samples of the stack lie between the last that showed a call and this one.
    pub(super) const fn age(&self, call: &Call) -> u32 {
        self.now.saturating_sub(call.last)
    }
}
