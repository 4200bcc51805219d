//! What is remembered of the stacks of threads while time goes on in one direction: for each stack the calls that were
//! under way, as far as nothing contradicts that they still are.

use hashbrown::HashMap;

use crate::frame::Place;
use crate::repair::call::{Call, Link};
use crate::repair::functions::{Code, Functions};
use crate::repair::kept::{Kept, Key};
use crate::repair::learned::Learned;
use crate::repair::seen::{Seen, SeenEnd, Stack};
use crate::repair::start::Starts;

/// The memory of one direction.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    index: HashMap<Stack, u32>,
    stacks: Vec<Remembered>,
    /// How many samples were taken in.
    samples: u64,
    starts: Starts,
    kept: Kept,
    /// What evidence is worth, and the ways that were seen, where this memory is to learn that.
    learned: Option<Learned>,
}

/// What is remembered of a stack.
#[derive(Debug)]
struct Remembered {
    stack: Stack,
    /// The calls under way, outermost first.
    calls: Vec<Call>,
    /// How many samples of the stack there were.
    samples: u32,
    /// How many samples of all stacks there were at the last of them.
    last: u64,
}

/// So many stacks are remembered from one window to the next.
const STACKS: usize = 1024;
/// So many calls of each, the innermost ones.
const CALLS: usize = 1024;

/// What a sample is compared by.
pub(crate) struct Sight<'a, P> {
    pub(crate) seen: Seen<'a>,
    /// Gives where the sample's frame of that index is.
    pub(crate) place: P,
    pub(crate) functions: &'a mut Functions,
    pub(crate) code: Code<'a>,
}

/// A sample beside what is remembered of its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// The index of the stack in the memory.
    pub(crate) stack: u32,
    /// So many remembered calls are outside of the sample's frames and not contradicted by them.
    outside: usize,
    /// From here on they lie beside the sample's own.
    beside: usize,
    /// So many of those, from the outermost one inwards, are the same.
    same: usize,
    /// Whether one of these is proven to be the same.
    proven: bool,
    /// What says that the sample's last frame belongs to the innermost call outside.
    pub(crate) link: Link,
    /// How many samples of the stack were taken in before.
    pub(crate) now: u32,
    /// What the stack starts with.
    pub(crate) start: Option<u32>,
}

impl Memory {
    /// A memory that also learns what evidence is worth, and the ways that were seen.
    pub(crate) fn learning() -> Self {
        Self { learned: Some(Learned::default()), ..Self::default() }
    }

    /// What the stacks start with.
    pub(crate) const fn starts(&self) -> &Starts {
        &self.starts
    }

    /// What was learned, if this memory learns.
    pub(crate) const fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// Compares a sample with what is remembered of its stack.
    pub(crate) fn compare<P: FnMut(usize) -> Place>(
        &mut self,
        sight: &mut Sight<'_, P>,
    ) -> Option<Comparison> {
        let seen = sight.seen;
        let (first, last) = seen.frames.first().zip(seen.frames.last())?;
        let index = self.stack(seen.stack());
        let Self { stacks, starts, .. } = self;
        let remembered = stacks.get_mut(index as usize)?;
        let calls = &mut remembered.calls;
        // What is below the stack pointer has returned.
        let alive = calls.partition_point(|call| call.cfa > first.sp);
        calls.truncate(alive);
        let told =
            if seen.end == SeenEnd::Root { u64::MAX } else { seen.told().unwrap_or(last.sp) };
        let outside = calls.partition_point(|call| call.cfa > told);
        let beside = calls.partition_point(|call| call.cfa > last.sp);
        let (same, proven) = same_calls(&seen, calls.get(beside..).unwrap_or_default());
        let mut comparison = Comparison {
            stack: index,
            outside,
            beside,
            same,
            proven,
            link: Link::Gap,
            now: remembered.samples,
            start: starts.current(seen.stack()),
        };
        comparison.link = comparison.link(calls, sight);
        Some(comparison)
    }

    /// The calls outside of a sample's frames, outermost first.
    pub(crate) fn outside(&self, comparison: &Comparison) -> &[Call] {
        let remembered = self.stacks.get(comparison.stack as usize);
        remembered.and_then(|it| it.calls.get(..comparison.outside)).unwrap_or_default()
    }

    /// Keeps the calls outside of a sample's frames for later: the key of [`Self::kept`].
    pub(crate) fn keep(&mut self, comparison: &Comparison) -> Option<Key> {
        let remembered = self.stacks.get_mut(comparison.stack as usize)?;
        self.kept.keep(remembered.calls.get_mut(..comparison.outside)?)
    }

    /// Calls that were kept, innermost first, as they were at that time.
    pub(crate) fn kept(&self, key: Option<Key>) -> impl Iterator<Item = &Call> {
        self.kept.calls(key)
    }

