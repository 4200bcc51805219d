//! What is outside of a chain that was cut off: what samples before it and after it say, put together.

use unwinder::Place;

use crate::join::beginning::beginning;
use crate::join::call::{Call, Link};
use crate::join::functions::Code;
use crate::join::gap::{Gap, Lists};
use crate::join::seen::Seen;
use crate::join::view::View;

/// What a chain is continued with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repaired {
    /// How many callers were added to the places, innermost first.
    pub(crate) len: usize,
    /// How many of them are before the gap; `None` where there is none.
    pub(crate) gap: Option<usize>,
    /// How many bytes of stack the chain would have needed to reach its root, if the last of them is the root.
    pub(crate) root: Option<u64>,
    /// The last of them is the root, wherever it is on the stack.
    pub(crate) begins: bool,
}

/// A chain that is to be continued.
pub(crate) struct CutChain {
    /// The stack pointer of its first frame.
    sp: u64,
    /// Up to where on the stack it says itself what there is.
    told: u64,
    /// Whether it may be continued behind a gap.
    gaps: bool,
}

impl CutChain {
    /// The chain of a sample that has frames.
    pub(crate) fn new(seen: &Seen<'_>, gaps: bool) -> Self {
        let (first, last) = (seen.frames.first(), seen.frames.last());
        let sp = first.map_or(0, |frame| frame.sp);
        let told = seen.told().unwrap_or(last.map_or(0, |frame| frame.sp));
        Self { sp, told, gaps }
    }

    /// Continues the chain: call by call as far as evidence decides; then to calls that were under way before and
    /// afterwards, behind a gap. The callers are added to `places`; `None` where nothing is known.
    pub(crate) fn repair<'a>(
        &self,
        [mut past, mut future]: [View<'a>; 2],
        lists: &mut Lists<'a>,
        places: &mut Vec<Place>,
    ) -> Option<Repaired> {
        past.doubt(&future);
        future.doubt(&past);
        let first = places.len();
        let mut repaired = Repaired::default();
        self.go_outwards([past, future], lists, &mut repaired, places);
        repaired.len = places.len() - first;
        (repaired.len > 0).then_some(repaired)
    }

    /// The same, and if the root is not known then the beginning of the stack, behind a gap.
    pub(crate) fn repair_to_beginning<'a>(
        &self,
        views: [View<'a>; 2],
        lists: &mut Lists<'a>,
        places: &mut Vec<Place>,
        seen: &Seen<'_>,
        code: Code<'_>,
    ) -> Option<Repaired> {
        let found = self.repair(views, lists, places);
        if !self.gaps || found.is_some_and(|it| it.root.is_some() || it.gap.is_some()) {
            return found;
        }
        let Some(place) = beginning(seen, code) else { return found };
        let known = found.unwrap_or_default();
        places.push(place);
        Some(Repaired { len: known.len + 1, gap: Some(known.len), root: None, begins: true })
    }

    fn go_outwards<'a>(
        &self,
        [past, future]: [View<'a>; 2],
        lists: &mut Lists<'a>,
        repaired: &mut Repaired,
        places: &mut Vec<Place>,
    ) {
        let first = places.len();
        let (mut before, mut after) = (past, future);
        let mut told = self.told;
        while let Some(call) = next(&mut before, &mut after) {
            places.push(call.caller);
            let call = match call.link {
                Link::Root => call,
                _ => before.go_on(&mut after, places).unwrap_or(call),
            };
            told = call.cfa;
            if call.link == Link::Root {
                repaired.root = Some(call.cfa.saturating_sub(self.sp));
                return;
            }
        }
        if !self.gaps {
            return;
        }
        // Where another function was called before or afterwards, that call is not this one.
        let over = [before.next(), after.next()].into_iter().flatten();
        let over = over.filter(|(_, link)| *link == Link::OtherFunction).map(|(call, _)| call.cfa);
        let told = over.fold(told, u64::max);
        let calls = Gap::new([&past, &future], lists, self.sp, told).calls();
        repaired.gap = calls.innermost().map(|_| places.len() - first);
        repaired.root = calls.outermost().map(|call| call.cfa.saturating_sub(self.sp));
        places.extend(calls.callers());
    }
}

/// The next call outside that evidence decides: both directions show it, or one proves it and the other does not prove
/// another one. That places of the stack and return addresses agree is no evidence: those of a recursion do, whoever began
/// it, and those of jobs that a thread runs one after the other.
fn next<'v>(past: &mut View<'v>, future: &mut View<'v>) -> Option<&'v Call> {
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
    other.give_up();
    Some(call)
}
