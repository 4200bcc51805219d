//! Comparison of a sample with the remembered calls of its stack: the equal ones, and the evidence.

use unwinder::CodeLocation;

use crate::join::call::{ActiveCall, Link};
use crate::join::history::SampleContext;
use crate::join::observed::{AROUND, ObservedStack, StackEnd};
use crate::join::variety::{Proofs, Site, Variety};

/// Comparison of a sample with the remembered calls of its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// Number of remembered calls that are outside of the sample's frames and consistent with them.
    pub(super) outside: usize,
    /// Index of the first remembered call in the stack range of the sample's frames.
    pub(super) overlapping: usize,
    /// Number of equal calls among those, from the outermost one inwards.
    pub(super) same: usize,
    pub(crate) evidence: StackEvidence,
}

/// Information about a sample's stack outside of its frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackEvidence {
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

/// Returns the number of equal calls after the first `overlapping` remembered ones, from the outermost one inwards.
/// Also returns the return locations of proven frames:
/// these saved the same registers, which distinguish them from other calls.
pub(super) fn same_calls(
    observed: &ObservedStack<'_>,
    calls: &[ActiveCall],
    overlapping: usize,
    variety: &Variety,
) -> (usize, Proofs) {
    let (outside, overlapping) = calls.split_at(overlapping.min(calls.len()));
    let around = outside.get(outside.len().saturating_sub(AROUND)..).unwrap_or_default();
    let n_calls = observed.calls().len();
    let (mut same, mut proofs, mut tried) = (0, Proofs::default(), 0);
    for ((callee, caller), call) in observed.calls().rev().zip(overlapping) {
        if (call.cfa, call.caller.addr()) != (caller.sp, caller.location.addr()) {
            break;
        }
        same += 1;
        if !proofs.are_enough() && tried < TRIED && callee.saved.proves(call.saved) {
            tried += 1;
            let site = Site::of(&caller.location);
            let is_other = |call: &ActiveCall| call.saved != callee.saved;
            let is_apart = observed.is_distinctive(n_calls - same) && around.iter().all(is_other);
            if is_apart && variety.distinguishes(site) {
                proofs.add(site);
            }
        }
    }
    (same, proofs)
}

impl Comparison {
    /// Returns the evidence that links the sample's last frame to the innermost outer call.
    pub(super) fn link(&self, calls: &[ActiveCall], sample: &mut SampleContext<'_>) -> Link {
        if sample.observed.end == StackEnd::Root {
            return Link::Root;
        }
        let call = self.outside.checked_sub(1).and_then(|at| calls.get(at));
        let Some(call) = call.filter(|it| sample.observed.end == StackEnd::Truncated(Some(it.cfa)))
        else {
            return Link::Gap;
        };
        let known = calls
            .get(self.overlapping)
            .filter(|_| self.same > 0 && self.overlapping == self.outside);
        if let Some(known) = known.filter(|known| known.link < Link::OtherFunction) {
            return known.link.max(match self.evidence.proofs.is_none() {
                true => Link::SamePlace,
                false => Link::SameFrame,
            });
        }
        let last =
            sample.observed.frames.last().map_or(CodeLocation::NOWHERE, |frame| frame.location);
        let same = sample.functions.same(&call.callee, &last, sample.code);
        if same { Link::SamePlace } else { Link::OtherFunction }
    }

    /// Records the sample's calls that are new or replace those in `overlapping`.
    /// Calls equal to a remembered one may still be active.
    pub(super) fn note(
        &self,
        overlapping: &[ActiveCall],
        observed: &ObservedStack<'_>,
        variety: &mut Variety,
    ) {
        let mut known = overlapping.iter().rev().peekable();
        for (callee, caller) in observed.calls() {
            while known.next_if(|call| call.cfa < caller.sp).is_some() {}
            let is_same = |call: &&&ActiveCall| {
                (call.cfa, call.caller.addr(), call.saved)
                    == (caller.sp, caller.location.addr(), callee.saved)
            };
            if known.peek().filter(is_same).is_none() {
                variety.note(self.evidence.stack, caller.sp, &caller.location, callee.saved);
            }
        }
    }

    /// Updates the remembered calls that the sample also shows, from the outermost one inwards.
    pub(super) fn renew(&self, same: &mut [ActiveCall], observed: &ObservedStack<'_>) {
        let shown = observed.calls().rev().enumerate();
        for (call, (depth, (callee, _))) in same.iter_mut().zip(shown) {
            if depth > 0 {
                call.link = Link::Observed;
            } else if self.evidence.proofs.is_none() || call.link > self.evidence.link {
                call.link = self.evidence.link.for_later();
            }
            call.saved = callee.saved;
            call.callee = callee.location;
            call.samples = call.samples.saturating_add(1);
            call.last = self.evidence.now;
            call.snapshot = None;
        }
    }

    /// Adds the sample's new calls.
    pub(super) fn add(&self, calls: &mut Vec<ActiveCall>, observed: &ObservedStack<'_>) {
        let n_calls = observed.calls().len();
        for (index, (callee, caller)) in observed.calls().enumerate().rev().skip(self.same) {
            let link =
                if index + 1 == n_calls { self.evidence.link.for_later() } else { Link::Observed };
            let call = ActiveCall {
                cfa: caller.sp,
                callee: callee.location,
                caller: caller.location,
                saved: callee.saved,
                link,
                samples: 1,
                last: self.evidence.now,
                snapshot: None,
            };
            calls.push(call);
        }
    }
}
