//! The address space of one process at one time: disjoint mappings in address order.
//! A space in use never changes: the next version shares all chunks that a change does not touch.

mod chunk;
mod tree;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use address::{Avma, FileOffset, ModuleId};
use budget::HeldMemory;
use hashbrown::HashSet;

use crate::module::Modules;
use crate::module::{MappedKind, Module};
use tree::{Tree, TreeMatch};

/// A mapping: bytes of a module (or of anonymous memory) at consecutive addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// First address.
    pub start: Avma,
    /// End address, exclusive. Invariant: greater than `start`.
    pub end: Avma,
    /// Offset in the module's file of the byte at `start`. Meaningless for anonymous memory.
    pub offset: FileOffset,
    /// Module; [`Space::module`] and [`crate::Timeline::modules`] have it.
    pub module: ModuleId,
    /// True if it was mapped executable.
    pub executable: bool,
    /// True if it was mapped writable.
    pub writable: bool,
}

impl Mapping {
    /// Returns true if the address is in this mapping.
    #[must_use]
    pub fn contains(&self, avma: Avma) -> bool {
        self.start <= avma && avma < self.end
    }

    /// Returns the file offset of an address of this mapping.
    #[must_use]
    pub const fn offset_of(&self, avma: Avma) -> FileOffset {
        self.offset.add(avma.since(self.start))
    }

    /// Returns the part of this mapping between two of its addresses.
    pub(crate) fn part(&self, start: Avma, end: Avma) -> Self {
        Self { end, ..self.tail(start) }
    }

    /// Returns the part of this mapping from `start` on.
    pub(crate) fn tail(&self, start: Avma) -> Self {
        Self { start, offset: self.offset_of(start), ..*self }
    }
}

/// An immutable address space, cheap to clone and to derive the next version from.
///
/// Invariant: mappings are disjoint and sorted.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Unique for different contents; a clone has the same version.
    version: u64,
    modules: Arc<Modules>,
    tree: Tree,
    /// JIT code, as a layer over its memory.
    /// That memory can be mapped again any number of times, and the code in it must remain.
    jit: Tree,
    /// Background that is visible at unmapped addresses.
    fallback: Option<Arc<Self>>,
}

impl Space {
    /// Creates an empty space for mappings of these modules, charged to the account of `held`.
    pub(crate) fn of(modules: Arc<Modules>, held: &HeldMemory) -> Self {
        Self { version: 0, modules, tree: Tree::new(held), jit: Tree::new(held), fallback: None }
    }

    /// Returns the mapping at an address.
    #[must_use]
    #[inline]
    pub fn lookup(&self, avma: Avma) -> Option<Mapping> {
        if self.jit.is_empty() && self.fallback.is_none() {
            return self.tree.lookup(avma).copied();
        }
        self.find(avma).ok()
    }

    /// Returns the last mapping that begins below `avma`.
    #[must_use]
    pub fn last_before(&self, avma: Avma) -> Option<Mapping> {
        match self.find(Avma(avma.0.checked_sub(1)?)) {
            Ok(mapping) => Some(mapping),
            Err((gap, _)) => self.find(Avma(gap.0.checked_sub(1)?)).ok(),
        }
    }

    /// Returns the mapping at an address, or the gap around it, with the earliest start of the next mapping.
    fn find(&self, avma: Avma) -> Result<Mapping, (Avma, Avma)> {
        let (mut start, mut end) = (Avma(0), Avma(u64::MAX));
        let fallback = self.fallback.as_deref();
        let layers = [&self.jit, &self.tree].into_iter();
        for tree in layers.chain(fallback.iter().flat_map(|space| [&space.jit, &space.tree])) {
            match tree.find(avma) {
                // Mappings in the layers above cover it before and after.
                TreeMatch::Mapping(mapping) => {
                    return Ok(mapping.part(mapping.start.max(start), mapping.end.min(end)));
                }
                TreeMatch::Gap(from, to) => (start, end) = (start.max(from), end.min(to)),
            }
        }
        Err((start, end))
    }

    /// Returns the module of a mapping of this space.
    #[must_use]
    pub fn module(&self, mapping: &Mapping) -> Option<&Module> {
        self.modules.get(mapping.module).map(|module| &**module)
    }

    /// Id of the contents: spaces of the same version are equal.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// All mappings in address order.
    pub fn mappings(&self) -> impl Iterator<Item = Mapping> {
        self.overlapping(Avma(0), Avma(u64::MAX))
    }

    /// Returns the mappings that overlap `start..end`.
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

    /// Returns true if nothing is mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let has_fallback_mappings =
            self.fallback.as_ref().is_some_and(|fallback| !fallback.is_empty());
        self.tree.is_empty() && self.jit.is_empty() && !has_fallback_mappings
    }

    /// Adds a mapping over existing ones: it wins exactly the bytes that it covers,
    /// and older mappings keep their remainders at both ends.
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

    /// Removes all mappings between `start` and `end`. The background remains visible.
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

    /// Does the same as [`Self::map`], below existing JIT code.
    pub(crate) fn map_below_jit(&mut self, new: Mapping) {
        if new.start < new.end {
            self.version = new_version();
            self.tree.replace(new.start, new.end, Some(new));
        }
    }

    /// Does the same as [`Self::map`], for JIT code.
    pub(crate) fn map_jit(&mut self, new: Mapping) {
        if new.start < new.end {
            self.version = new_version();
            self.jit.replace(new.start, new.end, Some(new));
        }
    }

    /// Returns the JIT code of this space that overlaps `start..end`.
    pub(crate) fn jit_code(&self, start: Avma, end: Avma) -> impl Iterator<Item = Mapping> {
        let code = Self { jit: self.jit.clone(), ..Self::default() };
        code.overlapping(start, end).collect::<Vec<_>>().into_iter()
    }

    /// Returns this space with another one as its background. The cost is independent of the number of mappings.
    #[must_use]
    pub fn before(&self, other: &Arc<Self>) -> Self {
        Self { version: new_version(), fallback: Some(other.clone()), ..self.clone() }
    }

    /// Returns this space plus the file code of `other` at addresses without code in this one. `None` if there is none.
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

    /// Returns the same mappings for another table of modules, whose ids `id` returns for those of this one. The copy is
    /// charged to the account of `held`.
    pub(crate) fn in_table(
        &self,
        modules: &Arc<Modules>,
        held: &HeldMemory,
        id: &mut dyn FnMut(ModuleId) -> ModuleId,
    ) -> Self {
        let mut copy = |tree: &Tree| {
            let mut copy = Tree::new(held);
            tree.for_each_chunk(&mut |chunk| {
                for mapping in chunk.mappings() {
                    let Mapping { start, end, module, .. } = *mapping;
                    copy.replace(start, end, Some(Mapping { module: id(module), ..*mapping }));
                }
            });
            copy
        };
        let (tree, jit) = (copy(&self.tree), copy(&self.jit));
        let fallback = self.fallback.as_ref();
        let fallback = fallback.map(|space| Arc::new(space.in_table(modules, held, id)));
        Self { version: new_version(), modules: modules.clone(), tree, jit, fallback }
    }

    /// Returns the number of chunks shared with another space: a fork costs the rest.
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

/// Returns a new version. Each thread reserves many at a time.
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
