//! What is behind a gap: calls that were under way before a sample and afterwards, where what is between them and the
//! sample's own frames was not seen.

use crate::frame::Place;
use crate::repair::call::{Call, Link};
use crate::repair::start::StartCalls;
use crate::repair::view::View;

/// How far from the stack pointer a stack may reach: what threads get as a rule.
const STACK: u64 = 8 << 20;
/// How many calls a thread starts with that do nothing else: `_start` to `main`, or `clone` to what the thread was made
/// for.
const START: usize = 4;
/// How many samples must show a call.
const SEEN: u32 = 4;

/// The calls outside of a sample as both directions know them, outermost first. Used again for each sample.
#[derive(Debug, Default)]
pub(crate) struct Lists<'a> {
    past: Vec<&'a Call>,
    future: Vec<&'a Call>,
}

/// Calls behind a gap.
#[derive(Clone, Copy)]
pub(super) enum Behind<'v, 'a> {
    /// That were under way before the sample and afterwards.
    Lasting(&'v [&'a Call]),
    /// That the stack starts with.
    Start(&'a [Call]),
}

/// What both directions say of a sample behind a gap.
pub(super) struct Gap<'v, 'a> {
    past: &'v View<'a>,
    future: &'v View<'a>,
    lists: &'v Lists<'a>,
    /// The stack pointer of the sample.
    sp: u64,
    /// What is behind the gap begins outside of here.
    cfa: u64,
    /// How many calls both know there, from the outermost one inwards.
    common: usize,
}

impl<'v, 'a> Behind<'v, 'a> {
    /// Nothing.
    pub(super) const NONE: Self = Self::Start(&[]);

    const fn len(self) -> usize {
        match self {
            Self::Lasting(calls) => calls.len(),
            Self::Start(calls) => calls.len(),
        }
    }

    /// The one that has so many outside of it.
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

    /// Where they were called, innermost first.
    pub(super) fn callers(self) -> impl Iterator<Item = Place> {
        (0..self.len()).rev().filter_map(move |depth| Some(self.get(depth)?.caller))
    }
}

impl<'v, 'a> Gap<'v, 'a> {
    /// The gap of a sample with that stack pointer, outside of `cfa`.
    pub(super) fn new(
        [past, future]: [&'v View<'a>; 2],
        lists: &'v mut Lists<'a>,
        (sp, cfa): (u64, u64),
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

    /// The calls behind the gap; none where no chain reached its root with them. They may have ended in between and come
    /// back: see [`Self::without_returning`].
    pub(super) fn calls(&self) -> Behind<'v, 'a> {
        self.rooted(self.lasting(self.common, |_| true))
    }

    /// What is left of these calls without those that trials speak against: where calls from there came back after
    /// samples that contradicted them, what was seen before and afterwards says nothing of the time in between.
    pub(super) fn without_returning(&self, calls: Behind<'v, 'a>) -> Behind<'v, 'a> {
        let most = self.common.min(calls.len());
        self.rooted(self.lasting(most, |call| self.past.trials.lasts(call)))
    }

    /// These calls, or what the stack starts with where there are none; if the outermost one is the root, and no further
    /// away than a stack is large.
    fn rooted(&self, lasting: &'v [&'a Call]) -> Behind<'v, 'a> {
        let calls = match lasting {
            [] => Behind::Start(start(self.past.start, self.future.start, self.cfa)),
            _ => Behind::Lasting(lasting),
        };
        let root = calls.outermost().filter(|call| call.link == Link::Root);
        let is_rooted = root.is_some_and(|call| call.cfa.saturating_sub(self.sp) <= STACK);
        if is_rooted { calls } else { Behind::NONE }
    }

    /// The calls that were under way before and after the sample, as one and the same: their callees had saved the same
    /// registers, and the samples that showed them are no fewer than those in between, which did not. Of so many that
    /// both know; of the innermost of them `counts` must hold.
    fn lasting(&self, most: usize, counts: impl Fn(&Call) -> bool) -> &'v [&'a Call] {
        let Self { past, future, lists, .. } = self;
        let is_one = |depth: usize| {
            let (Some(one), Some(other)) = (lists.past.get(depth), lists.future.get(depth)) else {
                return false;
            };
            let seen = one.seen.saturating_add(other.seen);
            let unseen = past.age(one).saturating_add(future.age(other));
            one.saved.proves(other.saved) && seen >= SEEN.max(unseen) && counts(one)
        };
        let innermost = (0..most).rev().find(|depth| is_one(*depth));
        lists.past.get(..innermost.map_or(0, |depth| depth + 1)).unwrap_or_default()
    }
}

/// What the stack starts with. Where only one direction knows it, what is taken for the start may be what the thread
/// does at its end.
fn start<'a>(
    before: Option<StartCalls<'a>>,
    after: Option<StartCalls<'a>>,
    cfa: u64,
) -> &'a [Call] {
    // One of them knows all samples of the window.
    let seen = [before, after].into_iter().flatten().map(|start| start.seen).max().unwrap_or(0);
    if seen < SEEN {
        return &[];
    }
    let calls = |start: Option<StartCalls<'a>>| start.map(|it| it.calls).unwrap_or_default();
    let (one, other, most) = match (before, after) {
        (None, _) => (calls(after), calls(after), START),
        (_, None) => (calls(before), calls(before), START),
        _ => (calls(before), calls(after), usize::MAX),
    };
    let pairs = one.iter().zip(other).take(most);
    let common = pairs.take_while(|(one, other)| one.is_same(other) && one.cfa > cfa).count();
    one.get(..common).unwrap_or_default()
}
