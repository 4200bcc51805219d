//! Spaces against a model that knows every page.

use address::{Avma, FileOffset, Pid};
use module_map::{Piece, Space, Timeline};
use proptest::prelude::*;

use crate::support::code;

const PAGES: u64 = 96;

/// A change: map or unmap, first page, number of pages.
fn changes() -> impl Strategy<Value = Vec<(bool, u64, u64)>> {
    proptest::collection::vec((prop::bool::weighted(0.8), 0..PAGES, 0..PAGES / 3), 0..120)
}

/// Pieces of distinct files, number by number.
fn piece(number: usize, first: u64, n: u64) -> Piece {
    let mut timeline = Timeline::new();
    timeline.map(&code(1, 0x1000, 0x1000, 0, &format!("/lib/{number}")));
    let template = timeline.space(Pid(1)).0.pieces().next().cloned().expect("a piece");
    let (start, end) = (Avma(first), Avma(first + n));
    Piece { start, end, offset: FileOffset(1000 * number as u64), ..template }
}

proptest! {
    #[test]
    fn the_last_writer_wins_exactly_its_bytes(changes in changes()) {
        let mut space = Space::default();
        let mut model: Vec<Option<(String, u64)>> = vec![None; 2 * PAGES as usize];
        for (number, (map, first, n)) in changes.into_iter().enumerate() {
            let before: Vec<String> = space.pieces().map(|p| format!("{p:?}")).collect();
            let kept = space.clone();
            if map {
                space.map(piece(number, first, n));
            } else {
                space.unmap(Avma(first), Avma(first + n));
            }
            // Who holds a version keeps it.
            let after: Vec<String> = kept.pieces().map(|p| format!("{p:?}")).collect();
            prop_assert_eq!(before, after);
            for at in first..first + n {
                let value = (format!("/lib/{number}"), 1000 * number as u64 + at - first);
                model[at as usize] = map.then_some(value);
            }
        }
        for (at, expected) in model.iter().enumerate() {
            let found = space.lookup(Avma(at as u64)).map(|piece| {
                let path = String::from_utf8_lossy(&piece.module.path).into_owned();
                (path, piece.offset_of(Avma(at as u64)).0)
            });
            prop_assert_eq!(&found, expected);
        }
        let pieces: Vec<&Piece> = space.pieces().collect();
        prop_assert!(pieces.iter().all(|piece| piece.start < piece.end));
        prop_assert!(pieces.windows(2).all(|two| two[0].end <= two[1].start));
        let middle: Vec<u64> =
            space.overlapping(Avma(20), Avma(40)).map(|piece| piece.start.0).collect();
        let expected: Vec<u64> = pieces
            .iter()
            .filter(|piece| piece.start.0 < 40 && piece.end.0 > 20)
            .map(|piece| piece.start.0)
            .collect();
        prop_assert_eq!(middle, expected);
    }
}
