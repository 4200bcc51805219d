//! The space of a process at one time, built on first use. Earlier maps are only listed.
//! The thread that plans the records builds no spaces; walking threads build those that samples need.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::cached_map::CachedMap;
use super::list::MapList;
use crate::process::inference::infer;
use crate::space::{Mapping, Space};

/// Maximum number of listed maps since the last built space, if it is uncertain that the space will be used.
/// The list of a hostile recording must not take much more memory than the space itself.
const MOST: usize = 8192;

/// A space that its first user builds; all others get the same one. The result does not depend on the time of building.
#[derive(Debug)]
pub struct LazySpace {
    made: OnceLock<BuiltSpace>,
    /// Input of the build, until it is built.
    recipe: Mutex<Option<Recipe>>,
    /// Upper bound of the maps since the last built space.
    n_unmade: usize,
}

/// An earlier space of the process or of its parent, and the maps since.
#[derive(Debug)]
struct Recipe {
    base: Arc<LazySpace>,
    maps: MapList,
}

/// A built space, with further results of its maps.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuiltSpace {
    pub(crate) space: Arc<Space>,
    /// Code mappings that were covered by memory without a file: if that becomes code, it is the same code.
    pub(crate) covered: Vec<Mapping>,
}

impl BuiltSpace {
    /// The space for changes: a shared one is copied first.
    pub(crate) fn space_mut(&mut self) -> &mut Space {
        Arc::make_mut(&mut self.space)
    }

    /// Adds waiting maps to the space, in record order.
    pub(crate) fn put(&mut self, maps: &[CachedMap]) {
        if maps.is_empty() {
            return;
        }
        let Self { space, covered } = self;
        let space = Arc::make_mut(space);
        for &CachedMap { mapping, is_anonymous, .. } in maps {
            if is_anonymous {
                // Only executable memory yields inferences, and no other memory without a file waits.
                // If there are hints, nothing waits.
                let _ = infer(space, covered, &mapping, None);
                space.map_below_jit(mapping);
            } else {
                space.map(mapping);
            }
        }
    }
}

impl LazySpace {
    /// Wraps a built space.
    pub(crate) fn of(made: BuiltSpace) -> Self {
        Self { made: OnceLock::from(made), recipe: Mutex::new(None), n_unmade: 0 }
    }

    /// Creates the space of `base` plus waiting maps.
    pub(crate) fn after(base: Arc<Self>, maps: MapList) -> Arc<Self> {
        let n_before = if base.made.get().is_some() { 0 } else { base.n_unmade };
        let n_unmade = n_before + maps.maps.len();
        let recipe = Mutex::new(Some(Recipe { base, maps }));
        Arc::new(Self { made: OnceLock::new(), recipe, n_unmade })
    }

    /// Builds the space now if too many maps are listed for it. Call it if the space may never be used.
    pub(crate) fn bound(&self) {
        if self.n_unmade > MOST {
            self.built();
        }
    }

    /// Returns the space, building it if needed.
    #[must_use]
    #[inline]
    pub fn space(&self) -> &Arc<Space> {
        &self.built().space
    }

    /// Returns the built space with its further results.
    #[inline]
    pub(crate) fn built(&self) -> &BuiltSpace {
        self.made.get().unwrap_or_else(|| self.make_all())
    }

    /// Changes the space of `this`: in place if it is not shared, else on a copy.
    pub(crate) fn change<R>(this: &mut Arc<Self>, change: impl FnOnce(&mut BuiltSpace) -> R) -> R {
        this.built();
        let own = Arc::get_mut(this).and_then(|own| own.made.take());
        let mut made = own.unwrap_or_else(|| this.built().clone());
        let result = change(&mut made);
        match Arc::get_mut(this) {
            Some(own) => own.made = OnceLock::from(made),
            None => *this = Arc::new(Self::of(made)),
        }
        result
    }

    /// Builds the spaces that this one depends on, oldest first, and then this one.
    #[cold]
    fn make_all(&self) -> &BuiltSpace {
        let mut unmade = Vec::new();
        let mut next = self.unmade_base();
        while let Some(base) = next {
            next = base.unmade_base();
            unmade.push(base);
        }
        while let Some(base) = unmade.pop() {
            base.make();
        }
        self.make()
    }

    /// Returns the space that this one depends on, if neither is built.
    fn unmade_base(&self) -> Option<Arc<Self>> {
        let base = self.recipe().as_ref().map(|recipe| recipe.base.clone());
        base.filter(|base| base.made.get().is_none())
    }

