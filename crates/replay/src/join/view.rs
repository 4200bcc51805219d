//! What one direction of time says of a sample.

use unwinder::Place;

use crate::join::call::{Call, Link};
use crate::join::kept::Calls;
use crate::join::start::StartCalls;
use crate::join::trials::Trials;
use crate::join::variety::{Proofs, Variety};

/// What one direction says of a sample.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// Calls outside of the sample's.
    pub(crate) calls: Calls<'a>,
    /// What says that the sample's last frame belongs to the first of them.
    pub(crate) link: Link,
    /// Where frames return to that prove it.
    pub(super) proofs: Proofs,
    /// How far evidence can be relied on.
    pub(crate) trials: &'a Trials,
    /// What it is worth that frames saved the same.
    pub(super) variety: &'a Variety,
    /// What the stack starts with.
    pub(crate) start: Option<StartCalls<'a>>,
    /// How many samples of the stack were taken in before this one.
    pub(crate) now: u32,
    /// Whether all that was taken from this direction so far is proven by it alone.
    pub(crate) sure: bool,
}

impl<'a> View<'a> {
    /// What proves the first call outside is no proof if the other direction knows that calls from there save the same anyway.
    pub(super) fn doubt(&mut self, other: &Self) {
        if self.link == Link::SameFrame && !self.proofs.hold(other.variety) {
            self.link = Link::SamePlace;
        }
    }

    /// The next call outside, and what says so.
    pub(super) fn next(&self) -> Option<(&'a Call, Link)> {
        self.calls.innermost().map(|call| (call, self.link)).filter(|_| self.link < Link::Gap)
    }

    /// Whether the next call outside is proven by this direction alone.
    pub(super) fn proves_next(&self) -> bool {
        self.sure && self.calls.innermost().is_some_and(|call| self.trials.prove(self.link, call))
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

    /// Goes outwards over calls that were seen outside of each other, where nothing is to be decided: both directions show
    /// the same ones, or one direction is sure of them and the other says nothing. Adds their callers to the places, up to
    /// that of the root; gives the last call.
    pub(super) fn go_on(&mut self, other: &mut Self, places: &mut Vec<Place>) -> Option<&'a Call> {
        match (self.link, other.link) {
            (_, Link::Gap) => self.go_alone(places),
            (Link::Gap, _) => other.go_alone(places),
            _ => self.go_together(other, places),
        }
    }

    fn go_alone(&mut self, places: &mut Vec<Place>) -> Option<&'a Call> {
        let mut last = None;
        while self.sure
            && self.link <= Link::Seen
            && let Some((call, outer)) = self.calls.split_innermost()
        {
            places.push(call.caller);
            (self.calls, self.link) = (outer, call.link);
            last = Some(call);
            if call.link == Link::Root {
                break;
            }
        }
        last
    }

    fn go_together(&mut self, other: &mut Self, places: &mut Vec<Place>) -> Option<&'a Call> {
        let mut last = None;
        while self.link.max(other.link) <= Link::Seen
            && let Some((one, outer)) = self.calls.split_innermost()
            && let Some((two, other_outer)) = other.calls.split_innermost()
            && one.is_same(two)
        {
            places.push(one.caller);
            (self.calls, self.link) = (outer, one.link);
            (other.calls, other.link) = (other_outer, two.link);
            last = Some(one);
            if one.link == Link::Root {
                break;
            }
        }
        last
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
