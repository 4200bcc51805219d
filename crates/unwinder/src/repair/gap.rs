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

/// The calls behind a gap, all of them outside of `cfa`; none where no chain reached its root with them. `sp` is the
/// stack pointer of the sample. They may have ended in between and come back: see [`without_returning`].
pub(super) fn behind_gap<'a>([past, future]: [&View<'a>; 2], (sp, cfa): (u64, u64)) -> Calls<'a> {
    let mut calls = lasting([past, future], cfa, past.calls.len(), |_| true);
    if calls.len() == 0 {
        calls = start(past.start, future.start, cfa);
    }
    if is_rooted(calls, sp) { calls } else { Calls::default() }
}

/// What is left of calls behind a gap without those that trials speak against: where calls from there came back after
/// samples that contradicted them, what was seen before and afterwards says nothing of the time in between.
pub(super) fn without_returning<'a>(
    calls: Calls<'a>,
    [past, future]: [&View<'a>; 2],
    (sp, cfa): (u64, u64),
) -> Calls<'a> {
    let mut left = lasting([past, future], cfa, calls.len(), |call| past.trials.lasts(call));
    if left.len() == 0 {
        left = start(past.start, future.start, cfa);
    }
    if is_rooted(left, sp) { left } else { Calls::default() }
}

/// Whether the outermost call is the root, and no further away than a stack is large.
fn is_rooted(calls: Calls<'_>, sp: u64) -> bool {
    let root = calls.get(0).filter(|call| call.link == Link::Root);
    root.is_some_and(|call| call.cfa.saturating_sub(sp) <= STACK)
}

/// The calls that were under way before and after the sample, as one and the same: their callees had saved the same
/// registers, and the samples that showed them are no fewer than those in between, which did not. Of the `most`
/// outermost; of the innermost of them `counts` must hold.
fn lasting<'a>(
    [past, future]: [&View<'a>; 2],
    cfa: u64,
    most: usize,
    counts: impl Fn(&Call) -> bool,
) -> Calls<'a> {
    let pairs = past.calls.iter().zip(future.calls.iter()).take(most);
    let common = pairs.take_while(|(one, other)| one.is_same(other) && one.cfa > cfa).count();
    let is_one = |depth: usize| {
        let (Some(one), Some(other)) = (past.calls.get(depth), future.calls.get(depth)) else {
            return false;
        };
        let seen = one.seen.saturating_add(other.seen);
        let unseen = past.age(one).saturating_add(future.age(other));
        one.saved.proves(other.saved) && seen >= SEEN.max(unseen) && counts(one)
    };
    let innermost = (0..common).rev().find(|depth| is_one(*depth));
    past.calls.outermost(innermost.map_or(0, |depth| depth + 1))
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
