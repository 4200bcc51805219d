//! Which function an address is in, as the call frame information has it: a description for each function, and one of
//! its own for the cold part of a function.

use address::{ById as _, ModuleId, Svma};
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use image_store::ImageStore;
use module_map::Module;
use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::sync::Arc;
use unwinder::{Engine, Place};

/// The starts of functions, each looked up once as long as there are not too many.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    starts: HashMap<(ModuleId, u64), Option<u64>>,
    /// Which description is the last one that begins at an address or before it.
    descriptions: HashTable<Described>,
    hasher: DefaultHashBuilder,
}

/// An address, and the number of its description.
#[derive(Clone, Copy, Debug)]
struct Described {
    relative: u64,
    module: ModuleId,
    description: Option<NonZeroU32>,
}

/// So many addresses are remembered, which take half a megabyte to one; then all are forgotten. A window has fewer as a rule.
const ADDRESSES: usize = 7 << 12;

/// Where functions are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Code<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) images: &'a ImageStore,
    pub(crate) modules: &'a [Arc<Module>],
}

impl Functions {
    /// Whether both are in the same function of the same module, in the same place of the process.
    pub(crate) fn same(&mut self, one: &Place, other: &Place, code: Code<'_>) -> bool {
        if one == other {
            return true;
        }
        (one.module, one.bias) == (other.module, other.bias)
            && match (self.description(one, code), self.description(other, code)) {
                (Some(one), Some(other)) => one == other,
                _ => self.start(one, code).is_some_and(|it| self.start(other, code) == Some(it)),
            }
    }

    /// The description of the function, by the table that files have for looking it up: what is in it is not read.
    fn description(&mut self, place: &Place, code: Code<'_>) -> Option<NonZeroU32> {
        let Place { relative, module: Some(module), .. } = *place else { return None };
        let Self { descriptions, hasher, .. } = self;
        let hash = |module: ModuleId, relative: u64| hasher.hash_one((module, relative));
        let hash_of = |known: &Described| hash(known.module, known.relative);
        if descriptions.len() == ADDRESSES {
            descriptions.clear();
        }
        let is_it = |known: &Described| (known.module, known.relative) == (module, relative);
        let known =
            descriptions.entry(hash(module, relative), is_it, hash_of).or_insert_with(|| {
                let listed = || {
                    let file = code.images.outcome(code.modules.by_id(module)?)?.ok()?;
                    code.engine.listed_description(file, Svma(relative))
                };
                let number = listed().and_then(|at| u32::try_from(at + 1).ok());
                Described { relative, module, description: number.and_then(NonZeroU32::new) }
            });
        known.get().description
    }

    /// Where the function begins, in its module.
    pub(crate) fn start(&mut self, place: &Place, code: Code<'_>) -> Option<u64> {
        let module = place.module?;
        if self.starts.len() == ADDRESSES {
            self.starts.clear();
        }
        *self.starts.entry((module, place.relative)).or_insert_with(|| {
            let file = code.images.outcome(code.modules.by_id(module)?)?.ok()?;
            code.engine.function_start(file, Svma(place.relative), code.images)
        })
    }
}
