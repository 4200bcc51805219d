//! The address space of one process at one time: disjoint mappings in order of address. A space that somebody holds
//! never changes: the next version shares all chunks that a change does not touch.

mod chunk;
mod tree;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use address::{Avma, FileOffset, ModuleId};
use budget::Held;
use hashbrown::HashSet;

use crate::module::Modules;
use crate::module::{MappedKind, Module};
use tree::{Found, Tree};

/// A mapping: bytes of a module (or of anonymous memory) in a row of an address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// The first address.
    pub start: Avma,
    /// The address past the last. Invariant: above `start`.
    pub end: Avma,
    /// The offset in the module's file of the byte at `start`. Meaningless for anonymous memory.
    pub offset: FileOffset,
    /// What is mapped; [`Space::module`] and [`crate::Timeline::modules`] have it.
    pub module: ModuleId,
    /// Whether it was mapped executable.
    pub executable: bool,
    /// Whether it was mapped writable.
    pub writable: bool,
}

impl Mapping {
    /// Whether the address is in this mapping.
    #[must_use]
    pub fn contains(&self, avma: Avma) -> bool {
        self.start <= avma && avma < self.end
    }

    /// The offset in the file of an address of this mapping.
    #[must_use]
    pub const fn offset_of(&self, avma: Avma) -> FileOffset {
        self.offset.add(avma.since(self.start))
    }

    /// The part of this mapping between two of its addresses.
    pub(crate) fn part(&self, start: Avma, end: Avma) -> Self {
        Self { end, ..self.tail(start) }
    }

    /// The part of this mapping from `start` on.
    pub(crate) fn tail(&self, start: Avma) -> Self {
        Self { start, offset: self.offset_of(start), ..*self }
    }
}

/// An immutable address space, cheap to clone and to derive the next version from.
///
/// Invariant: mappings are disjoint and sorted.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Differs between any two spaces of different contents; a clone has the same.
    version: u64,
    modules: Arc<Modules>,
    tree: Tree,
    /// JIT code, which lies over the memory that it is in: that can be mapped anew without end, and each time all the
    /// code in it would have to be, too.
    jit: Tree,
    /// What is seen where nothing is mapped.
    behind: Option<Arc<Self>>,
}

impl Space {
    /// A space without mappings, whose mappings are going to be of these modules, and held as `held` is.
    pub(crate) fn of(modules: Arc<Modules>, held: &Held) -> Self {
        Self { version: 0, modules, tree: Tree::new(held), jit: Tree::new(held), behind: None }
    }

    /// The mapping at an address.
    #[must_use]
    #[inline]
    pub fn lookup(&self, avma: Avma) -> Option<Mapping> {
        if self.jit.is_empty() && self.behind.is_none() {
            return self.tree.lookup(avma).copied();
        }
        self.find(avma).ok()
    }

    /// The last mapping that begins below `avma`.
    #[must_use]
    pub fn last_before(&self, avma: Avma) -> Option<Mapping> {
        match self.find(Avma(avma.0.checked_sub(1)?)) {
            Ok(mapping) => Some(mapping),
            Err((gap, _)) => self.find(Avma(gap.0.checked_sub(1)?)).ok(),
        }
    }

    /// The mapping at an address, or the end of the mapping before it and where the next one begins, at the earliest.
    fn find(&self, avma: Avma) -> Result<Mapping, (Avma, Avma)> {
        let (mut start, mut end) = (Avma(0), Avma(u64::MAX));
        let behind = self.behind.as_deref();
        let layers = [&self.jit, &self.tree].into_iter();
        for tree in layers.chain(behind.iter().flat_map(|space| [&space.jit, &space.tree])) {
            match tree.find(avma) {
                // What lies before it and behind it in the layers above covers it there.
                Found::Mapping(mapping) => {
                    return Ok(mapping.part(mapping.start.max(start), mapping.end.min(end)));
                }
                Found::Gap(from, to) => (start, end) = (start.max(from), end.min(to)),
            }
        }
        Err((start, end))
    }

    /// The module of a mapping of this space.
    #[must_use]
    pub fn module(&self, mapping: &Mapping) -> Option<&Module> {
        self.modules.get(mapping.module).map(|module| &**module)
    }

    /// The id of the contents: two spaces of the same version are equal.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// All mappings in order of address.
    pub fn mappings(&self) -> impl Iterator<Item = Mapping> {
        self.overlapping(Avma(0), Avma(u64::MAX))
    }

