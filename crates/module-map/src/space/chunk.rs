//! A run of mappings of an address space in one block of memory:
//! copied as a whole if another space shares it, else changed in place.

use address::{Avma, FileOffset, ModuleId};
use budget::HeldMemory;

use super::Mapping;

/// Maximum number of mappings of a chunk before it is split; copying one chunk is the cost of a change.
pub(crate) const CHUNK: usize = 22;
/// A change replaces a mapping by at most three.
const CAPACITY: usize = CHUNK + 2;
/// Content of an unused slot.
const NOTHING: Mapping = Mapping {
    start: Avma(0),
    end: Avma(0),
    offset: FileOffset(0),
    module: ModuleId(0),
    executable: false,
    writable: false,
};

/// Mappings in address order: between changes at least one and at most [`CHUNK`].
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// Number of mappings. Invariant: at most [`CAPACITY`].
    n: usize,
    mappings: [Mapping; CAPACITY],
    held: HeldMemory,
}

impl Chunk {
    /// Creates a chunk, charged to the account of its space; mappings beyond [`CAPACITY`] are omitted.
    pub(crate) fn new(mappings: &[Mapping], held: &HeldMemory) -> Self {
        let held = held.another(size_of::<Self>() as u64);
        let mut chunk =
            Self { n: mappings.len().min(CAPACITY), mappings: [NOTHING; CAPACITY], held };
        for (place, &mapping) in chunk.mappings.iter_mut().zip(mappings) {
            *place = mapping;
        }
        chunk
    }

    /// Its mappings.
    pub(crate) fn mappings(&self) -> &[Mapping] {
        self.mappings.get(..self.n).unwrap_or_default()
    }

    /// Its start address.
    pub(crate) fn start(&self) -> Avma {
        self.mappings().first().map_or(Avma(0), |mapping| mapping.start)
    }

    /// Replaces everything between two addresses with `new`, or with nothing.
    /// If there are too many mappings then, the last ones are returned as a separate chunk.
    pub(crate) fn replace(&mut self, start: Avma, end: Avma, new: Option<Mapping>) -> Option<Self> {
        let change = ChunkChange::new(self.mappings(), start, end, new);
        let next = change.low + change.n;
        self.mappings.copy_within(change.high..self.n, next);
        for (place, &mapping) in self.mappings.iter_mut().skip(change.low).zip(change.mappings()) {
            *place = mapping;
        }
        self.n = next + (self.n - change.high);
        (self.n > CHUNK).then(|| self.split(change.low))
    }

    /// Splits off the last mappings; `at` is the index of the last change.
    /// Maps mostly come in rows: if a row grows at one end, the rest stays together, so that chunks become full.
    fn split(&mut self, at: usize) -> Self {
        let first = if at <= self.n / 4 {
            at + 1
        } else if at >= self.n - self.n / 4 {
            at
        } else {
            self.n / 2
        };
        let first = first.clamp(self.n - CHUNK, CHUNK);
        let rear = Self::new(self.mappings().get(first..).unwrap_or_default(), &self.held);
        self.n = first;
        rear
    }
}

/// Change of a run of mappings that replaces everything between two addresses.
struct ChunkChange {
    /// Index of the first replaced mapping.
    pub(crate) low: usize,
    /// Index after the last replaced mapping.
    pub(crate) high: usize,
    /// Number of new mappings.
    n: usize,
    new: [Mapping; 3],
}

impl ChunkChange {
    pub(crate) fn new(mappings: &[Mapping], start: Avma, end: Avma, new: Option<Mapping>) -> Self {
        let low = mappings.partition_point(|mapping| mapping.end <= start);
        let overlapping = mappings.get(low..).unwrap_or_default();
        let n_overlapping = overlapping.iter().take_while(|mapping| mapping.start < end).count();
        let mut change = Self { low, high: low + n_overlapping, n: 0, new: [NOTHING; 3] };
        let overlapping = overlapping.get(..n_overlapping).unwrap_or_default();
        if let Some(head) = overlapping.first().filter(|mapping| mapping.start < start) {
            change.add(Mapping { end: start, ..*head });
        }
        if let Some(new) = new {
            change.add(new);
        }
        if let Some(tail) = overlapping.last().filter(|mapping| mapping.end > end) {
            change.add(tail.tail(end));
        }
        change
    }

    fn add(&mut self, mapping: Mapping) {
        if let Some(place) = self.new.get_mut(self.n) {
            *place = mapping;
            self.n += 1;
        }
    }

    /// The new mappings.
    pub(crate) fn mappings(&self) -> &[Mapping] {
        self.new.get(..self.n).unwrap_or_default()
    }
}
