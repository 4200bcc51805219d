//! The ways that led inwards on each stack: where a function was called from, whenever it was seen in that place.
//!
//! A loop calls the same functions again and again. While it runs, what one round showed of the frames inside of it
//! holds for another round that went the same way, though the frames themselves are others.

use std::hash::BuildHasher;
use std::iter::successors;
use std::num::NonZeroU32;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::frame::Place;

/// A frame of a function that had called somebody: the index of its stack, where it begins, and the looked-up address.
type Key = (u32, u64, u64);

/// A caller of such a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    pub(crate) place: Place,
    /// Where the caller's own frame begins.
    pub(crate) cfa: u64,
}

/// So many callers of one frame are remembered; where there are more, nothing is known.
const CALLERS: usize = 3;
/// A call that was noted less often may be another one the next time: of those that were noted once, 6 to 11 % were
/// (rustc, cc1, cc1plus); of those that were noted three times 0.6 to 2 %.
const TIMES: u32 = 3;
/// So many such calls are on a way that is told at most.
const DOUBTS: u32 = 1;
/// So many steps are tried to find the way.
const STEPS: usize = 64;

/// A call: a frame, its caller, and another caller of the frame.
#[derive(Clone, Copy, Debug)]
struct KnownCall {
    key: Key,
    caller: Caller,
    /// How many times it was noted.
    times: u32,
    other: Option<NonZeroU32>,
}

/// All ways that were seen.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// For each frame its hash, and the first of its calls. Small, for one is looked up for each call that is new.
    frames: HashTable<(u32, NonZeroU32)>,
    calls: Vec<KnownCall>,
    hasher: DefaultHashBuilder,
}

impl Paths {
    /// Forgets all, and has room for what so many samples show as a rule.
    pub(crate) fn begin_anew(&mut self, n_samples: usize) {
        self.frames.clear();
        self.calls.clear();
        self.calls.reserve(3 * n_samples);
    }

    /// Takes in a call: the callee's frame, and the caller.
    pub(crate) fn note(&mut self, key: Key, caller: Caller) {
        let hash = self.hash(key);
        let Self { frames, calls, .. } = self;
        let Some(new) = NonZeroU32::new(calls.len() as u32 + 1) else { return };
        let is_of = |&(known, first): &(u32, NonZeroU32)| {
            let first = calls.get(first.get() as usize - 1);
            known == hash && first.is_some_and(|call| call.key == key)
        };
        let mut last = None;
        if let Some(&(_, first)) = frames.find(spread(hash), is_of) {
            let mut next = Some(first);
            for _ in 0..=CALLERS {
                let Some(at) = next else { break };
                let Some(known) = calls.get_mut(at.get() as usize - 1) else { return };
                if known.caller == caller {
                    known.times = known.times.saturating_add(1);
                    return;
                }
                (last, next) = (next, known.other);
            }
            if next.is_some() {
                return;
            }
        } else {
            frames.insert_unique(spread(hash), (hash, new), |(hash, _)| spread(*hash));
        }
        calls.push(KnownCall { key, caller, times: 1, other: None });
        if let Some(last) = last.and_then(|at| calls.get_mut(at.get() as usize - 1)) {
            last.other = Some(new);
        }
    }

    /// The callers of a frame; `None` where there are too many.
    fn callers(&self, key: Key) -> Option<impl Iterator<Item = &KnownCall>> {
        let hash = self.hash(key);
        let call = |at: NonZeroU32| self.calls.get(at.get() as usize - 1);
        let is_of = |&(known, first): &(u32, NonZeroU32)| {
            known == hash && call(first).is_some_and(|call| call.key == key)
        };
        let first = self.frames.find(spread(hash), is_of).and_then(|(_, first)| call(*first));
        let all = move || successors(first, move |known| known.other.and_then(call));
        (all().count() <= CALLERS).then(all)
    }

    fn hash(&self, key: Key) -> u32 {
        self.hasher.hash_one(key) as u32
    }

    /// The callers on the only way from a frame outwards to a call of `end.1` whose callee's frame begins at `end.0`, that
    /// caller not included; `None` where no way or more than one is known.
    pub(crate) fn only_way(
        &self,
        (stack, cfa, addr): Key,
        end: (u64, Place),
    ) -> Option<Vec<Place>> {
        let (found, current) = (None, Vec::new());
        let mut search = Search { paths: self, stack, end, found, current, steps: 0 };
        search.go(cfa, addr, 0)?;
        search.found
    }
}

/// A search for ways.
struct Search<'p> {
    paths: &'p Paths,
    stack: u32,
    end: (u64, Place),
    /// The way that was found.
    found: Option<Vec<Place>>,
    /// The way that is gone at the moment.
    current: Vec<Place>,
    steps: usize,
}

impl Search<'_> {
    /// Tries all ways from a frame on, with so many doubtful calls before it; `None` where it is known that there is not one way only.
    fn go(&mut self, cfa: u64, addr: u64, doubts: u32) -> Option<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return None;
        }
        for &KnownCall { caller, times, .. } in self.paths.callers((self.stack, cfa, addr))? {
            let doubt = u32::from(times < TIMES);
            if cfa == self.end.0 && caller.place == self.end.1 {
                let is_doubtful = doubts + doubt > DOUBTS;
                if is_doubtful || self.found.replace(self.current.clone()).is_some() {
                    return None;
                }
            } else if cfa < caller.cfa && caller.cfa <= self.end.0 {
                self.current.push(caller.place);
                self.go(caller.cfa, caller.place.addr(), doubts + doubt)?;
                self.current.pop();
            }
        }
        Some(())
    }
}

/// A hash whose upper bits differ, too: the table uses these to tell entries apart.
fn spread(hash: u32) -> u64 {
    // Source: the multiplier is 2^64 divided by the golden ratio.
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}
