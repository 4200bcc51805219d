//! A run of mappings of an address space, in one block of memory: copied as a whole where another space shares it,
//! changed in place where none does.

use address::{Avma, FileOffset, ModuleId};
use budget::Held;

use super::Mapping;

/// How many mappings a chunk holds before it is split: a copy of one is what a change costs.
pub(crate) const CHUNK: usize = 22;
/// A change replaces a mapping by three at most.
const ROOM: usize = CHUNK + 2;
/// What a place holds that holds nothing.
const NOTHING: Mapping = Mapping {
    start: Avma(0),
    end: Avma(0),
    offset: FileOffset(0),
    module: ModuleId(0),
    executable: false,
    writable: false,
};

/// Mappings in order of address. Between changes it has one at least and [`CHUNK`] at most.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// How many there are. Invariant: not above [`ROOM`].
    n: usize,
    mappings: [Mapping; ROOM],
    held: Held,
}

impl Chunk {
    /// A chunk of these mappings, which is held where its space is; what is beyond its room is left out.
    pub(crate) fn new(mappings: &[Mapping], held: &Held) -> Self {
        let held = held.another(size_of::<Self>() as u64);
        let mut chunk = Self { n: mappings.len().min(ROOM), mappings: [NOTHING; ROOM], held };
        for (place, &mapping) in chunk.mappings.iter_mut().zip(mappings) {
            *place = mapping;
        }
        chunk
    }

    /// Its mappings.
    pub(crate) fn mappings(&self) -> &[Mapping] {
        self.mappings.get(..self.n).unwrap_or_default()
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> Avma {
        self.mappings().first().map_or(Avma(0), |mapping| mapping.start)
    }

    /// Puts `new`, or nothing, in the place of everything between two addresses. Where that makes too many mappings, the
    /// rear ones leave as a chunk of their own.
    pub(crate) fn replace(&mut self, start: Avma, end: Avma, new: Option<Mapping>) -> Option<Self> {
        let change = Change::new(self.mappings(), start, end, new);
        let next = change.low + change.n;
        self.mappings.copy_within(change.high..self.n, next);
        for (place, &mapping) in self.mappings.iter_mut().skip(change.low).zip(change.mappings()) {
            *place = mapping;
        }
        self.n = next + (self.n - change.high);
        (self.n > CHUNK).then(|| self.split(change.low))
    }

    /// Splits off the rear mappings, `at` being the last change. Maps come in rows as a rule: where one row grows at an end
    /// of the chunk, what is after or before it stays together, so that chunks become full.
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

/// What changes in a row of mappings where something is put in the place of everything between two addresses.
struct Change {
    /// The mappings from here...
    pub(crate) low: usize,
    /// ...up to here are replaced.
    pub(crate) high: usize,
    /// By so many of these.
    n: usize,
    new: [Mapping; 3],
}

impl Change {
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

    /// What comes there.
    pub(crate) fn mappings(&self) -> &[Mapping] {
        self.new.get(..self.n).unwrap_or_default()
    }
}
