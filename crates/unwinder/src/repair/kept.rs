//! Calls that were outside of samples whose chains are to be continued, kept as they were known at that time.

use std::num::NonZeroU32;

use crate::repair::call::Call;

/// Calls, and lists of them. What several samples have in common is kept once.
#[derive(Debug, Default)]
pub(super) struct Kept {
    calls: Vec<Call>,
    /// The calls outside of samples, outermost first, by their indexes plus one.
    lists: Vec<NonZeroU32>,
}

/// So many calls are kept of the samples of a window: some 45 MB. Programs need one to twelve for each sample.
const CALLS: usize = 1 << 19;
/// The lists have so many entries at most: 16 MB.
const LISTED: usize = 1 << 22;

/// Where a list of calls is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Key {
    first: u32,
    len: u32,
}

impl Kept {
    /// Forgets all, and has room for what so many samples have outside of them as a rule.
    pub(super) fn begin_anew(&mut self, n_samples: usize) {
        self.calls.clear();
        self.lists.clear();
        self.calls.reserve(2 * n_samples);
        self.lists.reserve(16 * n_samples);
    }

    /// Keeps calls, outermost first, as they are now. `last` is what the same stack had kept last, if anything. Nothing
    /// is kept where there is no room.
    pub(super) fn keep(&mut self, calls: &mut [Call], last: Key) -> Key {
        let Self { calls: all, lists } = self;
        let is_full = all.len() + calls.len() > CALLS || lists.len() + calls.len() > LISTED;
        let Some(innermost) = calls.last().filter(|_| !is_full) else { return Key::default() };
        // A call that has not changed has none outside of it that has.
        let listed = last.len.checked_sub(1).map(|at| (last.first + at) as usize);
        let listed = listed.and_then(|at| lists.get(at));
        if last.len as usize == calls.len() && innermost.kept.as_ref() == listed {
            return last;
        }
        let first = lists.len();
        // So the outer ones that both have are listed as they were, and found without looking at each of them.
        let unchanged = calls.partition_point(|call| call.kept.is_some()).min(last.len as usize);
        let last = last.first as usize..last.first as usize + unchanged;
        let same = lists.get(last.clone()).and_then(<[_]>::last);
        let is_same = same.is_some()
            && calls.get(..unchanged).and_then(<[Call]>::last).and_then(|call| call.kept.as_ref())
                == same;
        let n_same = if is_same { unchanged } else { 0 };
        if is_same {
            lists.extend_from_within(last);
        }
        for call in calls.iter_mut().skip(n_same) {
            let kept = match call.kept {
                Some(kept) => kept,
                None => {
                    all.push(*call);
                    let Some(kept) = NonZeroU32::new(all.len() as u32) else { continue };
                    *call.kept.insert(kept)
                }
            };
            lists.push(kept);
        }
        Key { first: first as u32, len: (lists.len() - first) as u32 }
    }

    /// The calls of a key.
    pub(super) fn calls(&self, key: Key) -> Calls<'_> {
        let list = self.lists.get(key.first as usize..).and_then(|it| it.get(..key.len as usize));
        Calls::Kept(&self.calls, list.unwrap_or_default())
    }
}

/// Calls that were under way on a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Calls<'a> {
    /// As they are remembered now, outermost first.
    Now(&'a [Call]),
    /// As they were kept: all that were, and which of them it is.
    Kept(&'a [Call], &'a [NonZeroU32]),
}

impl Default for Calls<'_> {
    fn default() -> Self {
        Self::Now(&[])
    }
}

impl<'a> Calls<'a> {
    /// How many there are.
    pub(super) const fn len(self) -> usize {
        match self {
            Self::Now(calls) => calls.len(),
            Self::Kept(_, list) => list.len(),
        }
    }

    /// The one that has so many outside of it.
    #[inline]
    pub(super) fn get(self, depth: usize) -> Option<&'a Call> {
        match self {
            Self::Now(calls) => calls.get(depth),
            Self::Kept(calls, list) => calls.get(list.get(depth)?.get() as usize - 1),
        }
    }

    /// The innermost one.
    #[inline]
    pub(super) fn innermost(self) -> Option<&'a Call> {
        self.get(self.len().checked_sub(1)?)
    }

    /// So many, from the outermost one on.
    #[inline]
    pub(super) fn outermost(self, n: usize) -> Self {
        match self {
            Self::Now(calls) => Self::Now(calls.get(..n).unwrap_or(calls)),
            Self::Kept(calls, list) => Self::Kept(calls, list.get(..n).unwrap_or(list)),
        }
    }

    /// The ones outside of the innermost.
    #[inline]
    pub(super) fn outer(self) -> Self {
        self.outermost(self.len().saturating_sub(1))
    }

    /// The innermost one, and the ones outside of it.
    #[inline]
    pub(super) fn split_innermost(self) -> Option<(&'a Call, Self)> {
        match self {
            Self::Now(calls) => calls.split_last().map(|(call, outer)| (call, Self::Now(outer))),
            Self::Kept(calls, list) => {
                let (at, outer) = list.split_last()?;
                Some((calls.get(at.get() as usize - 1)?, Self::Kept(calls, outer)))
            }
        }
    }

    /// How many are the same as in the other ones, from the outermost one inwards, as far as they begin outside of `cfa`.
    pub(super) fn in_common(self, other: Self, cfa: u64) -> usize {
        let is_same = |(one, other): (&Call, &Call)| one.cfa > cfa && one.is_same(other);
        let most = self.len().min(other.len());
        let is_same_at =
            |depth: &usize| self.get(*depth).zip(other.get(*depth)).is_some_and(is_same);
        (0..most).take_while(is_same_at).count()
    }

    /// All of them, outermost first.
    #[inline]
    pub(super) fn iter(self) -> impl DoubleEndedIterator<Item = &'a Call> {
        (0..self.len()).filter_map(move |depth| self.get(depth))
    }
}
