//! Snapshots of the calls outside of truncated samples.

use std::num::NonZeroU32;

use perf_data::prefetch_line;

use crate::join::call::ActiveCall;

/// Calls, each with the position of the next outer one. Samples share their common calls.
///
/// If a call is unchanged since it was stored, so are all calls outside of it: one position identifies the list.
#[derive(Debug)]
pub(super) struct CallSnapshots {
    calls: Vec<ActiveCall>,
    /// Maximum number of stored calls.
    most: usize,
}

/// Identifies the stored calls outside of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SnapshotKey {
    innermost: Option<NonZeroU32>,
    len: u32,
}

impl SnapshotKey {
    /// Number of calls.
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

impl CallSnapshots {
    /// Creates a store for at most that many calls, 80 bytes each.
    pub(super) const fn with_capacity(most: usize) -> Self {
        Self { calls: Vec::new(), most }
    }

    /// Empties the store and reserves memory for the usual number of calls of `n_samples`.
    /// No call may still refer to a stored copy.
    pub(super) fn reset(&mut self, n_samples: usize) {
        self.calls.clear();
        self.calls.reserve(2 * n_samples);
    }

    /// Returns true if `calls` more fit. An empty store takes a list of any length.
    pub(super) const fn has_capacity(&self, calls: usize) -> bool {
        self.calls.is_empty() || self.calls.len() + calls <= self.most
    }

    /// Stores the current state of calls, outermost first.
    pub(super) fn store(&mut self, calls: &mut [ActiveCall]) -> SnapshotKey {
        let n_new = calls.iter().rev().take_while(|call| call.snapshot.is_none()).count();
        let (known, new) = calls.split_at_mut(calls.len() - n_new);
        let mut innermost = known.last().and_then(|call| call.snapshot);
        for call in new {
            self.calls.push(ActiveCall { snapshot: innermost, ..*call });
            innermost = NonZeroU32::new(self.calls.len() as u32);
            call.snapshot = innermost;
        }
        SnapshotKey { innermost, len: calls.len() as u32 }
    }

    /// Prefetches the innermost calls of a key.
    pub(super) fn fetch(&self, key: SnapshotKey) {
        /// An outer call is mostly stored right before its inner one.
        const CALLS: usize = 3;
        if let Some(innermost) = key.innermost {
            let last = innermost.get() as usize;
            (last.saturating_sub(CALLS)..last).for_each(|at| prefetch_line(&self.calls, at));
        }
    }

    /// Returns the calls of a key.
    pub(super) fn calls(&self, key: SnapshotKey) -> SnapshotCalls<'_> {
        SnapshotCalls { stored: &self.calls, key }
    }
}

/// Stored calls that were active on a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotCalls<'a> {
    stored: &'a [ActiveCall],
    key: SnapshotKey,
}

impl<'a> SnapshotCalls<'a> {
    /// The innermost call.
    #[inline]
    pub(super) fn innermost(self) -> Option<&'a ActiveCall> {
        self.stored.get(self.key.innermost?.get() as usize - 1)
    }

    /// The calls outside of the innermost one.
    #[inline]
    pub(super) fn outer(self) -> Self {
        self.split_innermost().map_or(self, |(_, outer)| outer)
    }

    /// Returns the innermost call, and those outside of it.
    #[inline]
    pub(super) fn split_innermost(self) -> Option<(&'a ActiveCall, Self)> {
        let call = self.innermost()?;
        let key = SnapshotKey { innermost: call.snapshot, len: self.key.len.saturating_sub(1) };
        Some((call, Self { key, ..self }))
    }

    /// Writes all calls into a list, outermost first.
    /// The list may hold another snapshot of the same store: the common part is left as it is.
    pub(super) fn list(self, list: &mut Vec<&'a ActiveCall>) {
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
