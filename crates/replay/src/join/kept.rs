//! Snapshots of the calls outside of truncated samples.

use std::num::NonZeroU32;

use perf_data::prefetch_line;

use crate::join::call::Call;

/// Calls, each with the position of the next outer one. Samples share their common calls.
///
/// If a call is unchanged since it was stored, so are all calls outside of it: one position identifies the list.
#[derive(Debug)]
pub(super) struct Kept {
    calls: Vec<Call>,
    /// Maximum number of stored calls.
    most: usize,
}

/// Identifies the stored calls outside of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Key {
    innermost: Option<NonZeroU32>,
    len: u32,
}

impl Key {
    /// Number of calls.
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

impl Kept {
    /// Creates a store for at most that many calls, 80 bytes each.
    pub(super) const fn with_room(most: usize) -> Self {
        Self { calls: Vec::new(), most }
    }

    /// Empties the store and reserves memory for the usual number of calls of `n_samples`.
    /// No call may still refer to a stored copy.
    pub(super) fn begin_anew(&mut self, n_samples: usize) {
        self.calls.clear();
        self.calls.reserve(2 * n_samples);
    }

    /// Returns true if `calls` more fit. An empty store takes a list of any length.
    pub(super) const fn has_room(&self, calls: usize) -> bool {
        self.calls.is_empty() || self.calls.len() + calls <= self.most
    }

    /// Stores the current state of calls, outermost first.
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

    /// Prefetches the innermost calls of a key.
    pub(super) fn fetch(&self, key: Key) {
        /// An outer call is mostly stored right before its inner one.
        const CALLS: usize = 3;
        if let Some(innermost) = key.innermost {
            let last = innermost.get() as usize;
            (last.saturating_sub(CALLS)..last).for_each(|at| prefetch_line(&self.calls, at));
        }
    }

    /// Returns the calls of a key.
    pub(super) fn calls(&self, key: Key) -> Calls<'_> {
        Calls { kept: &self.calls, key }
    }
}

/// Stored calls that were active on a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls<'a> {
    kept: &'a [Call],
    key: Key,
}

impl<'a> Calls<'a> {
    /// The innermost call.
    #[inline]
    pub(super) fn innermost(self) -> Option<&'a Call> {
        self.kept.get(self.key.innermost?.get() as usize - 1)
    }

    /// The calls outside of the innermost one.
    #[inline]
    pub(super) fn outer(self) -> Self {
        self.split_innermost().map_or(self, |(_, outer)| outer)
    }

    /// Returns the innermost call, and those outside of it.
    #[inline]
    pub(super) fn split_innermost(self) -> Option<(&'a Call, Self)> {
        let call = self.innermost()?;
        let key = Key { innermost: call.kept, len: self.key.len.saturating_sub(1) };
        Some((call, Self { key, ..self }))
    }

    /// Writes all calls into a list, outermost first.
    /// The list may hold another snapshot of the same store: the common part is left as it is.
    pub(super) fn list(self, list: &mut Vec<&'a Call>) {
        let Some(innermost) = self.innermost() else { return list.clear() };
        let len = self.key.len();
        list.truncate(len);
        let n_old = list.len();
        list.resize(len, innermost);
        let mut rest = self;
        for (depth, slot) in list.iter_mut().enumerate().rev() {
            let Some((call, outer)) = rest.split_innermost() else { break };
            // All calls outside of it are the same, too.
            if depth < n_old && std::ptr::eq(*slot, call) {
                break;
            }
            *slot = call;
            rest = outer;
        }
    }
}
