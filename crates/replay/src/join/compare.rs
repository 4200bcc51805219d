//! Comparison of a sample with the remembered calls of its stack: the equal ones, and the evidence.

use unwinder::CodeLocation;

use crate::join::call::{Call, Link};
use crate::join::memory::Sight;
use crate::join::seen::{AROUND, Seen, SeenEnd};
use crate::join::variety::{Proofs, Site, Variety};

/// Comparison of a sample with the remembered calls of its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// Number of remembered calls that are outside of the sample's frames and consistent with them.
    pub(super) outside: usize,
    /// Index of the first remembered call in the stack range of the sample's frames.
    pub(super) beside: usize,
    /// Number of equal calls among those, from the outermost one inwards.
    pub(super) same: usize,
    pub(crate) known: Known,
}

/// Information about a sample's stack outside of its frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Index of the stack in the memory.
    pub(crate) stack: u32,
    /// Evidence that links the sample's last frame to the innermost outer call.
    pub(super) link: Link,
    /// Return locations of frames that are proven to be the same.
    pub(super) proofs: Proofs,
    /// Number of earlier samples of the stack.
    pub(super) now: u32,
    /// Index of the stack's start.
    pub(super) start: Option<u32>,
}

/// Maximum number of frames that are tested for a proof.
const TRIED: u32 = 16;

/// Returns the number of equal calls after the first `beside` remembered ones, from the outermost one inwards.
/// Also returns the return locations of proven frames:
/// these saved the same registers, which distinguish them from other calls.
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
    /// Returns the evidence that links the sample's last frame to the innermost outer call.
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
        let last = sight.seen.frames.last().map_or(CodeLocation::NOWHERE, |frame| frame.place);
        let same = sight.functions.same(&call.callee, &last, sight.code);
        if same { Link::SamePlace } else { Link::OtherFunction }
    }

    /// Records the sample's calls that are new or replace those in `beside`.
    /// Calls equal to a remembered one may still be active.
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

    /// Updates the remembered calls that the sample also shows, from the outermost one inwards.
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

    /// Adds the sample's new calls.
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