    /// The mappings that have addresses from `start` up to `end`.
    pub fn overlapping(&self, start: Avma, end: Avma) -> impl Iterator<Item = Mapping> {
        let mut at = start;
        std::iter::from_fn(move || {
            let found = match self.find(at) {
                Ok(mapping) => mapping,
                Err((_, next)) => self.find(next).ok()?,
            };
            at = found.end;
            (found.start < end).then_some(found)
        })
    }

    /// Whether nothing is mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_behind = self.behind.as_ref().is_some_and(|behind| !behind.is_empty());
        self.tree.is_empty() && self.jit.is_empty() && !is_behind
    }

    /// Puts a mapping over whatever was there: it wins exactly the bytes that it covers, older mappings keep what sticks
    /// out at either end.
    ///
    /// ```text
    ///   before   |----- a -----|   |-- b --|
    ///   new              |--- n ----|
    ///   after    |-- a --|--- n ----|- b --|
    /// ```
    ///
    /// Source: there is no munmap record; the rule is that of `__maps__fixup_overlap_and_insert`.
    pub fn map(&mut self, new: Mapping) {
        if new.start < new.end {
            self.replace(new.start, new.end, Some(new));
        }
    }

    /// Takes away whatever is mapped from `start` up to `end`. What is seen behind the space stays.
    pub fn unmap(&mut self, start: Avma, end: Avma) {
        if start < end {
            self.replace(start, end, None);
        }
    }

    fn replace(&mut self, start: Avma, end: Avma, new: Option<Mapping>) {
        self.version = new_version();
        if !self.jit.is_empty() {
            self.jit.replace(start, end, None);
        }
        self.tree.replace(start, end, new);
    }

    /// The same as [`Self::map`], but JIT code that is there stays above it.
    pub(crate) fn map_below_jit(&mut self, new: Mapping) {
        if new.start < new.end {
            self.version = new_version();
            self.tree.replace(new.start, new.end, Some(new));
        }
    }

    /// The same as [`Self::map`], for JIT code.
    pub(crate) fn map_jit(&mut self, new: Mapping) {
        if new.start < new.end {
            self.version = new_version();
            self.jit.replace(new.start, new.end, Some(new));
        }
    }

    /// The JIT code in this space that has addresses from `start` up to `end`.
    pub(crate) fn jit_code(&self, start: Avma, end: Avma) -> impl Iterator<Item = Mapping> {
        let code = Self { jit: self.jit.clone(), ..Self::default() };
        code.overlapping(start, end).collect::<Vec<_>>().into_iter()
    }

    /// This space, with what another one has where nothing is mapped in this one. It costs the same whatever is mapped.
    #[must_use]
    pub fn before(&self, other: &Arc<Self>) -> Self {
        Self { version: new_version(), behind: Some(other.clone()), ..self.clone() }
    }

    /// This space, with the code of files that `other` has where no code is mapped in this one. `None` if there is none.
    #[must_use]
    pub fn with_code_of(&self, other: &Self) -> Option<Self> {
        let mut merged: Option<Self> = None;
        for mapping in other.mappings().filter(|mapping| mapping.executable) {
            let is_file = other.module(&mapping).is_some_and(|it| it.kind == MappedKind::File);
            let mut own = self.overlapping(mapping.start, mapping.end);
            if is_file && !own.any(|own| own.executable) {
                merged.get_or_insert_with(|| self.clone()).map(mapping);
            }
        }
        merged
    }

    /// How many chunks this space shares with another: what a fork costs is what it does not share.
    #[must_use]
    pub fn shared_chunks(&self, other: &Self) -> usize {
        let mut theirs = HashSet::new();
        other.tree.for_each_chunk(&mut |chunk| {
            theirs.insert(Arc::as_ptr(chunk));
        });
        let mut n_shared = 0;
        self.tree.for_each_chunk(&mut |chunk| {
            n_shared += usize::from(theirs.contains(&Arc::as_ptr(chunk)));
        });
        n_shared
    }
}

/// A version that no space had. Each thread takes many at a time.
fn new_version() -> u64 {
    const MANY: u64 = 1024;
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static OWN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    }
    OWN.with(|own| {
        let (mut next, mut end) = own.get();
        if next == end {
            next = NEXT.fetch_add(MANY, Ordering::Relaxed);
            end = next + MANY;
        }
        own.set((next + 1, end));
        next
    })
}
