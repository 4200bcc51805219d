//! The ways that led inwards on each stack: where a function was called from, whenever it was seen in that place.
//!
//! A loop calls the same functions again and again. While it runs, what one round showed of the frames inside of it
//! holds for another round that went the same way, though the frames themselves are others.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::frame::Place;

/// A frame of a function that had called somebody: the index of its stack, where it begins, and the looked-up address.
type Key = (u32, u64, u64);

/// A caller of such a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Caller {
    pub(crate) place: Place,
    /// Where the caller's own frame begins.
    pub(crate) cfa: u64,
}

/// So many callers of one frame are remembered; where there are more, nothing is known.
const CALLERS: usize = 3;
/// So many steps are tried to find the way.
const STEPS: usize = 64;

/// A frame and its callers. Small, for one is looked up for each call that is new.
#[derive(Clone, Copy, Debug)]
struct Callers {
    key: Key,
    /// So many are known; one more than there is room for where there are too many.
    len: u32,
    /// Of each a digest, and the index.
    known: [(u32, u32); CALLERS],
}

/// All ways that were seen.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    frames: HashTable<Callers>,
    callers: Vec<Caller>,
    hasher: DefaultHashBuilder,
}

impl Paths {
    /// Takes in a call: the callee's frame, and the caller.
    pub(crate) fn note(&mut self, key: Key, caller: Caller) {
        let Self { frames, callers, hasher } = self;
        let digest = (caller.place.addr() ^ caller.cfa.rotate_left(20)) as u32;
        let hash = |key: &Key| hasher.hash_one(key);
        let entry = frames.entry(hash(&key), |it| it.key == key, |it| hash(&it.key));
        let mut entry = entry.or_insert(Callers { key, len: 0, known: [(0, 0); CALLERS] });
        let entry = entry.get_mut();
        let len = entry.len as usize;
        if entry.known.iter().take(len).any(|(known, _)| *known == digest) || len > CALLERS {
            return;
        }
        if let Some(slot) = entry.known.get_mut(len) {
            *slot = (digest, callers.len() as u32);
            callers.push(caller);
        }
        entry.len += 1;
    }

    /// The callers of a frame; `None` where there are too many.
    fn callers(&self, key: Key) -> Option<impl Iterator<Item = &Caller>> {
        let found = self.frames.find(self.hasher.hash_one(key), |it| it.key == key);
        let known = found.map_or(&[][..], |it| it.known.get(..it.len as usize).unwrap_or_default());
        let too_many = found.is_some_and(|it| it.len as usize > CALLERS);
        let callers = known.iter().filter_map(|&(_, index)| self.callers.get(index as usize));
        (!too_many).then_some(callers)
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
        search.go(cfa, addr)?;
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
    /// Tries all ways from a frame on; `None` where it is known that there is not one way only.
    fn go(&mut self, cfa: u64, addr: u64) -> Option<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return None;
        }
        for caller in self.paths.callers((self.stack, cfa, addr))? {
            if cfa == self.end.0 && caller.place == self.end.1 {
                if self.found.replace(self.current.clone()).is_some() {
                    return None;
                }
            } else if cfa < caller.cfa && caller.cfa <= self.end.0 {
                self.current.push(caller.place);
                self.go(caller.cfa, caller.place.addr())?;
                self.current.pop();
            }
        }
        Some(())
    }
}
