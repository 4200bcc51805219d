//! Where records are, by position. A position is a u64 that orders records as they were written and finds their
//! bytes again. In a plain file it is the offset in the file; other containers hand in several pieces.

/// Bytes that hold records one after another, none of them crossing the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'d> {
    /// Position of the first byte.
    pub(crate) start: u64,
    pub(crate) bytes: &'d [u8],
}

/// All pieces of a recording. Invariant: ascending by position, disjoint.
#[derive(Clone, Debug)]
pub(crate) struct Source<'d> {
    pieces: Vec<Piece<'d>>,
}

impl<'d> Source<'d> {
    /// A source of these pieces.
    pub(crate) fn new(pieces: Vec<Piece<'d>>) -> Self {
        debug_assert!(pieces.is_sorted_by_key(|piece| piece.start), "pieces are in order");
        Self { pieces }
    }

    pub(crate) fn pieces(&self) -> &[Piece<'d>] {
        &self.pieces
    }

    /// The bytes from `position` to the end of its piece; empty where there is none.
    pub(crate) fn at(&self, position: u64) -> &'d [u8] {
        let piece = match self.pieces.as_slice() {
            [piece] => Some(piece),
            pieces => pieces[..pieces.partition_point(|piece| piece.start <= position)].last(),
        };
        let at = |piece: &Piece<'d>| {
            let offset = usize::try_from(position.checked_sub(piece.start)?).ok()?;
            piece.bytes.get(offset..)
        };
        piece.and_then(at).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_by_position() {
        let one = Source::new(vec![Piece { start: 100, bytes: b"abc" }]);
        let two = Source::new(vec![
            Piece { start: 100, bytes: b"abc" },
            Piece { start: 200, bytes: b"de" },
        ]);
        for source in [&one, &two] {
            assert_eq!(source.at(101), b"bc");
            assert_eq!(source.at(99), b"");
            assert_eq!(source.at(104), b"");
        }
        assert_eq!(two.at(201), b"e");
        assert_eq!(two.at(u64::MAX), b"");
        assert_eq!(Source::new(Vec::new()).at(0), b"");
    }
}
