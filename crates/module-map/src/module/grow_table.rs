//! A table that only grows, with a place for every module of a timeline: read without a lock while others fill it.
//! Walks on other threads look up what the mappings of their spaces are of, and which file each module is.

use std::sync::OnceLock;

use address::ModuleId;

/// Places of the first block; each block has twice as many as the one before.
const FIRST: usize = 32;
/// So many blocks have a place for every id that a module can have.
const BLOCKS: usize = 28;

/// A row of places, each filled once.
type Block<T> = Box<[OnceLock<T>]>;

/// Values by module. Blocks stay where they are, so that nobody waits for anybody but for whoever fills the same place.
#[derive(Debug)]
pub struct GrowTable<T> {
    blocks: [OnceLock<Block<T>>; BLOCKS],
}

impl<T> Default for GrowTable<T> {
    fn default() -> Self {
        Self { blocks: [const { OnceLock::new() }; BLOCKS] }
    }
}

impl<T> GrowTable<T> {
    /// The value of a module; `None` where there is none yet.
    #[must_use]
    pub fn get(&self, id: ModuleId) -> Option<&T> {
        let (block, at) = place_of(id);
        self.blocks.get(block)?.get()?.get(at)?.get()
    }

    /// The value of a module, made by the first caller; others wait meanwhile.
    pub fn get_or_init(&self, id: ModuleId, make: impl FnOnce() -> T) -> &T {
        let (block, at) = place_of(id);
        let new_block = || (0..FIRST << block).map(|_| OnceLock::new()).collect();
        // Every id has a place, which a test asserts.
        self.blocks[block].get_or_init(new_block)[at].get_or_init(make)
    }
}

/// Block, and index in it.
#[inline]
const fn place_of(id: ModuleId) -> (usize, usize) {
    let number = id.index() + FIRST;
    let block = (number.ilog2() - FIRST.ilog2()) as usize;
    (block, number - (FIRST << block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_places_of_their_own() {
        assert_eq!(
            [0, 31, 32, 95, 96].map(|id| place_of(ModuleId(id))),
            [(0, 0), (0, 31), (1, 0), (1, 63), (2, 0)]
        );
        let last = place_of(ModuleId(u32::MAX));
        assert_eq!(last, (BLOCKS - 1, FIRST - 1));
        let table = GrowTable::default();
        for id in (0..200).map(ModuleId) {
            assert_eq!(table.get(id), None);
            assert_eq!(*table.get_or_init(id, || id.0 + 7), id.0 + 7);
            assert_eq!(*table.get_or_init(id, || 0), id.0 + 7);
        }
        assert!((0..200).all(|id| table.get(ModuleId(id)) == Some(&(id + 7))));
        assert_eq!(table.get(ModuleId(200)), None);
    }
}
