//! The function at an address, by its FDE. The cold part of a function has its own FDE.

use address::{ById as _, ModuleId, Svma};
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use image_store::ImageStore;
use module_map::Module;
use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::sync::Arc;
use unwinder::{CodeLocation, Engine};

/// Cached starts and FDEs of functions.
#[derive(Debug, Default)]
pub(crate) struct FunctionCache {
    starts: HashMap<(ModuleId, u64), Option<u64>>,
    /// The last FDE that begins at or before an address.
    descriptions: HashTable<FdeLookup>,
    hasher: DefaultHashBuilder,
}

/// An address, and the index of its FDE plus 1.
#[derive(Clone, Copy, Debug)]
struct FdeLookup {
    relative: u64,
    module: ModuleId,
    description: Option<NonZeroU32>,
}

/// Capacity of each cache, 0.5 to 1 MB; a full cache is cleared. Most windows have fewer addresses.
const ADDRESSES: usize = 7 << 12;

/// The code that locations refer to.
#[derive(Clone, Copy)]
pub(crate) struct CodeContext<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) images: &'a ImageStore,
    pub(crate) modules: &'a [Arc<Module>],
}

impl FunctionCache {
    /// Returns true if both are in the same function of the same module, with the same bias.
    pub(crate) fn same(
        &mut self,
        one: &CodeLocation,
        other: &CodeLocation,
        code: CodeContext<'_>,
    ) -> bool {
        if one == other {
            return true;
        }
        (one.module, one.bias) == (other.module, other.bias)
            && match (self.description(one, code), self.description(other, code)) {
                (Some(one), Some(other)) => one == other,
                _ => self.start(one, code).is_some_and(|it| self.start(other, code) == Some(it)),
            }
    }

    /// Returns the FDE of the function from the file's lookup table, without reading the FDE itself.
    fn description(
        &mut self,
        location: &CodeLocation,
        code: CodeContext<'_>,
    ) -> Option<NonZeroU32> {
        let CodeLocation { relative, module: Some(module), .. } = *location else { return None };
        let Self { descriptions, hasher, .. } = self;
        let hash = |module: ModuleId, relative: u64| hasher.hash_one((module, relative));
        let hash_of = |known: &FdeLookup| hash(known.module, known.relative);
        if descriptions.len() == ADDRESSES {
            descriptions.clear();
        }
        let is_it = |known: &FdeLookup| (known.module, known.relative) == (module, relative);
        let known =
            descriptions.entry(hash(module, relative), is_it, hash_of).or_insert_with(|| {
                let listed = || {
                    let file = code.images.outcome(code.modules.by_id(module)?)?.ok()?;
                    code.engine.listed_description(file, Svma(relative))
                };
                let number = listed().and_then(|at| u32::try_from(at + 1).ok());
                FdeLookup { relative, module, description: number.and_then(NonZeroU32::new) }
            });
        known.get().description
    }

    /// Returns the start of the function, relative to its module.
    pub(crate) fn start(&mut self, location: &CodeLocation, code: CodeContext<'_>) -> Option<u64> {
        let module = location.module?;
        if self.starts.len() == ADDRESSES {
            self.starts.clear();
        }
        *self.starts.entry((module, location.relative)).or_insert_with(|| {
            let file = code.images.outcome(code.modules.by_id(module)?)?.ok()?;
            code.engine.function_start(file, Svma(location.relative), code.images)
        })
    }
}
