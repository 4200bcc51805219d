//! Calls that a sample contradicted and a later one showed again.
//! At their return locations, a call observed before and after a sample may not have been active in between.

use hashbrown::HashMap;
use unwinder::Saved;

use crate::join::call::ActiveCall;
use crate::join::trials::Trials;

/// Contradicted calls by the index of their stack, the callee's CFA and the return address.
#[derive(Debug, Default)]
pub(super) struct ContradictedCalls(HashMap<(u32, u64, u64), ContradictedCall>);

/// A contradicted call.
#[derive(Clone, Copy, Debug)]
struct ContradictedCall {
    /// Caller's registers that the callee had saved.
    saved: Saved,
    /// Number of samples that showed it.
    samples: u32,
    /// Index of the last of them, among the samples of the stack.
    last: u32,
}

/// Minimum number of samples; a call with fewer is rarely taken for a lasting one.
const MIN_SAMPLES: u32 = 2;
/// Maximum number of calls per window: some 20 MB.
const ENDED: usize = 1 << 18;

impl ContradictedCalls {
    /// Forgets all calls.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Records the calls of a stack that a sample contradicts, if they begin at `from` or further out.
    pub(super) fn note(&mut self, stack: u32, from: u64, calls: &[ActiveCall]) {
        for call in calls.iter().take_while(|call| call.cfa >= from) {
            if call.samples >= MIN_SAMPLES && call.saved.proves(call.saved) && self.0.len() < ENDED
            {
                let ActiveCall { saved, samples, last, .. } = *call;
                let key = (stack, call.cfa, call.caller.addr());
                self.0.insert(key, ContradictedCall { saved, samples, last });
            }
        }
    }

    /// Checks a new call against the contradicted ones.
    /// If it was there earlier, the samples in between count as failed trials,
    /// and the earlier ones that showed it as successful ones.
    pub(super) fn try_out(
        &mut self,
        stack: u32,
        from: u64,
        call: &ActiveCall,
        trials: &mut Trials,
    ) {
        if call.cfa < from || self.0.is_empty() || !call.saved.proves(call.saved) {
            return;
        }
        let Some(ended) = self.0.remove(&(stack, call.cfa, call.caller.addr())) else { return };
        let between = call.last.saturating_sub(ended.last).saturating_sub(1);
        if ended.saved.proves(call.saved) {
            trials.note_lasting(&call.caller, ended.samples.saturating_sub(1), between);
        }
    }
}
