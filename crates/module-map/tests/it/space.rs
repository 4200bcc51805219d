//! Spaces compared with a model of every page.

use address::{Avma, FileOffset, ModuleId};
use module_map::{Mapping, Space};
use proptest::prelude::*;

const PAGES: u64 = 96;

/// A change: map or unmap, first page, number of pages.
fn changes() -> impl Strategy<Value = Vec<(bool, u64, u64)>> {
    proptest::collection::vec((prop::bool::weighted(0.8), 0..PAGES, 0..PAGES / 3), 0..120)
}

/// Mappings of distinct files, numbered.
fn mapping(number: usize, first: u64, n: u64) -> Mapping {
    Mapping {
        start: Avma(first),
        end: Avma(first + n),
        offset: FileOffset(1000 * number as u64),
        module: ModuleId(number as u32),
        executable: true,
        writable: false,
    }
}

proptest! {
    #[test]
    fn the_last_writer_wins_exactly_its_bytes(changes in changes()) {
        let mut space = Space::default();
        let mut model: Vec<Option<(u32, u64)>> = vec![None; 2 * PAGES as usize];
        for (number, (map, first, n)) in changes.into_iter().enumerate() {
            let before: Vec<Mapping> = space.mappings().collect();
            let kept = space.clone();
            if map {
                space.map(mapping(number, first, n));
            } else {
                space.unmap(Avma(first), Avma(first + n));
            }
            // A version in use does not change.
            let after: Vec<Mapping> = kept.mappings().collect();
            prop_assert_eq!(before, after);
            for at in first..first + n {
                let value = (number as u32, 1000 * number as u64 + at - first);
                model[at as usize] = map.then_some(value);
            }
        }
        for (at, expected) in model.iter().enumerate() {
            let found = space.lookup(Avma(at as u64));
            let found = found.map(|mapping| (mapping.module.0, mapping.offset_of(Avma(at as u64)).0));
            prop_assert_eq!(&found, expected);
        }
        let mappings: Vec<Mapping> = space.mappings().collect();
        prop_assert!(mappings.iter().all(|mapping| mapping.start < mapping.end));
        prop_assert!(mappings.windows(2).all(|two| two[0].end <= two[1].start));
        let middle: Vec<u64> =
            space.overlapping(Avma(20), Avma(40)).map(|mapping| mapping.start.0).collect();
        let expected: Vec<u64> = mappings
            .iter()
            .filter(|mapping| mapping.start.0 < 40 && mapping.end.0 > 20)
            .map(|mapping| mapping.start.0)
            .collect();
        prop_assert_eq!(middle, expected);
    }
}
