//! Calls that a sample contradicted, and whether they were seen again: where they were, what was seen before and
//! afterwards is no evidence of what was under way in between.

use hashbrown::HashMap;
use unwinder::Saved;

use crate::join::call::Call;
use crate::join::trials::Trials;

/// Calls that were contradicted, by the index of their stack, the callee's CFA, and the address that it returns to.
#[derive(Debug, Default)]
pub(super) struct Ended(HashMap<(u32, u64, u64), EndedCall>);

/// A call that was contradicted.
#[derive(Clone, Copy, Debug)]
struct EndedCall {
    /// What the callee had saved of the caller's registers.
    saved: Saved,
    /// How many samples showed it.
    seen: u32,
    /// The last of them, counted in samples of the stack.
    last: u32,
}

/// What fewer samples showed is hardly ever taken for a call that went on.
const SEEN: u32 = 2;
/// So many are remembered of a window: some 20 MB.
const ENDED: usize = 1 << 18;

impl Ended {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// A sample shows that calls of a stack are over, of which those count that begin outside of `from`.
    pub(super) fn note(&mut self, stack: u32, from: u64, calls: &[Call]) {
        for call in calls.iter().take_while(|call| call.cfa >= from) {
            if call.seen >= SEEN && call.saved.proves(call.saved) && self.0.len() < ENDED {
                let Call { saved, seen, last, .. } = *call;
                let key = (stack, call.cfa, call.caller.addr());
                self.0.insert(key, EndedCall { saved, seen, last });
            }
        }
    }

    /// A call was seen that was not there before: where it had been there earlier, all samples between were a trial that
    /// went wrong, and those that had shown it are trials that went right.
    pub(super) fn try_out(&mut self, stack: u32, from: u64, call: &Call, trials: &mut Trials) {
        if call.cfa < from || self.0.is_empty() || !call.saved.proves(call.saved) {
            return;
        }
        let Some(ended) = self.0.remove(&(stack, call.cfa, call.caller.addr())) else { return };
        let between = call.last.saturating_sub(ended.last).saturating_sub(1);
        if ended.saved.proves(call.saved) {
            trials.note_lasting(&call.caller, ended.seen.saturating_sub(1), between);
        }
    }
}
