//! What is outside of a chain that was cut off: what samples before it and after it say, put together.

use crate::frame::Place;
use crate::repair::call::{Call, Link};
use crate::repair::call_site::can_have_called;
use crate::repair::gap::{Behind, Gap, Lists};
use crate::repair::learned::Learned;
use crate::repair::memory::Sight;
use crate::repair::paths::Paths;
use crate::repair::seen::SeenFrame;
use crate::repair::trials::Trials;
use crate::repair::view::View;

/// What a chain is continued with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repaired {
    /// How many callers were added to the places, innermost first.
    pub(crate) len: usize,
    /// How many of them are before the gap; `None` where there is none.
    pub(crate) gap: Option<usize>,
    /// How many bytes of stack the chain would have needed to reach its root, if the last of them is the root.
    pub(crate) root: Option<u64>,
}

/// A chain that is to be continued.
pub(crate) struct CutChain<'a, 'c, 's> {
    /// The sample.
    sight: &'c mut Sight<'s>,
    /// Where its last frame is.
    last: Place,
    /// The stack pointer of its first frame.
    sp: u64,
    /// Up to where on the stack it says itself what there is.
    told: u64,
    /// Where its last frame begins, if that is known.
    cfa: Option<u64>,
    /// Which stack it is, in the paths.
    stack: u32,
    /// The ways that were seen.
    paths: &'a Paths,
    /// Whether it may be continued behind a gap.
    gaps: bool,
}

impl<'a, 'c, 's> CutChain<'a, 'c, 's> {
    /// The chain of a sample that has frames.
    pub(crate) fn new(
        sight: &'c mut Sight<'s>,
        gaps: bool,
        (stack, learned): (u32, &'a Learned),
    ) -> Self {
        let seen = sight.seen;
        let last = seen.frames.len().saturating_sub(1);
        let sp = |frame: Option<&SeenFrame>| frame.map_or(0, |frame| frame.sp);
        Self {
            last: seen.frames.get(last).map_or(Place::NOWHERE, |frame| frame.place),
            sp: sp(seen.frames.first()),
            told: seen.told().unwrap_or(sp(seen.frames.last())),
            cfa: seen.cfa(last),
            stack,
            paths: &learned.paths,
            gaps,
            sight,
        }
    }

    /// Continues the chain: call by call as far as evidence decides; then the only way that is known to calls that were
    /// under way before and afterwards; or else to these behind a gap.
    /// The callers are added to `places`; `None` where nothing is known.
    pub(crate) fn repair(
        mut self,
        [past, future]: [View<'a>; 2],
        lists: &mut Lists<'a>,
        places: &mut Vec<Place>,
    ) -> Option<Repaired> {
        let first = places.len();
        let mut repaired = Repaired::default();
        self.go_outwards([past, future], lists, &mut repaired, places);
        repaired.len = places.len() - first;
        (repaired.len > 0).then_some(repaired)
    }

    fn go_outwards(
        &mut self,
        [past, future]: [View<'a>; 2],
        lists: &mut Lists<'a>,
        repaired: &mut Repaired,
        places: &mut Vec<Place>,
    ) {
        let first = places.len();
        let (mut before, mut after) = (past, future);
        let (mut told, mut cfa) = (self.told, self.cfa);
        while let Some(call) = self.next(&mut before, &mut after) {
            places.push(call.caller);
            let call = match call.link {
                Link::Root => call,
                _ => before.go_on(&mut after, places).unwrap_or(call),
            };
            told = call.cfa;
            cfa = before.next_cfa().or(after.next_cfa());
            self.last = call.caller;
            if call.link == Link::Root {
                repaired.root = Some(call.cfa.saturating_sub(self.sp));
                return;
            }
        }
        // Where another function was called before or afterwards, that call is not this one.
        let over = [before.next(), after.next()].into_iter().flatten();
        let over = over.filter(|(_, link)| *link == Link::OtherFunction).map(|(call, _)| call.cfa);
        let told = over.fold(told, u64::max);
        let sure = places.len() - first;
        let gap = Gap::new([&past, &future], lists, (self.sp, told));
        let mut calls = gap.calls();
        let way = |end| self.only_way(cfa?, end, future.trials, places);
        if calls.innermost().and_then(way).is_none() {
            calls = match self.gaps {
                true => gap.without_returning(calls),
                false => Behind::NONE,
            };
            repaired.gap = calls.innermost().map(|_| sure);
        }
        repaired.root = calls.outermost().map(|call| call.cfa.saturating_sub(self.sp));
        places.extend(calls.callers());
    }

    /// Adds the callers on the only way that is known from the last frame, which begins at `cfa`, to the callee of `end`,
    /// if calls of that kind were always told rightly.
    fn only_way(
        &self,
        cfa: u64,
        end: &Call,
        trials: &Trials,
        places: &mut Vec<Place>,
    ) -> Option<()> {
        let key = (self.stack, cfa, self.last.addr());
        let way = self.paths.only_way(key, (end.cfa, end.caller))?;
        let mut callee = self.last;
        for &caller in way.iter().chain([&end.caller]) {
            if !trials.repeats(&callee, &caller) {
                return None;
            }
            callee = caller;
        }
        places.extend(way);
        Some(())
    }

    /// The next call outside that evidence decides: both directions show it, or one proves it and the other does not
    /// prove another one.
    fn next<'v>(&mut self, past: &mut View<'v>, future: &mut View<'v>) -> Option<&'v Call> {
        if let (Some((one, a)), Some((other, b))) = (past.next(), future.next())
            && one.is_same(other)
        {
            let supported = past.supports_next() || future.supports_next();
            let same_function = a.min(b) < Link::OtherFunction;
            if !supported || !same_function && !self.is_called_from(past, future) {
                return None;
            }
            past.advance();
            future.advance();
            return Some(one);
        }
        let both = [past.next(), future.next()];
        if both.iter().flatten().filter(|(_, link)| *link <= Link::SameFrame).count() == 2 {
            return None;
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

    /// Whether the last frame was called from where both directions saw calls of other functions: the caller's frame is
    /// the same in both, and the call can be that of the function.
    fn is_called_from<'v>(&mut self, past: &View<'v>, future: &View<'v>) -> bool {
        let two = |view: &View<'v>| view.calls.innermost().zip(view.calls.outer().innermost());
        let (Some((one, one_outer)), Some((other, other_outer))) = (two(past), two(future)) else {
            return false;
        };
        let link = Link::OtherFunction;
        one.link.max(other.link) < Link::SameFunction
            && one_outer.is_same(other_outer)
            && (past.trials.prove(link, one) || future.trials.prove(link, other))
            && can_have_called(&one.caller, &self.last, self.sight.functions, self.sight.code)
    }
}
