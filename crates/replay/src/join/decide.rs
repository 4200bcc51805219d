//! Decision on the callers of a truncated chain, from the samples before it and after it.

use unwinder::CodeLocation;

use crate::join::call::{ActiveCall, CallerList, Link};
use crate::join::gap::{Gap, Lists};
use crate::join::observed::ObservedStack;
use crate::join::view::CallerView;

/// The completion of a chain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChainRepair {
    /// Number of callers added to the places, innermost first.
    pub(crate) len: usize,
    /// Number of them inside of the gap; `None` if there is no gap.
    pub(crate) gap: Option<usize>,
    /// Bytes of stack that the chain would have needed to reach its root, if the last caller is the root.
    pub(crate) root: Option<u64>,
    /// True if the last caller is the root, at an unknown stack address.
    pub(crate) begins: bool,
}

/// A chain to complete.
pub(crate) struct TruncatedChain {
    /// Stack pointer of its first frame.
    sp: u64,
    /// Stack address up to which the chain itself shows the frames.
    shown_to: u64,
    /// True if it may be completed outside of a gap.
    gaps: bool,
    /// Maximum number of its frames. With more callers, its root does not matter.
    max_frames: usize,
}

impl TruncatedChain {
    /// Creates the chain of a sample that has frames.
    pub(crate) fn new(observed: &ObservedStack<'_>, gaps: bool, max_frames: usize) -> Self {
        let (first, last) = (observed.frames.first(), observed.frames.last());
        let sp = first.map_or(0, |frame| frame.sp);
        let shown_to = observed.shown_to().unwrap_or(last.map_or(0, |frame| frame.sp));
        Self { sp, shown_to, gaps, max_frames }
    }

    /// Completes the chain: call by call while the evidence decides,
    /// then after a gap with calls active before and afterwards.
    /// If the root remains unknown, appends a gap and the beginning of the stack.
    /// Appends the callers to `locations`, at most one more than the chain may have; returns `None` if there are none.
    pub(crate) fn repair<'a>(
        &self,
        views: [CallerView<'a>; 2],
        lists: &mut Lists<'a>,
        locations: &mut Vec<CodeLocation>,
        beginning: impl FnOnce() -> Option<CodeLocation>,
    ) -> Option<ChainRepair> {
        let callers = &mut CallerList::new(locations, self.max_frames);
        let mut repaired = self.extend_outwards(views, lists, callers);
        let is_open = repaired.root.is_none() && repaired.gap.is_none() && !callers.is_full();
        if self.gaps
            && is_open
            && let Some(location) = beginning()
        {
            (repaired.gap, repaired.begins) = (Some(callers.len()), true);
            callers.push(location);
        }
        repaired.len = callers.len();
        (repaired.len > 0).then_some(repaired)
    }

    fn extend_outwards<'a>(
        &self,
        [mut past, mut future]: [CallerView<'a>; 2],
        lists: &mut Lists<'a>,
        callers: &mut CallerList<'_>,
    ) -> ChainRepair {
        past.doubt(&future);
        future.doubt(&past);
        let mut repaired = ChainRepair::default();
        let (mut before, mut after) = (past, future);
        let mut shown_to = self.shown_to;
        while let Some(call) = next(&mut before, &mut after) {
            callers.push(call.caller);
            let call = match call.link {
                Link::Root => call,
                _ => before.advance_linked(&mut after, callers).unwrap_or(call),
            };
            shown_to = call.cfa;
            if call.link == Link::Root {
                repaired.root = Some(call.cfa.saturating_sub(self.sp));
                return repaired;
            }
            if callers.is_full() {
                return repaired;
            }
        }
        if !self.gaps {
            return repaired;
        }
        // If another function had this CFA earlier or later, that call is not this one.
        let over = [before.next(), after.next()].into_iter().flatten();
        let over = over.filter(|(_, link)| *link == Link::OtherFunction).map(|(call, _)| call.cfa);
        let shown_to = over.fold(shown_to, u64::max);
        let calls = Gap::new([&past, &future], lists, self.sp, shown_to).calls();
        repaired.gap = calls.innermost().map(|_| callers.len());
        repaired.root = calls.outermost().map(|call| call.cfa.saturating_sub(self.sp));
        callers.extend(calls.callers());
        repaired
    }
}

/// Returns the next outer call that the evidence decides.
/// Either both directions show it, or one proves it and the other does not prove a different one.
/// Equal CFAs and return addresses are not evidence:
/// recursions from different callers have them, and successive jobs of a thread.
fn next<'v>(past: &mut CallerView<'v>, future: &mut CallerView<'v>) -> Option<&'v ActiveCall> {
    let both = [past.next(), future.next()];
    if let [Some((one, a)), Some((other, b))] = both {
        if one.is_same(other) {
            let supported = past.supports_next() || future.supports_next();
            if !supported || a.min(b) > Link::SameFrame {
                return None;
            }
            past.advance();
            future.advance();
            return Some(one);
        }
        if a.max(b) <= Link::SameFrame {
            return None;
        }
    }
    let (one, other) = match (past.proves_next(), future.proves_next()) {
        (true, false) => (past, future),
        (false, true) => (future, past),
        _ => return None,
    };
    let (call, _) = one.next()?;
    one.advance();
    other.exclude();
    Some(call)
}
