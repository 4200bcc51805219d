//! What the samples of a window teach: how far weak evidence can be relied on, and the ways that lead inwards.

use crate::repair::call::{Call, Link};
use crate::repair::ended::Ended;
use crate::repair::memory::Sight;
use crate::repair::paths::{Caller, Paths};
use crate::repair::seen::{Seen, SeenFrame};
use crate::repair::trials::Trials;

/// What was learned.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    pub(crate) trials: Trials,
    pub(crate) paths: Paths,
    pub(super) ended: Ended,
}

impl Learned {
    /// Finds out what evidence would have said of each of the sample's calls, had the sample been cut off there.
    /// `beside` are the calls that were remembered, outermost first; so many of these are the sample's.
    pub(super) fn try_out(&mut self, (beside, n_same): (&[Call], usize), sight: &mut Sight<'_>) {
        let mut known = beside.iter().rev().peekable();
        // The call inside of the current one was the same; and so was the frame of its callee.
        let mut inside = None;
        let mut noted = false;
        let n_inner = sight.seen.calls().len() - n_same;
        for (index, (callee, caller)) in sight.seen.calls().enumerate() {
            while known.next_if(|call| call.cfa < caller.sp).is_some() {
                inside = None;
            }
            let Some(call) = known.next_if(|call| call.cfa == caller.sp) else {
                inside = None;
                continue;
            };
            let right = call.caller.addr() == caller.place.addr();
            let link = match inside {
                Some(true) => Link::SameFrame,
                Some(false) => Link::SameCall,
                // Evidence of a function that had called nobody is hardly ever wanted.
                None if index == 0 => {
                    inside = right.then(|| callee.saved.proves(call.saved));
                    continue;
                }
                None => {
                    let same = sight.functions.same(&call.callee, &callee.place, sight.code);
                    if same { Link::SameFunction } else { Link::OtherFunction }
                }
            };
            // What is outside of a frame that is the same is the same nearly always: once a sample is enough.
            if link > Link::SameFrame || !right || !noted {
                self.trials.note(link, call, right);
                noted |= link == Link::SameFrame;
            }
            if noted && index >= n_inner {
                return;
            }
            inside = right.then(|| link == Link::SameFrame || callee.saved.proves(call.saved));
        }
    }

    /// Notes where a call of the sample came from. `stack` is the index of its stack,
    /// `index` that of the callee; frames that begin inside of `from` are of no use.
    pub(super) fn note_way(
        &mut self,
        (stack, from): (u32, u64),
        seen: &Seen<'_>,
        index: usize,
        (callee, caller): (&SeenFrame, &SeenFrame),
    ) {
        if index > 0
            && caller.sp >= from
            && let Some(cfa) = seen.cfa(index + 1)
        {
            self.paths
                .note((stack, caller.sp, callee.place.addr()), Caller { place: caller.place, cfa });
        }
    }
}
