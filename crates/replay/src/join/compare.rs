//! A sample beside what is remembered of its stack: which calls are the same, and what says so.

use unwinder::Place;

use crate::join::call::{Call, Link};
use crate::join::memory::Sight;
use crate::join::seen::{AROUND, Seen, SeenEnd};
use crate::join::variety::{Proofs, Site, Variety};

/// A sample beside what is remembered of its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// So many remembered calls are outside of the sample's frames and not contradicted by them.
    pub(super) outside: usize,
    /// From here on they lie beside the sample's own.
    pub(super) beside: usize,
    /// So many of those, from the outermost one inwards, are the same.
    pub(super) same: usize,
    pub(crate) known: Known,
}

/// What is known of a sample's stack outside of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The index of the stack in the memory.
    pub(crate) stack: u32,
    /// What says that the sample's last frame belongs to the innermost call outside.
    pub(super) link: Link,
    /// Where frames return to that are proven to be the same.
    pub(super) proofs: Proofs,
    /// How many samples of the stack were taken in before.
    pub(super) now: u32,
    /// What the stack starts with.
    pub(super) start: Option<u32>,
}

/// Of so many frames it is tried out whether they prove that they are the same.
const TRIED: u32 = 16;

/// How many of the remembered calls are the same, from the outermost one inwards, if the first `beside` of them are left out;
/// and the proven return addresses of frames: they saved the same registers, and these tell them apart from other
/// calls.
pub(super) fn same_calls(
    seen: &Seen<'_>,
    calls: &[Call],
    beside: usize,
    variety: &Variety,
) -> (usize, Proofs) {
    let (outside, beside) = calls.split_at(beside.min(calls.len()));
    let around = outside.get(outside.len().saturating_sub(AROUND)..).unwrap_or_default();
    let n_calls = seen.calls().len();
    let (mut same, mut proofs, mut tried) = (0, Proofs::default(), 0);
    for ((callee, caller), call) in seen.calls().rev().zip(beside) {
        if (call.cfa, call.caller.addr()) != (caller.sp, caller.place.addr()) {
            break;
        }
        same += 1;
        if !proofs.are_enough() && tried < TRIED && callee.saved.proves(call.saved) {
            tried += 1;
            let site = Site::of(&caller.place);
            let is_other = |call: &Call| call.saved != callee.saved;
            let is_apart = seen.tells_apart(n_calls - same) && around.iter().all(is_other);
            if is_apart && variety.tells(site) {
                proofs.add(site);
            }
        }
    }
    (same, proofs)
}

impl Comparison {
    /// What says that the sample's last frame belongs to the innermost call outside.
    pub(super) fn link(&self, calls: &[Call], sight: &mut Sight<'_>) -> Link {
        if sight.seen.end == SeenEnd::Root {
            return Link::Root;
        }
        let call = self.outside.checked_sub(1).and_then(|at| calls.get(at));
        let Some(call) = call.filter(|it| sight.seen.end == SeenEnd::Cut(Some(it.cfa))) else {
            return Link::Gap;
        };
        let known = calls.get(self.beside).filter(|_| self.same > 0 && self.beside == self.outside);
        if let Some(known) = known.filter(|known| known.link < Link::OtherFunction) {
            return known.link.max(match self.known.proofs.is_none() {
                true => Link::SamePlace,
                false => Link::SameFrame,
            });
        }
        let last = sight.seen.frames.last().map_or(Place::NOWHERE, |frame| frame.place);
        let same = sight.functions.same(&call.callee, &last, sight.code);
        if same { Link::SamePlace } else { Link::OtherFunction }
    }

    /// Notes the calls of the sample that begin, of those that lie beside it. One that is the same as before may go on.
    pub(super) fn note(&self, beside: &[Call], seen: &Seen<'_>, variety: &mut Variety) {
        let mut known = beside.iter().rev().peekable();
        for (callee, caller) in seen.calls() {
            while known.next_if(|call| call.cfa < caller.sp).is_some() {}
            let is_same = |call: &&&Call| {
                (call.cfa, call.caller.addr(), call.saved)
                    == (caller.sp, caller.place.addr(), callee.saved)
            };
            if known.peek().filter(is_same).is_none() {
                variety.note(self.known.stack, caller.sp, &caller.place, callee.saved);
            }
        }
    }

    /// Brings calls up to date that the sample shows, too, from the outermost one inwards.
    pub(super) fn renew(&self, same: &mut [Call], seen: &Seen<'_>) {
        let shown = seen.calls().rev().enumerate();
        for (call, (depth, (callee, _))) in same.iter_mut().zip(shown) {
            if depth > 0 {
                call.link = Link::Seen;
            } else if self.known.proofs.is_none() || call.link > self.known.link {
                call.link = self.known.link.for_later();
            }
            call.saved = callee.saved;
            call.callee = callee.place;
            call.seen = call.seen.saturating_add(1);
            call.last = self.known.now;
            call.kept = None;
        }
    }

    /// Adds the calls of the sample that were not known.
    pub(super) fn add(&self, calls: &mut Vec<Call>, seen: &Seen<'_>) {
        let n_calls = seen.calls().len();
        for (index, (callee, caller)) in seen.calls().enumerate().rev().skip(self.same) {
            let link = if index + 1 == n_calls { self.known.link.for_later() } else { Link::Seen };
            let call = Call {
                cfa: caller.sp,
                callee: callee.place,
                caller: caller.place,
                saved: callee.saved,
                link,
                seen: 1,
                last: self.known.now,
                kept: None,
            };
            calls.push(call);
        }
    }
}
