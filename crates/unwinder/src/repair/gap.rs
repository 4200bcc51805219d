//! What is behind a gap: calls that were under way before a sample and afterwards, where what is between them and the
//! sample's own frames was not seen.

use crate::repair::call::Link;
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

/// How much the trials of calls that come back count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trust {
    /// Where they speak against a call, it is not taken.
    Tried,
    /// Not at all: what is found is to be proven otherwise.
    Untried,
}

/// The calls behind a gap, all of them outside of `cfa`; none where no chain reached its root with them. `sp` is the
/// stack pointer of the sample.
pub(super) fn behind_gap<'a>(
    [past, future]: [&View<'a>; 2],
    (sp, cfa): (u64, u64),
    trust: Trust,
) -> Calls<'a> {
    let mut calls = lasting([past, future], cfa, trust);
    if calls.len() == 0 {
        calls = start(past.start, future.start, cfa);
    }
    let is_root = calls
        .get(0)
        .is_some_and(|call| call.link == Link::Root && call.cfa.saturating_sub(sp) <= STACK);
    if is_root { calls } else { Calls::Now(&[]) }
}

/// The calls that were under way before and after the sample, as one and the same: their callees had saved the same
/// registers, the samples that showed them are no fewer than those in between, which did not, and calls from there did
/// not come back as a rule after samples that contradicted them.
fn lasting<'a>([past, future]: [&View<'a>; 2], cfa: u64, trust: Trust) -> Calls<'a> {
    let pairs = past.calls.iter().zip(future.calls.iter());
    let common = pairs.take_while(|(one, other)| one.is_same(other) && one.cfa > cfa);
    let mut n_sure = 0;
    for (depth, (one, other)) in common.enumerate() {
        let seen = one.seen.saturating_add(other.seen);
        let unseen = past.age(one).saturating_add(future.age(other));
        let is_one = one.saved.proves(other.saved) && seen >= SEEN.max(unseen);
        if is_one && (trust == Trust::Untried || past.trials.lasts(one)) {
            n_sure = depth + 1;
        }
    }
    past.calls.outermost(n_sure)
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
