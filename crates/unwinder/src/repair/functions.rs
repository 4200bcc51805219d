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
            && self.start(one, code).is_some_and(|start| self.start(other, code) == Some(start))
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
