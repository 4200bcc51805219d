//! The address space of one process at one time: disjoint mappings in order of address. A space that somebody holds
//! never changes: the next version shares all chunks that a change does not touch.

mod chunk;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use address::{Avma, FileOffset, ModuleId};

use crate::module::Module;
use crate::module::Modules;
use chunk::{CHUNK, Change, Chunk};

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
/// Invariant: mappings are disjoint and sorted; no chunk is empty.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Differs between any two spaces of different contents; a clone has the same.
    version: u64,
    modules: Arc<Modules>,
    runs: Vec<ChunkRef>,
}

/// A chunk, and where it begins.
#[derive(Clone, Debug)]
struct ChunkRef {
    start: Avma,
    chunk: Arc<Chunk>,
}

impl ChunkRef {
    fn new(chunk: Chunk) -> Self {
        Self { start: chunk.start(), chunk: Arc::new(chunk) }
    }
}

impl Space {
    /// A space without mappings, whose mappings are going to be of these modules.
    pub(crate) const fn of(modules: Arc<Modules>) -> Self {
        Self { version: 0, modules, runs: Vec::new() }
    }

    /// The mapping at an address.
    #[must_use]
    pub fn lookup(&self, avma: Avma) -> Option<&Mapping> {
        let run = self.runs.partition_point(|run| run.start <= avma).checked_sub(1)?;
        let mappings = self.runs.get(run)?.chunk.mappings();
        let index = mappings.partition_point(|mapping| mapping.start <= avma).checked_sub(1)?;
        mappings.get(index).filter(|mapping| avma < mapping.end)
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
    pub fn mappings(&self) -> impl Iterator<Item = &Mapping> {
        self.runs.iter().flat_map(|run| run.chunk.mappings())
    }

    /// The mappings that have addresses from `start` up to `end`.
    pub fn overlapping(&self, start: Avma, end: Avma) -> impl Iterator<Item = &Mapping> {
        let low = self.runs.partition_point(|run| run.start <= start).saturating_sub(1);
        let runs = self.runs.get(low..).unwrap_or_default().iter();
        runs.flat_map(|run| run.chunk.mappings())
            .skip_while(move |mapping| mapping.end <= start)
            .take_while(move |mapping| mapping.start < end)
    }

    /// Whether nothing is mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
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

    /// Takes away whatever is mapped from `start` up to `end`.
    pub fn unmap(&mut self, start: Avma, end: Avma) {
        if start < end {
            self.replace(start, end, None);
        }
    }

    fn replace(&mut self, start: Avma, end: Avma, new: Option<Mapping>) {
        self.version = new_version();
        // Every chunk that can hold an overlapping mapping, or into which the new mapping belongs.
        let low = self.runs.partition_point(|run| run.start <= start).saturating_sub(1);
        let rest = self.runs.get(low..).unwrap_or_default();
        let high = low + rest.iter().take_while(|run| run.start < end).count();
        // A chunk after the new mapping takes it in as well where that comes before all others.
        let high = high.max(self.runs.len().min(low + 1));
        if let [run] = self.runs.get_mut(low..high).unwrap_or_default() {
            // Maps come in rows as a rule, after an exec: then nobody holds the chunk, and nothing is copied.
            let rear = Arc::make_mut(&mut run.chunk).replace(start, end, new);
            run.start = run.chunk.start();
            if run.chunk.mappings().is_empty() {
                self.runs.remove(low);
            } else if let Some(rear) = rear {
                self.runs.insert(low + 1, ChunkRef::new(rear));
            }
            return;
        }
        let overlapping = self.runs.get(low..high).unwrap_or_default().iter();
        let mut merged: Vec<Mapping> =
            overlapping.flat_map(|run| run.chunk.mappings()).copied().collect();
        let change = Change::new(&merged, start, end, new);
        merged.splice(change.low..change.high, change.mappings().iter().copied());
        let n_chunks = merged.len().div_ceil(CHUNK).max(1);
        let chunks = merged.chunks(merged.len().div_ceil(n_chunks).max(1)).map(Chunk::new);
        self.runs.splice(low..high, chunks.map(ChunkRef::new));
    }

    /// How many chunks this space shares with another: what a fork costs is what it does not share.
    #[must_use]
    pub fn shared_chunks(&self, other: &Self) -> usize {
        let is_theirs =
            |run: &&ChunkRef| other.runs.iter().any(|it| Arc::ptr_eq(&it.chunk, &run.chunk));
        self.runs.iter().filter(is_theirs).count()
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
