//! Calls outside of a gap: active before and after a sample,
//! while the calls between them and its own frames are unknown.

use unwinder::CodeLocation;

use crate::join::call::{ActiveCall, Link};
use crate::join::observed::AROUND;
use crate::join::start::StartCalls;
use crate::join::variety::Site;
use crate::join::view::CallerView;

/// Maximum distance of the root from the stack pointer, in bytes: the usual stack size of threads.
const STACK: u64 = 8 << 20;
/// Minimum number of samples that show a call.
const MIN_SAMPLES: u32 = 4;

/// Calls outside of a sample as both directions have them, outermost first. Reused for each sample.
#[derive(Debug, Default)]
pub(crate) struct Lists<'a> {
    past: Vec<&'a ActiveCall>,
    future: Vec<&'a ActiveCall>,
}

/// Calls outside of a gap.
#[derive(Clone, Copy)]
pub(super) enum OuterCalls<'v, 'a> {
    /// Calls active before the sample and afterwards.
    Lasting(&'v [&'a ActiveCall]),
    /// Calls that the stack starts with.
    Start(&'a [ActiveCall]),
}

/// A gap of a sample, and both directions' calls outside of it.
pub(super) struct Gap<'v, 'a> {
    past: &'v CallerView<'a>,
    future: &'v CallerView<'a>,
    lists: &'v Lists<'a>,
    /// Stack pointer of the sample.
    sp: u64,
    /// Only calls with a larger CFA are outside of the gap.
    cfa: u64,
    /// Number of equal calls there, from the outermost one inwards.
    common: usize,
}

impl<'v, 'a> OuterCalls<'v, 'a> {
    /// No calls.
    pub(super) const NONE: Self = Self::Start(&[]);

    const fn len(self) -> usize {
        match self {
            Self::Lasting(calls) => calls.len(),
            Self::Start(calls) => calls.len(),
        }
    }

    /// Returns the call with `depth` calls outside of it.
    fn get(self, depth: usize) -> Option<&'a ActiveCall> {
        match self {
            Self::Lasting(calls) => calls.get(depth).copied(),
            Self::Start(calls) => calls.get(depth),
        }
    }

    pub(super) fn innermost(self) -> Option<&'a ActiveCall> {
        self.get(self.len().checked_sub(1)?)
    }

    pub(super) fn outermost(self) -> Option<&'a ActiveCall> {
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
        [past, future]: [&'v CallerView<'a>; 2],
        lists: &'v mut Lists<'a>,
        sp: u64,
        cfa: u64,
    ) -> Self {
        let mut common = 0;
        if past.calls.innermost().is_some() && future.calls.innermost().is_some() {
            past.calls.list(&mut lists.past);
            future.calls.list(&mut lists.future);
            let mut pairs = lists.past.iter().zip(&lists.future);
            let is_other =
                |(one, other): (&&ActiveCall, &&ActiveCall)| one.cfa <= cfa || !one.is_same(other);
            common = pairs.position(is_other).unwrap_or(lists.past.len().min(lists.future.len()));
        }
        Self { past, future, lists, sp, cfa, common }
    }

    /// Returns the calls outside of the gap, or none if no chain reached its root through them.
    /// Calls at a location that came back after contradicting samples do not count.
    /// There, equal calls before and afterwards do not show that one was active in between.
    pub(super) fn calls(&self) -> OuterCalls<'v, 'a> {
        let starts = [self.past.start, self.future.start];
        // A lent stack, neither a process's nor a thread's own, may serve other users at other times.
        let is_lent = starts.into_iter().flatten().any(|start| start.is_lent);
        self.rooted(if is_lent { &[] } else { self.lasting() })
    }

    /// Returns these calls, or the stack's start if there are none.
    /// The outermost one must be the root, at most a stack size away.
    fn rooted(&self, lasting: &'v [&'a ActiveCall]) -> OuterCalls<'v, 'a> {
        let calls = match lasting {
            [] => OuterCalls::Start(start(self.past.start, self.future.start, self.cfa)),
            _ => OuterCalls::Lasting(lasting),
        };
        let root = calls.outermost().filter(|call| call.link == Link::Root);
        let is_rooted = root.is_some_and(|call| call.cfa.saturating_sub(self.sp) <= STACK);
        if is_rooted { calls } else { OuterCalls::NONE }
    }

    /// Returns the calls that were active before and after the sample as one and the same.
    /// The callee of the innermost one saved the same registers, which distinguish it from other calls.
    /// At least as many samples show it as samples in between do not.
    fn lasting(&self) -> &'v [&'a ActiveCall] {
        let Self { past, future, lists, .. } = self;
        let is_one = |depth: usize| {
            let (Some(one), Some(other)) = (lists.past.get(depth), lists.future.get(depth)) else {
                return false;
            };
            let samples = one.samples.saturating_add(other.samples);
            let unseen = past.age(one).saturating_add(future.age(other));
            one.saved.proves(other.saved)
                && samples >= MIN_SAMPLES.max(unseen)
                && past.trials.lasts(one)
                && past.variety.distinguishes(Site::of(&one.caller))
                && future.variety.distinguishes(Site::of(&one.caller))
                && is_distinctive(&lists.past, depth)
        };
        let innermost = (0..self.common).rev().find(|depth| is_one(*depth));
        lists.past.get(..innermost.map_or(0, |depth| depth + 1)).unwrap_or_default()
    }
}

/// Returns true if the callee's saved registers differ from those of the frames around it.
fn is_distinctive(calls: &[&ActiveCall], depth: usize) -> bool {
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
) -> &'a [ActiveCall] {
    let samples =
        [before, after].into_iter().flatten().map(|start| start.samples).max().unwrap_or(0);
    let Some((one, other)) = before.or(after).zip(after.or(before)) else { return &[] };
    if samples < MIN_SAMPLES {
        return &[];
    }
    let pairs = one.calls.iter().zip(other.calls);
    let common = pairs.take_while(|(one, other)| one.is_same(other) && one.cfa > cfa).count();
    one.calls.get(..common).unwrap_or_default()
}
