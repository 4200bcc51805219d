//! The modules of a timeline, to be read while it goes on and finds more: walks on other threads look up what the
//! pieces of their spaces are of.

use std::sync::{Arc, OnceLock};

use address::ModuleId;

use super::Module;

/// Places of the first block; each block has twice as many as the one before.
const FIRST: usize = 32;
/// So many blocks have a place for every number that a module can have.
const BLOCKS: usize = 28;

/// A row of places, each filled once.
type Block = Box<[OnceLock<Arc<Module>>]>;

/// A table that only grows. Blocks stay where they are, so nobody waits for anybody.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    blocks: [OnceLock<Block>; BLOCKS],
}

impl Modules {
    /// The module of that number.
    pub(crate) fn get(&self, id: ModuleId) -> Option<&Module> {
        let (block, at) = place(id);
        self.blocks.get(block)?.get()?.get(at)?.get().map(|module| &**module)
    }

    /// Adds a module, at the place of its number.
    pub(crate) fn add(&self, module: &Arc<Module>) {
        let (block, at) = place(module.id);
        let Some(block) = self.blocks.get(block).map(|known| {
            known.get_or_init(|| (0..FIRST << block).map(|_| OnceLock::new()).collect())
        }) else {
            return;
        };
        if let Some(place) = block.get(at) {
            place.get_or_init(|| module.clone());
        }
    }
}

/// Block, and place in it.
const fn place(id: ModuleId) -> (usize, usize) {
    let number = id.index() + FIRST;
    let block = (number.ilog2() - FIRST.ilog2()) as usize;
    (block, number - (FIRST << block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::ModuleKey;
    use crate::module::{FileIdentity, ModuleKind};

    #[test]
    fn numbers_have_places_of_their_own() {
        assert_eq!(
            [0, 31, 32, 95, 96].map(|id| place(ModuleId(id))),
            [(0, 0), (0, 31), (1, 0), (1, 63), (2, 0)]
        );
        assert!(place(ModuleId(u32::MAX)).0 < BLOCKS);
        let modules = Modules::default();
        let key = ModuleKey {
            path: b"/a",
            kind: ModuleKind::File,
            identity: FileIdentity::default(),
            owner: None,
            part: None,
        };
        for id in (0..200).map(ModuleId) {
            assert!(modules.get(id).is_none());
            modules.add(&Arc::new(Module::new(id, key, None)));
        }
        let known = |id| modules.get(id).map(|module| module.id);
        assert!((0..200).map(ModuleId).all(|id| known(id) == Some(id)));
        assert_eq!(known(ModuleId(200)), None);
    }
}
