//! The words of a file that the dynamic loader fills with addresses of code, and the functions that a file defines for
//! others.

use address::Svma;
use object::elf::{
    R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE, STT_GNU_IFUNC,
};
use object::{Object as _, ObjectSymbol as _, ObjectSymbolTable as _};
use object::{Relocation, RelocationFlags, RelocationTarget, SymbolFlags};

use super::{ElfMachine, Image};

/// What the dynamic loader writes to a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SlotValue {
    /// The address of that symbol, of whatever file it finds it in first.
    Symbol(Box<[u8]>),
    /// An address of the same file.
    Address(Svma),
}

impl Image {
    /// The words that the dynamic loader fills with addresses of code, in the order of their stated addresses: slots of the global
    /// offset table, entries of function tables. Of x86-64 files only; what a resolver decides is left out.
    #[must_use]
    pub fn linked_slots(&self) -> Vec<(u64, SlotValue)> {
        let parsed = object::File::parse(self.bytes()).ok();
        let Some(file) = parsed.filter(|_| self.machine() == ElfMachine::X86_64) else {
            return Vec::new();
        };
        let Some(relocations) = file.dynamic_relocations() else { return Vec::new() };
        let mut slots: Vec<_> = relocations
            .filter_map(|(slot, relocation)| Some((slot, self.slot_value(&file, &relocation)?)))
            .collect();
        slots.sort_unstable_by_key(|&(slot, _)| slot);
        slots
    }

    fn slot_value(&self, file: &object::File<'_>, relocation: &Relocation) -> Option<SlotValue> {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
        match (r_type, relocation.target()) {
            (R_X86_64_RELATIVE, _) => {
                let svma = Svma(relocation.addend().cast_unsigned());
                let mut segments = self.segments().iter().filter(|segment| segment.executable);
                segments
                    .any(|segment| svma.since(segment.svma) < segment.file_size)
                    .then_some(SlotValue::Address(svma))
            }
            (
                R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT | R_X86_64_64,
                RelocationTarget::Symbol(index),
            ) => {
                let symbol = file.dynamic_symbol_table()?.symbol_by_index(index).ok()?;
                Some(SlotValue::Symbol(symbol.name_bytes().ok()?.into()))
            }
            _ => None,
        }
    }

    /// The address of the function of that name that others can be linked to; `None` where there is none, or where a
    /// resolver decides which code it is.
    #[must_use]
    pub fn exported_function(&self, name: &[u8]) -> Option<Svma> {
        let file = object::File::parse(self.bytes()).ok()?;
        let mut defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        let found = defined.find(|symbol| symbol.name_bytes() == Ok(name))?;
        let SymbolFlags::Elf { st_info, .. } = found.flags() else { return None };
        (st_info.0 & 0xf != STT_GNU_IFUNC.0).then(|| Svma(found.address()))
    }
}
