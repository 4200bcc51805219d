//! The address space of one process at one time: disjoint pieces in order of address. A space that somebody holds
//! never changes: the next version shares all chunks that a change does not touch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use address::{Avma, FileOffset};

use crate::Module;

/// A piece of an address space: bytes of a module (or of anonymous memory) mapped in a row.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The first address.
    pub start: Avma,
    /// The address behind the last. Invariant: above `start`.
    pub end: Avma,
    /// The offset in the module's file of the byte at `start`. Meaningless for anonymous memory.
    pub offset: FileOffset,
    /// What is mapped.
    pub module: Arc<Module>,
    /// Whether it was mapped executable.
    pub executable: bool,
    /// Whether it was mapped writable.
    pub writable: bool,
}

impl Piece {
    /// Whether the address is in this piece.
    #[must_use]
    pub fn contains(&self, avma: Avma) -> bool {
        self.start <= avma && avma < self.end
    }

    /// The offset in the file of an address of this piece.
    #[must_use]
    pub const fn offset_of(&self, avma: Avma) -> FileOffset {
        self.offset.add(avma.since(self.start))
    }

    /// The part of this piece between two of its addresses.
    pub(crate) fn part(&self, start: Avma, end: Avma) -> Self {
        Self { end, ..self.tail(start) }
    }

    /// The part of this piece from `start` on.
    fn tail(&self, start: Avma) -> Self {
        Self { start, offset: self.offset_of(start), ..self.clone() }
    }
}

/// How many pieces a chunk holds before it is split: a copy of one is what a change costs.
const CHUNK: usize = 32;

/// An immutable address space, cheap to clone and to derive the next version from.
///
/// Invariant: pieces are disjoint and sorted; no chunk is empty; `first[i]` is the start of `chunks[i]`.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Differs between any two spaces of different contents; a clone has the same.
    version: u64,
    first: Vec<Avma>,
    chunks: Vec<Arc<Vec<Piece>>>,
}

impl Space {
    /// The piece at an address.
    #[must_use]
    pub fn lookup(&self, avma: Avma) -> Option<&Piece> {
        let chunk = self.first.partition_point(|&first| first <= avma).checked_sub(1)?;
        let pieces = self.chunks.get(chunk)?;
        let index = pieces.partition_point(|piece| piece.start <= avma).checked_sub(1)?;
        pieces.get(index).filter(|piece| avma < piece.end)
    }

    /// A number that tells contents apart: two spaces of the same version are equal.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// All pieces in order of address.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The pieces that have addresses from `start` up to `end`.
    pub fn overlapping(&self, start: Avma, end: Avma) -> impl Iterator<Item = &Piece> {
        let low = self.first.partition_point(|&first| first <= start).saturating_sub(1);
        let chunks = self.chunks.get(low..).unwrap_or_default().iter();
        chunks
            .flat_map(|chunk| chunk.iter())
            .skip_while(move |piece| piece.end <= start)
            .take_while(move |piece| piece.start < end)
    }

    /// Whether nothing is mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Maps a piece over whatever was there: it wins exactly the bytes that it covers, older pieces keep what sticks
    /// out at either end.
    ///
    /// ```text
    ///   before   |----- a -----|   |-- b --|
    ///   new              |--- n ----|
    ///   after    |-- a --|--- n ----|- b --|
    /// ```
    ///
    /// Source: there is no munmap record; the rule is that of `__maps__fixup_overlap_and_insert`.
    pub fn map(&mut self, new: Piece) {
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

    fn replace(&mut self, start: Avma, end: Avma, new: Option<Piece>) {
        static NEXT_VERSION: AtomicU64 = AtomicU64::new(1);
        self.version = NEXT_VERSION.fetch_add(1, Ordering::Relaxed);
        // Every chunk that can hold an overlapping piece, or into which the new piece belongs.
        let low = self.first.partition_point(|&first| first <= start).saturating_sub(1);
        let high = self.first.partition_point(|&first| first < end).max(low);
        if let [chunk] = self.chunks.get_mut(low..high).unwrap_or_default() {
            // Maps come in rows as a rule, after an exec: then nobody holds the chunk, and nothing is copied.
            replace_in(Arc::make_mut(chunk), start, end, new);
            self.settle(low);
            return;
        }
        let mut merged = Vec::with_capacity(CHUNK + 2);
        for chunk in self.chunks.get(low..high).unwrap_or_default() {
            merged.extend(chunk.iter().cloned());
        }
        replace_in(&mut merged, start, end, new);
        self.first.splice(low..high, [start]);
        self.chunks.splice(low..high, [Arc::new(merged)]);
        self.settle(low);
    }

    /// Makes the invariant true for a chunk that was changed: it is cut into halves until none is too large.
    fn settle(&mut self, at: usize) {
        let Some(chunk) = self.chunks.get_mut(at) else { return };
        if chunk.is_empty() {
            self.chunks.remove(at);
            self.first.remove(at);
            return;
        }
        if chunk.len() > CHUNK {
            let pieces = Arc::make_mut(chunk);
            let n_chunks = pieces.len().div_ceil(CHUNK);
            let size = pieces.len().div_ceil(n_chunks);
            let mut rest = pieces.split_off(size);
            let mut behind = Vec::with_capacity(n_chunks - 1);
            while !rest.is_empty() {
                let tail = rest.split_off(size.min(rest.len()));
                behind.push(Arc::new(std::mem::replace(&mut rest, tail)));
            }
            self.first.splice(at + 1..at + 1, behind.iter().map(|chunk| start_of(chunk)));
            self.chunks.splice(at + 1..at + 1, behind);
        }
        if let (Some(first), Some(chunk)) = (self.first.get_mut(at), self.chunks.get(at)) {
            *first = start_of(chunk);
        }
    }

    /// How many chunks this space shares with another: what a fork costs is what it does not share.
    #[must_use]
    pub fn shared_chunks(&self, other: &Self) -> usize {
        self.chunks
            .iter()
            .filter(|chunk| other.chunks.iter().any(|theirs| Arc::ptr_eq(chunk, theirs)))
            .count()
    }
}

/// Where a chunk begins.
fn start_of(chunk: &[Piece]) -> Avma {
    chunk.first().map_or(Avma(0), |piece| piece.start)
}

/// Puts `new`, or nothing, in the place of everything between two addresses.
fn replace_in(pieces: &mut Vec<Piece>, start: Avma, end: Avma, new: Option<Piece>) {
    let low = pieces.partition_point(|piece| piece.end <= start);
    let high = pieces.partition_point(|piece| piece.start < end);
    let head = pieces.get(low).filter(|piece| piece.start < start).cloned();
    let tail = high.checked_sub(1).and_then(|last| pieces.get(last));
    let tail = tail.filter(|piece| piece.end > end).map(|piece| piece.tail(end));
    let head = head.map(|piece| Piece { end: start, ..piece });
    if low == high
        && let Some(new) = new
    {
        pieces.insert(low, new);
        return;
    }
    pieces.splice(low..high, head.into_iter().chain(new).chain(tail));
}
