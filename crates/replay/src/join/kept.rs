//! Calls that were outside of samples whose chains are to be continued, kept as they were known at that time.

use std::num::NonZeroU32;

use perf_data::read_soon;

use crate::join::call::Call;

/// Calls, each with the number of the one outside of it: what several samples have in common is kept once.
///
/// A call that has not changed since it was kept has none outside of it that has, so one number says all of it.
#[derive(Debug)]
pub(super) struct Kept {
    calls: Vec<Call>,
    /// So many calls are kept at once.
    most: usize,
}

/// What is kept of the calls outside of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Key {
    innermost: Option<NonZeroU32>,
    len: u32,
}

impl Key {
    /// How many calls.
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

impl Kept {
    /// Keeps so many calls at once; 80 bytes each.
    pub(super) const fn with_room(most: usize) -> Self {
        Self { calls: Vec::new(), most }
    }

    /// Forgets all, and has room for what so many samples have outside of them as a rule. No call may be remembered as
    /// kept.
    pub(super) fn begin_anew(&mut self, n_samples: usize) {
        self.calls.clear();
        self.calls.reserve(2 * n_samples);
    }

    /// Whether so many calls are kept beside what is kept already. One list of any length is, if nothing else is.
    pub(super) const fn has_room(&self, calls: usize) -> bool {
        self.calls.is_empty() || self.calls.len() + calls <= self.most
    }

    /// Keeps calls, outermost first, as they are now.
    pub(super) fn keep(&mut self, calls: &mut [Call]) -> Key {
        let n_new = calls.iter().rev().take_while(|call| call.kept.is_none()).count();
        let (known, new) = calls.split_at_mut(calls.len() - n_new);
        let mut innermost = known.last().and_then(|call| call.kept);
        for call in new {
            self.calls.push(Call { kept: innermost, ..*call });
            innermost = NonZeroU32::new(self.calls.len() as u32);
            call.kept = innermost;
        }
        Key { innermost, len: calls.len() as u32 }
    }

    /// The innermost calls of a key are read soon.
    pub(super) fn fetch(&self, key: Key) {
        /// What is outside of a call was kept right before it, as a rule.
        const CALLS: usize = 3;
        if let Some(innermost) = key.innermost {
            let last = innermost.get() as usize;
            (last.saturating_sub(CALLS)..last).for_each(|at| read_soon(&self.calls, at));
        }
    }

    /// The calls of a key.
    pub(super) fn calls(&self, key: Key) -> Calls<'_> {
        Calls { kept: &self.calls, key }
    }
}

/// Calls that were under way on a stack, as they were kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls<'a> {
    kept: &'a [Call],
    key: Key,
}

impl<'a> Calls<'a> {
    /// The innermost one.
    #[inline]
    pub(super) fn innermost(self) -> Option<&'a Call> {
        self.kept.get(self.key.innermost?.get() as usize - 1)
    }

    /// The ones outside of the innermost.
    #[inline]
    pub(super) fn outer(self) -> Self {
        self.split_innermost().map_or(self, |(_, outer)| outer)
    }

    /// The innermost one, and the ones outside of it.
    #[inline]
    pub(super) fn split_innermost(self) -> Option<(&'a Call, Self)> {
        let call = self.innermost()?;
        let key = Key { innermost: call.kept, len: self.key.len.saturating_sub(1) };
        Some((call, Self { key, ..self }))
    }

    /// Puts all of them into a list, outermost first. It may be the list of other ones that were kept beside them: what both
    /// have in common stays.
    pub(super) fn list(self, list: &mut Vec<&'a Call>) {
        let Some(innermost) = self.innermost() else { return list.clear() };
        let len = self.key.len();
        list.truncate(len);
        let n_old = list.len();
        list.resize(len, innermost);
        let mut rest = self;
        for (depth, slot) in list.iter_mut().enumerate().rev() {
            let Some((call, outer)) = rest.split_innermost() else { break };
            // All that is outside of it is the same, too.
            if depth < n_old && std::ptr::eq(*slot, call) {
                break;
            }
            *slot = call;
            rest = outer;
        }
    }
}