    /// Takes in a sample that was compared.
    pub(crate) fn take_in<P: FnMut(usize) -> Place>(
        &mut self,
        comparison: &Comparison,
        sight: &mut Sight<'_, P>,
    ) {
        let Self { stacks, starts, learned, samples, .. } = self;
        let Some(remembered) = stacks.get_mut(comparison.stack as usize) else { return };
        let calls = &mut remembered.calls;
        if let Some(learned) = learned {
            let beside = calls.get(comparison.beside..).unwrap_or_default();
            learned.try_out((beside, comparison.same), sight);
        }
        // What the sample contradicts: what it shows to be elsewhere, a call that is over, what lies inside.
        let is_over = comparison.link == Link::OtherFunction;
        let outside = comparison.outside - usize::from(is_over && comparison.outside > 0);
        calls.truncate(comparison.beside + comparison.same);
        calls.drain(outside..comparison.beside);
        comparison.renew(calls.get_mut(outside..).unwrap_or_default(), sight, learned);
        comparison.add(calls, sight, learned);
        if sight.seen.end == SeenEnd::Root {
            starts.note(remembered.stack, calls);
        }
        *samples += 1;
        remembered.samples += 1;
        remembered.last = *samples;
    }

    /// Forgets the stacks that had no sample for the longest time, where there are many, and the outer calls of deep ones.
    pub(crate) fn forget_old(&mut self) {
        for Remembered { calls, .. } in &mut self.stacks {
            calls.drain(..calls.len().saturating_sub(CALLS));
        }
        if self.stacks.len() > STACKS {
            self.stacks.sort_unstable_by_key(|it| std::cmp::Reverse(it.last));
            self.stacks.truncate(STACKS);
            self.index = (0..).zip(&self.stacks).map(|(at, it)| (it.stack, at)).collect();
        }
        let index = &self.index;
        self.starts.retain(|stack| index.contains_key(stack));
    }

    fn stack(&mut self, stack: Stack) -> u32 {
        let stacks = &mut self.stacks;
        *self.index.entry(stack).or_insert_with(|| {
            stacks.push(Remembered { stack, calls: Vec::new(), samples: 0, last: 0 });
            stacks.len() as u32 - 1
        })
    }
}

/// How many of the calls beside a sample's own are the same, from the outermost one inwards, and whether that is proven
/// of one of the frames.
fn same_calls(seen: &Seen<'_>, beside: &[Call]) -> (usize, bool) {
    let (mut same, mut proven) = (0, false);
    for ((callee, caller), call) in seen.calls().rev().zip(beside) {
        if (call.cfa, call.caller.addr()) != (caller.sp, caller.addr) {
            break;
        }
        same += 1;
        proven |= callee.saved.proves(call.saved);
    }
    (same, proven)
}

impl Comparison {
    /// What says that the sample's last frame belongs to the innermost call outside.
    fn link<P: FnMut(usize) -> Place>(&self, calls: &[Call], sight: &mut Sight<'_, P>) -> Link {
        if sight.seen.end == SeenEnd::Root {
            return Link::Root;
        }
        let call = self.outside.checked_sub(1).and_then(|at| calls.get(at));
        let Some(call) = call.filter(|it| sight.seen.end == SeenEnd::Cut(Some(it.cfa))) else {
            return Link::Gap;
        };
        let known = calls.get(self.beside).filter(|_| self.same > 0 && self.beside == self.outside);
        if let Some(known) = known.filter(|known| known.link < Link::OtherFunction) {
            return known.link.max(if self.proven { Link::SameFrame } else { Link::SameCall });
        }
        let last = (sight.place)(sight.seen.frames.len() - 1);
        let same = sight.functions.same(&call.callee, &last, sight.code);
        if same { Link::SameFunction } else { Link::OtherFunction }
    }

    /// Brings calls up to date that the sample shows, too, from the outermost one inwards.
    fn renew<P: FnMut(usize) -> Place>(
        &self,
        same: &mut [Call],
        sight: &mut Sight<'_, P>,
        learned: &mut Option<Learned>,
    ) {
        let shown = sight.seen.calls().enumerate().rev();
        for (depth, (call, (index, (callee, caller)))) in same.iter_mut().zip(shown).enumerate() {
            if depth > 0 {
                call.link = Link::Seen;
            } else if !self.proven || call.link > self.link {
                call.link = self.link.for_later();
            }
            call.saved = callee.saved;
            call.seen = call.seen.saturating_add(1);
            call.last = self.now;
            call.kept = None;
            if call.callee.addr() != callee.addr {
                call.callee = (sight.place)(index);
                if let Some(learned) = learned {
                    learned.note_way(
                        (self.stack, &sight.seen),
                        index,
                        (callee, caller),
                        call.caller,
                    );
                }
            }
        }
    }

    /// Adds the calls of the sample that were not known.
    fn add<P: FnMut(usize) -> Place>(
        &self,
        calls: &mut Vec<Call>,
        sight: &mut Sight<'_, P>,
        learned: &mut Option<Learned>,
    ) {
        let n_calls = sight.seen.calls().len();
        for (index, (callee, caller)) in sight.seen.calls().enumerate().rev().skip(self.same) {
            let link = if index + 1 == n_calls { self.link.for_later() } else { Link::Seen };
            let (inside, outside) = ((sight.place)(index), (sight.place)(index + 1));
            if let Some(learned) = learned {
                learned.note_way((self.stack, &sight.seen), index, (callee, caller), outside);
            }
            calls.push(Call {
                cfa: caller.sp,
                callee: inside,
                caller: outside,
                saved: callee.saved,
                link,
                seen: 1,
                last: self.now,
                kept: None,
            });
        }
    }
}
