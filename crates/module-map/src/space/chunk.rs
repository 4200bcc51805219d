//! A run of pieces of an address space, in one block of memory: copied as a whole where another space shares it,
//! changed in place where none does.

use address::{Avma, FileOffset, ModuleId};

use super::Piece;

/// How many pieces a chunk holds before it is split: a copy of one is what a change costs.
pub(crate) const CHUNK: usize = 22;
/// A change replaces a piece by three at most.
const ROOM: usize = CHUNK + 2;
/// What a place holds that holds nothing.
const NOTHING: Piece = Piece {
    start: Avma(0),
    end: Avma(0),
    offset: FileOffset(0),
    module: ModuleId(0),
    executable: false,
    writable: false,
};

/// Pieces in order of address. Between changes it has one at least and [`CHUNK`] at most.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// How many there are. Invariant: not above [`ROOM`].
    n: usize,
    pieces: [Piece; ROOM],
}

impl Chunk {
    /// A chunk of these pieces; what is beyond its room is left out.
    pub(crate) fn new(pieces: &[Piece]) -> Self {
        let mut chunk = Self { n: pieces.len().min(ROOM), pieces: [NOTHING; ROOM] };
        for (place, &piece) in chunk.pieces.iter_mut().zip(pieces) {
            *place = piece;
        }
        chunk
    }

    /// Its pieces.
    pub(crate) fn pieces(&self) -> &[Piece] {
        self.pieces.get(..self.n).unwrap_or_default()
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> Avma {
        self.pieces().first().map_or(Avma(0), |piece| piece.start)
    }

    /// Puts `new`, or nothing, in the place of everything between two addresses. Where that makes too many pieces, the
    /// rear ones leave as a chunk of their own.
    pub(crate) fn replace(&mut self, start: Avma, end: Avma, new: Option<Piece>) -> Option<Self> {
        let change = Change::new(self.pieces(), start, end, new);
        let behind = change.low + change.n;
        self.pieces.copy_within(change.high..self.n, behind);
        for (place, &piece) in self.pieces.iter_mut().skip(change.low).zip(change.pieces()) {
            *place = piece;
        }
        self.n = behind + (self.n - change.high);
        (self.n > CHUNK).then(|| self.split(change.low))
    }

    /// Splits off the rear pieces, `at` being the last change. Maps come in rows as a rule: where one row grows at an end
    /// of the chunk, what is behind or in front of it stays together, so that chunks become full.
    fn split(&mut self, at: usize) -> Self {
        let first = if at <= self.n / 4 {
            at + 1
        } else if at >= self.n - self.n / 4 {
            at
        } else {
            self.n / 2
        };
        let first = first.clamp(self.n - CHUNK, CHUNK);
        let rear = Self::new(self.pieces().get(first..).unwrap_or_default());
        self.n = first;
        rear
    }
}

/// What changes in a row of pieces where something is put in the place of everything between two addresses.
pub(crate) struct Change {
    /// The pieces from here...
    pub(crate) low: usize,
    /// ...up to here are replaced.
    pub(crate) high: usize,
    /// By so many of these.
    n: usize,
    new: [Piece; 3],
}

impl Change {
    pub(crate) fn new(pieces: &[Piece], start: Avma, end: Avma, new: Option<Piece>) -> Self {
        let low = pieces.partition_point(|piece| piece.end <= start);
        let met = pieces.get(low..).unwrap_or_default();
        let n_met = met.iter().take_while(|piece| piece.start < end).count();
        let mut change = Self { low, high: low + n_met, n: 0, new: [NOTHING; 3] };
        let met = met.get(..n_met).unwrap_or_default();
        if let Some(head) = met.first().filter(|piece| piece.start < start) {
            change.add(Piece { end: start, ..*head });
        }
        if let Some(new) = new {
            change.add(new);
        }
        if let Some(tail) = met.last().filter(|piece| piece.end > end) {
            change.add(tail.tail(end));
        }
        change
    }

    fn add(&mut self, piece: Piece) {
        if let Some(place) = self.new.get_mut(self.n) {
            *place = piece;
            self.n += 1;
        }
    }

    /// What comes there.
    pub(crate) fn pieces(&self) -> &[Piece] {
        self.new.get(..self.n).unwrap_or_default()
    }
}
