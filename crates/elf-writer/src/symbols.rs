//! The symbols of an ELF file, and their names.
//!
//! Source: gABI, "Symbol Table", "String Table".

use address::Svma;
use object::LittleEndian;
use object::elf::{EM_NONE, SHN_UNDEF, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SymbolInfo};
use object::write::elf::{Encoder, Sym};

use crate::bytes::push_text;

/// Writes headers and symbols of 64 bits, little-endian; the processor is for relocations.
pub(crate) fn encoder() -> Encoder<LittleEndian> {
    Encoder::new(LittleEndian, true, EM_NONE)
}

/// A symbol table in the making.
#[derive(Debug)]
pub struct Symbols {
    entries: Vec<u8>,
    names: Vec<u8>,
}

impl Default for Symbols {
    /// A table with the empty symbol alone, which is the first in every one.
    fn default() -> Self {
        let mut entries = Vec::new();
        encoder().null_symbol(&mut entries);
        Self { entries, names: vec![0] }
    }
}

impl Symbols {
    /// Appends a function of `size` bytes in the section of that index. Returns `None` without appending it if the names
    /// have 4 GiB.
    pub fn function(&mut self, name: &[u8], section: u32, start: Svma, size: u64) -> Option<()> {
        let st_name = u32::try_from(self.names.len()).ok()?;
        push_text(&mut self.names, name);
        let symbol = Sym {
            section: Some(section),
            st_name,
            st_info: SymbolInfo::new(STB_GLOBAL, STT_FUNC),
            st_other: STV_DEFAULT.into(),
            st_shndx: SHN_UNDEF,
            st_value: start.0,
            st_size: size,
        };
        encoder().symbol(&mut self.entries, &symbol);
        Some(())
    }

    pub(crate) fn entries(&self) -> &[u8] {
        &self.entries
    }

    pub(crate) fn names(&self) -> &[u8] {
        &self.names
    }
}
