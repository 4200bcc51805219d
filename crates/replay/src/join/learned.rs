//! Reliability of evidence, as learned from the samples of a window.

use crate::join::call::{ActiveCall, Link};
use crate::join::contradicted::ContradictedCalls;
use crate::join::observed::ObservedStack;
use crate::join::trials::Trials;

/// Reliability of evidence in one window.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    pub(crate) trials: Trials,
    pub(super) contradicted: ContradictedCalls,
}

impl Learned {
    /// Tests the evidence on each of the sample's calls as if the sample had been truncated there.
    /// `overlapping` are the remembered calls, outermost first; the first `n_same` of these are the sample's.
    pub(super) fn try_out(
        &mut self,
        overlapping: &[ActiveCall],
        n_same: usize,
        observed: &ObservedStack<'_>,
    ) {
        let mut known = overlapping.iter().rev().peekable();
        // True if the next inner call and its callee's frame were the same.
        let mut inside = false;
        let mut noted = false;
        let n_inner = observed.calls().len() - n_same;
        for (index, (callee, caller)) in observed.calls().enumerate() {
            while known.next_if(|call| call.cfa < caller.sp).is_some() {
                inside = false;
            }
            let Some(call) = known.next_if(|call| call.cfa == caller.sp) else {
                inside = false;
                continue;
            };
            let right = call.caller.addr() == caller.location.addr();
            // Frames outside of an equal frame are nearly always equal: one trial per sample is enough.
            if inside && (!right || !noted) {
                self.trials.note(Link::SameFrame, call, right);
                noted = true;
            }
            if noted && index >= n_inner {
                return;
            }
            inside = right && (inside || callee.saved.proves(call.saved));
        }
    }
}
