//! Symbols of an ELF file, and their names.
//!
//! Source: gABI, "Symbol Table", "String Table".

use address::Svma;
use object::LittleEndian;
use object::elf::{EM_NONE, SHN_UNDEF, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SymbolInfo};
use object::write::elf::{Encoder, Sym};

use crate::bytes::push_text;

/// Returns an encoder for 64-bit little-endian headers and symbols; the processor matters for relocations only.
pub(crate) fn encoder() -> Encoder<LittleEndian> {
    Encoder::new(LittleEndian, true, EM_NONE)
}

/// Builder for a symbol table.
#[derive(Debug)]
pub struct SymbolWriter {
    entries: Vec<u8>,
    names: Vec<u8>,
}

impl Default for SymbolWriter {
    /// Creates a table with only the empty symbol, which is the first in every table.
    fn default() -> Self {
        let mut entries = Vec::new();
        encoder().null_symbol(&mut entries);
        Self { entries, names: vec![0] }
    }
}

impl SymbolWriter {
    /// Appends a function of `size` bytes in the section with index `section`. Returns `None`
    /// without appending if the names exceed 4 GiB.
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
