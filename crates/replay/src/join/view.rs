//! A sample's callers as one direction of time knows them.

use crate::join::call::{ActiveCall, CallerList, Link};
use crate::join::snapshots::SnapshotCalls;
use crate::join::start::StartCalls;
use crate::join::trials::Trials;
use crate::join::variety::{Proofs, Variety};

/// A sample's callers as one direction of time knows them.
#[derive(Clone, Copy)]
pub(crate) struct CallerView<'a> {
    /// Calls outside of the sample's frames.
    pub(crate) calls: SnapshotCalls<'a>,
    /// Evidence that links the sample's last frame to the first of them.
    pub(crate) link: Link,
    /// Return locations of the frames that prove this link.
    pub(super) proofs: Proofs,
    /// Reliability of evidence.
    pub(crate) trials: &'a Trials,
    /// Diversity of saved registers.
    pub(super) variety: &'a Variety,
    /// Start of the stack.
    pub(crate) start: Option<StartCalls<'a>>,
    /// Number of samples of the stack before this one.
    pub(crate) now: u32,
    /// True if this direction alone proves all calls taken from it so far.
    pub(crate) sure: bool,
}

impl<'a> CallerView<'a> {
    /// Weakens the proof of the first outer call if, in the other direction,
    /// its saved registers do not distinguish calls.
    pub(super) fn doubt(&mut self, other: &Self) {
        if self.link == Link::SameFrame && !self.proofs.hold(other.variety) {
            self.link = Link::SamePlace;
        }
    }

    /// The next outer call, and the evidence for it.
    pub(super) fn next(&self) -> Option<(&'a ActiveCall, Link)> {
        self.calls.innermost().map(|call| (call, self.link)).filter(|_| self.link < Link::Gap)
    }

    /// Returns true if this direction alone proves the next outer call.
    pub(super) fn proves_next(&self) -> bool {
        self.sure && self.calls.innermost().is_some_and(|call| self.trials.prove(self.link, call))
    }

    /// Returns true if this direction supports a call that both show.
    pub(super) fn supports_next(&self) -> bool {
        self.next().is_some_and(|(call, link)| self.trials.support(link, call))
    }

    /// Advances one call outwards.
    pub(super) fn advance(&mut self) {
        if let Some(call) = self.calls.innermost() {
            self.sure = self.proves_next();
            (self.calls, self.link) = (self.calls.outer(), call.link.outside_of(self.link));
        }
    }

    /// Advances over calls that samples showed together and that need no decision.
    /// Either both directions show the same calls, or one is sure of them and the other has none.
    /// Appends their callers, up to the root or until the list is full, and returns the last call.
    pub(super) fn advance_linked(
        &mut self,
        other: &mut Self,
        callers: &mut CallerList<'_>,
    ) -> Option<&'a ActiveCall> {
        match (self.link, other.link) {
            (_, Link::Gap) => self.advance_alone(callers),
            (Link::Gap, _) => other.advance_alone(callers),
            _ => self.advance_together(other, callers),
        }
    }

    fn advance_alone(&mut self, callers: &mut CallerList<'_>) -> Option<&'a ActiveCall> {
        let mut last = None;
        while !callers.is_full()
            && self.sure
            && self.link <= Link::Observed
            && let Some((call, outer)) = self.calls.split_innermost()
        {
            callers.push(call.caller);
            (self.calls, self.link) = (outer, call.link);
            last = Some(call);
            if call.link == Link::Root {
                break;
            }
        }
        last
    }

    fn advance_together(
        &mut self,
        other: &mut Self,
        callers: &mut CallerList<'_>,
    ) -> Option<&'a ActiveCall> {
        let mut last = None;
        while !callers.is_full()
            && self.link.max(other.link) <= Link::Observed
            && let Some((one, outer)) = self.calls.split_innermost()
            && let Some((two, other_outer)) = other.calls.split_innermost()
            && one.is_same(two)
        {
            callers.push(one.caller);
            (self.calls, self.link) = (outer, one.link);
            (other.calls, other.link) = (other_outer, two.link);
            last = Some(one);
            if one.link == Link::Root {
                break;
            }
        }
        last
    }

    /// Excludes this direction from further steps.
    pub(super) const fn exclude(&mut self) {
        self.link = Link::Gap;
    }

    /// Returns the number of the stack's samples between the last one that showed a call and this one.
    pub(super) const fn age(&self, call: &ActiveCall) -> u32 {
        self.now.saturating_sub(call.last)
    }
}
