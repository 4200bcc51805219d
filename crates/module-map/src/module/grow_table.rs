//! An append-only table with an entry for every module of a timeline,
//! readable without locks while other threads fill it.
//! Walking threads look up the modules of mappings, and the file of each module.

use std::sync::OnceLock;

use address::ModuleId;

/// Entries of the first block; each block is twice as large as the previous one.
const FIRST: usize = 32;
/// Number of blocks, sufficient for every possible module id.
const BLOCKS: usize = 28;

/// Entries, each initialized once.
type Block<T> = Box<[OnceLock<T>]>;

/// Values by module. Blocks never move, so access is lock-free, except for callers that initialize the same entry.
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
    /// Returns the value of a module; `None` if it is not initialized.
    #[must_use]
    pub fn get(&self, id: ModuleId) -> Option<&T> {
        let (block, at) = slot_of(id);
        self.blocks.get(block)?.get()?.get(at)?.get()
    }

    /// Returns the value of a module, made by the first caller; concurrent callers wait.
    pub fn get_or_init(&self, id: ModuleId, make: impl FnOnce() -> T) -> &T {
        let (block, at) = slot_of(id);
        let new_block = || (0..FIRST << block).map(|_| OnceLock::new()).collect();
        // Every id has an entry, as a test asserts.
        self.blocks[block].get_or_init(new_block)[at].get_or_init(make)
    }
}

/// Block, and index in it.
#[inline]
const fn slot_of(id: ModuleId) -> (usize, usize) {
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
            [0, 31, 32, 95, 96].map(|id| slot_of(ModuleId(id))),
            [(0, 0), (0, 31), (1, 0), (1, 63), (2, 0)]
        );
        let last = slot_of(ModuleId(u32::MAX));
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