    /// Builds this space; its base must be built.
    fn make(&self) -> &BuiltSpace {
        self.made.get_or_init(|| {
            let Some(Recipe { mut base, maps }) = self.recipe().take() else {
                return BuiltSpace::default();
            };
            // A base without other users is reused as this space.
            let own = Arc::get_mut(&mut base).and_then(|base| base.made.take());
            let mut made = own.unwrap_or_else(|| base.make().clone());
            made.put(&maps.maps);
            made
        })
    }

    fn recipe(&self) -> MutexGuard<'_, Option<Recipe>> {
        self.recipe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LazySpace {
    /// Drops the chain of bases iteratively: it can be long.
    fn drop(&mut self) {
        let take = |space: &mut Self| {
            let recipe = space.recipe.get_mut().unwrap_or_else(PoisonError::into_inner);
            recipe.take().map(|recipe| recipe.base)
        };
        let mut next = take(self);
        while let Some(mut base) = next.and_then(Arc::into_inner) {
            next = take(&mut base);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use address::{Avma, FileOffset, ModuleId, Pid};
    use budget::HeldMemory;

    use super::super::list::WaitingMaps;

    fn mapping(at: u64) -> Mapping {
        Mapping {
            start: Avma(0x1000 * at),
            end: Avma(0x1000 * (at + 1)),
            offset: FileOffset(0),
            module: ModuleId(at as u32),
            executable: true,
            writable: false,
        }
    }

    fn maps(of: std::ops::Range<u64>) -> MapList {
        let mut maps = WaitingMaps::NONE;
        let map = |at| CachedMap { pid: Pid(1), mapping: mapping(at), is_anonymous: false };
        of.for_each(|at| assert!(maps.push(map(at), &HeldMemory::UNCOUNTED)));
        maps.take()
    }

    fn modules(space: &LazySpace) -> Vec<u32> {
        space.space().mappings().map(|mapping| mapping.module.0).collect()
    }

    fn is_made(space: &LazySpace) -> bool {
        space.made.get().is_some()
    }

    #[test]
    fn spaces_are_made_when_they_are_needed_and_do_not_change_then() {
        let empty = Arc::new(LazySpace::of(BuiltSpace::default()));
        let first = LazySpace::after(empty.clone(), maps(0..2));
        let second = LazySpace::after(first.clone(), maps(2..3));
        let other = LazySpace::after(first.clone(), maps(7..8));
        assert_eq!([&first, &second, &other].map(|it| is_made(it)), [false; 3]);
        assert_eq!(modules(&second), [0, 1, 2]);
        assert_eq!([&first, &second, &other].map(|it| is_made(it)), [true, true, false]);
        let mut changed = second.clone();
        LazySpace::change(&mut changed, |made| made.space_mut().map(mapping(5)));
        assert_eq!((modules(&second), modules(&changed)), (vec![0, 1, 2], vec![0, 1, 2, 5]));
        let place = Arc::as_ptr(&changed);
        LazySpace::change(&mut changed, |made| made.space_mut().map(mapping(6)));
        assert_eq!((Arc::as_ptr(&changed), modules(&changed).len()), (place, 5));
        assert_eq!((modules(&other), modules(&first)), (vec![0, 1, 7], vec![0, 1]));
        assert!(modules(&empty).is_empty());
    }

    /// A long chain of spaces, one map each; then one of them is built, or all are dropped.
    #[test]
    fn no_more_than_some_maps_are_listed() {
        let chain = || {
            let mut space = Arc::new(LazySpace::of(BuiltSpace::default()));
            for at in 0..MOST as u64 {
                space = LazySpace::after(space, maps(at % 50..at % 50 + 1));
                space.bound();
                assert!(!is_made(&space));
            }
            space
        };
        drop(chain());
        let last = chain();
        let made = LazySpace::after(last.clone(), maps(60..61));
        made.bound();
        assert!(is_made(&made));
        let next = LazySpace::after(made, maps(61..62));
        next.bound();
        assert!(!is_made(&next) && is_made(&last));
        assert_eq!(modules(&next).len(), 52);
    }

    #[test]
    fn threads_make_a_space_once() {
        let empty = Arc::new(LazySpace::of(BuiltSpace::default()));
        let first = LazySpace::after(empty, maps(0..100));
        let last = LazySpace::after(first.clone(), maps(100..200));
        let versions: Vec<u64> = std::thread::scope(|scope| {
            let ask =
                |at: usize| if at.is_multiple_of(2) { &first } else { &last }.space().version();
            let threads: Vec<_> = (0..8).map(|at| scope.spawn(move || ask(at))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(versions.chunks(2).all(|pair| pair == &versions[..2]));
        assert_eq!((modules(&first).len(), modules(&last).len()), (100, 200));
    }
}
