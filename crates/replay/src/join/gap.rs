//! Calls outside of a gap: active before and after a sample,
//! while the calls between them and its own frames are unknown.

use unwinder::CodeLocation;

use crate::join::call::{Call, Link};
use crate::join::seen::AROUND;
use crate::join::start::StartCalls;
use crate::join::variety::Site;
use crate::join::view::View;

/// Maximum distance of the root from the stack pointer, in bytes: the usual stack size of threads.
const STACK: u64 = 8 << 20;
/// Minimum number of samples that show a call.
const SEEN: u32 = 4;

/// Calls outside of a sample as both directions have them, outermost first. Reused for each sample.
#[derive(Debug, Default)]
pub(crate) struct Lists<'a> {
    past: Vec<&'a Call>,
    future: Vec<&'a Call>,
}

/// Calls outside of a gap.
#[derive(Clone, Copy)]
pub(super) enum Behind<'v, 'a> {
    /// Calls active before the sample and afterwards.
    Lasting(&'v [&'a Call]),
    /// Calls that the stack starts with.
    Start(&'a [Call]),
}

/// A gap of a sample, and both directions' calls outside of it.
pub(super) struct Gap<'v, 'a> {
    past: &'v View<'a>,
    future: &'v View<'a>,
    lists: &'v Lists<'a>,
    /// Stack pointer of the sample.
    sp: u64,
    /// Only calls with a larger CFA are outside of the gap.
    cfa: u64,
    /// Number of equal calls there, from the outermost one inwards.
    common: usize,
}

impl<'v, 'a> Behind<'v, 'a> {
    /// No calls.
    pub(super) const NONE: Self = Self::Start(&[]);

    const fn len(self) -> usize {
        match self {
            Self::Lasting(calls) => calls.len(),
            Self::Start(calls) => calls.len(),
        }
    }

    /// Returns the call with `depth` calls outside of it.
    fn get(self, depth: usize) -> Option<&'a Call> {
        match self {
            Self::Lasting(calls) => calls.get(depth).copied(),
            Self::Start(calls) => calls.get(depth),
        }
    }

    pub(super) fn innermost(self) -> Option<&'a Call> {
        self.get(self.len().checked_sub(1)?)
    }

    pub(super) fn outermost(self) -> Option<&'a Call> {
        self.get(0)
    }

    /// Returns the locations of the calls, innermost first.
    pub(super) fn callers(self) -> impl Iterator<Item = CodeLocation> {
        (0..self.len()).rev().filter_map(move |depth| Some(self.get(depth)?.caller))
    }
}

impl<'v, 'a> Gap<'v, 'a> {
    /// Creates the gap of a sample with that stack pointer, outside of `cfa`.
    pub(super) fn new(
        [past, future]: [&'v View<'a>; 2],
        lists: &'v mut Lists<'a>,
        sp: u64,
        cfa: u64,
    ) -> Self {
        let mut common = 0;
        if past.calls.innermost().is_some() && future.calls.innermost().is_some() {
            past.calls.list(&mut lists.past);
            future.calls.list(&mut lists.future);
            let mut pairs = lists.past.iter().zip(&lists.future);
            let is_other = |(one, other): (&&Call, &&Call)| one.cfa <= cfa || !one.is_same(other);
            common = pairs.position(is_other).unwrap_or(lists.past.len().min(lists.future.len()));
        }
        Self { past, future, lists, sp, cfa, common }
    }

    /// Returns the calls outside of the gap, or none if no chain reached its root through them.
    /// Calls at a location that came back after contradicting samples do not count.
    /// There, equal calls before and afterwards do not show that one was active in between.
    pub(super) fn calls(&self) -> Behind<'v, 'a> {
        let starts = [self.past.start, self.future.start];
        // A lent stack, neither a process's nor a thread's own, may serve other users at other times.
        let is_lent = starts.into_iter().flatten().any(|start| start.is_lent);
        self.rooted(if is_lent { &[] } else { self.lasting() })
    }

    /// Returns these calls, or the stack's start if there are none.
    /// The outermost one must be the root, at most a stack size away.
    fn rooted(&self, lasting: &'v [&'a Call]) -> Behind<'v, 'a> {
        let calls = match lasting {
            [] => Behind::Start(start(self.past.start, self.future.start, self.cfa)),
            _ => Behind::Lasting(lasting),
        };
        let root = calls.outermost().filter(|call| call.link == Link::Root);
        let is_rooted = root.is_some_and(|call| call.cfa.saturating_sub(self.sp) <= STACK);
        if is_rooted { calls } else { Behind::NONE }
    }

    /// Returns the calls that were active before and after the sample as one and the same.
    /// The callee of the innermost one saved the same registers, which distinguish it from other calls.
    /// At least as many samples show it as samples in between do not.
    fn lasting(&self) -> &'v [&'a Call] {
        let Self { past, future, lists, .. } = self;
        let is_one = |depth: usize| {
            let (Some(one), Some(other)) = (lists.past.get(depth), lists.future.get(depth)) else {
                return false;
            };
            let seen = one.seen.saturating_add(other.seen);
            let unseen = past.age(one).saturating_add(future.age(other));
            one.saved.proves(other.saved)
                && seen >= SEEN.max(unseen)
                && past.trials.lasts(one)
                && past.variety.tells(Site::of(&one.caller))
                && future.variety.tells(Site::of(&one.caller))
                && tells_apart(&lists.past, depth)
        };
        let innermost = (0..self.common).rev().find(|depth| is_one(*depth));
        lists.past.get(..innermost.map_or(0, |depth| depth + 1)).unwrap_or_default()
    }
}

/// Returns true if the callee's saved registers differ from those of the frames around it.
fn tells_apart(calls: &[&Call], depth: usize) -> bool {
    let Some(saved) = calls.get(depth).map(|call| call.saved) else { return false };
    let around = calls.iter().enumerate().skip(depth.saturating_sub(AROUND));
    let mut around = around.take_while(|(at, _)| *at <= depth + AROUND);
    around.all(|(at, other)| at == depth || other.saved != saved)
}

/// Returns the common start of both directions, or that of the only direction that has one.
fn start<'a>(
    before: Option<StartCalls<'a>>,
    after: Option<StartCalls<'a>>,
    cfa: u64,
) -> &'a [Call] {
    let seen = [before, after].into_iter().flatten().map(|start| start.seen).max().unwrap_or(0);
    let Some((one, other)) = before.or(after).zip(after.or(before)) else { return &[] };
    if seen < SEEN {
        return &[];
    }
    let pairs = one.calls.iter().zip(other.calls);
    let common = pairs.take_while(|(one, other)| one.is_same(other) && one.cfa > cfa).count();
    one.calls.get(..common).unwrap_or_default()
}
