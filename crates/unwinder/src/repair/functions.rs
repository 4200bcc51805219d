//! Which function an address is in, as the call frame information has it: a description for each function, and one of
//! its own for the cold part of a function.

use address::{ModuleId, Svma};
use hashbrown::HashMap;
use module_map::{ImageStore, Module};
use std::sync::Arc;

use crate::engine::Engine;
use crate::frame::Place;

/// The starts of functions, each looked up once.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    starts: HashMap<(ModuleId, u64), Option<u64>>,
    /// Which description is the last one that begins at an address or before it.
    descriptions: HashMap<(ModuleId, u64), Option<usize>>,
}

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
    fn description(&mut self, place: &Place, code: Code<'_>) -> Option<usize> {
        let module = place.module?;
        *self.descriptions.entry((module, place.relative)).or_insert_with(|| {
            let file = code.images.outcome(code.modules.get(module.index())?)?.ok()?;
            code.engine.unwind_info(file).listed(Svma(place.relative))
        })
    }

    /// Where the function begins, in its module.
    pub(crate) fn start(&mut self, place: &Place, code: Code<'_>) -> Option<u64> {
        let module = place.module?;
        *self.starts.entry((module, place.relative)).or_insert_with(|| {
            let file = code.images.outcome(code.modules.get(module.index())?)?.ok()?;
            code.engine.function_start(file, Svma(place.relative), code.images)
        })
    }
}
