//! What the samples of a window teach: how far evidence can be relied on.

use crate::join::call::{Call, Link};
use crate::join::ended::Ended;
use crate::join::seen::Seen;
use crate::join::trials::Trials;

/// What was learned.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    pub(crate) trials: Trials,
    pub(super) ended: Ended,
}

impl Learned {
    /// Finds out what evidence would have said of each of the sample's calls, had the sample been cut off there.
    /// `beside` are the calls that were remembered, outermost first; the first `n_same` of these are the sample's.
    pub(super) fn try_out(&mut self, beside: &[Call], n_same: usize, seen: &Seen<'_>) {
        let mut known = beside.iter().rev().peekable();
        // The call inside of the current one was the same, and so was the frame of its callee.
        let mut inside = false;
        let mut noted = false;
        let n_inner = seen.calls().len() - n_same;
        for (index, (callee, caller)) in seen.calls().enumerate() {
            while known.next_if(|call| call.cfa < caller.sp).is_some() {
                inside = false;
            }
            let Some(call) = known.next_if(|call| call.cfa == caller.sp) else {
                inside = false;
                continue;
            };
            let right = call.caller.addr() == caller.place.addr();
            // What is outside of a frame that is the same is the same nearly always: once a sample is enough.
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
