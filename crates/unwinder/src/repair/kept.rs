//! Calls that were outside of samples whose chains are to be continued, kept as they were known at that time.

use std::num::NonZeroU32;

use crate::repair::call::Call;

/// Calls by where they are kept, each with the next one outside. What several samples have in common is kept once.
#[derive(Debug, Default)]
pub(super) struct Kept {
    calls: Vec<(Call, Option<NonZeroU32>)>,
}

/// So many calls are kept of the samples of a window: some 45 MB. Programs need one to twelve for each sample.
const CALLS: usize = 1 << 19;

/// Where a call and all outside of it are kept.
pub(crate) type Key = NonZeroU32;

impl Kept {
    /// Keeps calls, outermost first, as they are now; the key of the innermost. `None` where there are none, or no room.
    pub(super) fn keep(&mut self, calls: &mut [Call]) -> Option<Key> {
        if self.calls.len() + calls.len() > CALLS {
            return None;
        }
        let unchanged = calls.iter().take_while(|call| call.kept.is_some()).count();
        let mut outer = unchanged.checked_sub(1).and_then(|at| calls.get(at)?.kept);
        for call in calls.iter_mut().skip(unchanged) {
            self.calls.push((*call, outer));
            outer = NonZeroU32::new(self.calls.len() as u32);
            call.kept = outer;
        }
        outer
    }

    /// The calls of a key, innermost first.
    pub(super) fn calls(&self, key: Option<Key>) -> impl Iterator<Item = &Call> {
        let get = |at: Key| self.calls.get(at.get() as usize - 1);
        std::iter::successors(key.and_then(get), move |(_, outer)| outer.and_then(get))
            .map(|(call, _)| call)
    }
}
