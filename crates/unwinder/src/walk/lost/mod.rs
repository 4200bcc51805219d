//! Chains that no rule continues: by code from the start of a function, past memory without a file, and from the beginning
//! of the thread inwards.

mod again;
mod anchor;
mod from_start;
mod memory;

use address::Avma;
use module_map::MappedKind;

use crate::state::Memory;

pub(super) use memory::Beyond;

/// Whether an address is in the code of a mapped file. What the kernel maps is not looked at for a word of the stack: it would
/// have to be found first.
fn is_in_file(address: Avma, memory: &Memory<'_>) -> bool {
    memory.space.lookup(address).is_some_and(|mapping| {
        let kind = memory.space.module(&mapping).map(|module| module.kind);
        mapping.executable && kind == Some(MappedKind::File)
    })
}
