//! What is behind a gap: calls that were under way before a sample and afterwards, where what is between them and the
//! sample's own frames was not seen.

use crate::repair::call::{Call, Link};
use crate::repair::kept::Calls;
use crate::repair::start::Start;
use crate::repair::view::View;

/// How far from the stack pointer a stack may reach: what threads get as a rule.
const STACK: u64 = 8 << 20;
/// How many calls a thread starts with that do nothing else: `_start` to `main`, or `clone` to what the thread was made
/// for.
const START: usize = 4;
/// How many samples must show a call.
const SEEN: u32 = 4;

/// What both directions say of a sample behind a gap.
pub(super) struct Gap<'v, 'a> {
    past: &'v View<'a>,
    future: &'v View<'a>,
    /// The stack pointer of the sample.
    sp: u64,
    /// What is behind the gap begins outside of here.
    cfa: u64,
    /// How many calls both know there, from the outermost one inwards.
    common: usize,
}

impl<'v, 'a> Gap<'v, 'a> {
    /// The gap of a sample with that stack pointer, outside of `cfa`.
    pub(super) fn new([past, future]: [&'v View<'a>; 2], (sp, cfa): (u64, u64)) -> Self {
        let common = past.calls.in_common(future.calls, cfa);
        Self { past, future, sp, cfa, common }
    }

    /// The calls behind the gap; none where no chain reached its root with them. They may have ended in between and come
    /// back: see [`Self::without_returning`].
    pub(super) fn calls(&self) -> Calls<'a> {
        self.rooted(self.lasting(self.common, |_| true))
    }

    /// What is left of these calls without those that trials speak against: where calls from there came back after
    /// samples that contradicted them, what was seen before and afterwards says nothing of the time in between.
    pub(super) fn without_returning(&self, calls: Calls<'a>) -> Calls<'a> {
        let most = self.common.min(calls.len());
        self.rooted(self.lasting(most, |call| self.past.trials.lasts(call)))
    }

    /// These calls, or what the stack starts with where there are none; if the outermost one is the root, and no further
    /// away than a stack is large.
    fn rooted(&self, calls: Calls<'a>) -> Calls<'a> {
        let calls = match calls.len() {
            0 => start(self.past.start, self.future.start, self.cfa),
            _ => calls,
        };
        let root = calls.get(0).filter(|call| call.link == Link::Root);
        let is_rooted = root.is_some_and(|call| call.cfa.saturating_sub(self.sp) <= STACK);
        if is_rooted { calls } else { Calls::default() }
    }

    /// The calls that were under way before and after the sample, as one and the same: their callees had saved the same
    /// registers, and the samples that showed them are no fewer than those in between, which did not. Of so many that
    /// both know; of the innermost of them `counts` must hold.
    fn lasting(&self, most: usize, counts: impl Fn(&Call) -> bool) -> Calls<'a> {
        let Self { past, future, .. } = self;
        let is_one = |depth: usize| {
            let (Some(one), Some(other)) = (past.calls.get(depth), future.calls.get(depth)) else {
                return false;
            };
            let seen = one.seen.saturating_add(other.seen);
            let unseen = past.age(one).saturating_add(future.age(other));
            one.saved.proves(other.saved) && seen >= SEEN.max(unseen) && counts(one)
        };
        let innermost = (0..most).rev().find(|depth| is_one(*depth));
        past.calls.outermost(innermost.map_or(0, |depth| depth + 1))
    }
}

/// What the stack starts with. Where only one direction knows it, what is taken for the start may be what the thread
/// does at its end.
fn start<'a>(before: Option<&'a Start>, after: Option<&'a Start>, cfa: u64) -> Calls<'a> {
    // One of them knows all samples of the window.
    let seen = [before, after].into_iter().flatten().map(|start| start.seen).max().unwrap_or(0);
    if seen < SEEN {
        return Calls::Now(&[]);
    }
    let calls = |start: Option<&'a Start>| start.map(Start::calls).unwrap_or_default();
    let (one, other, most) = match (before, after) {
        (None, _) => (calls(after), calls(after), START),
        (_, None) => (calls(before), calls(before), START),
        _ => (calls(before), calls(after), usize::MAX),
    };
    let pairs = one.iter().zip(other).take(most);
    let common = pairs.take_while(|(one, other)| one.is_same(other) && one.cfa > cfa);
    Calls::Now(one).outermost(common.count())
}
