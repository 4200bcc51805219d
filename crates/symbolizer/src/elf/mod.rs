//! ELF symbol tables: the symbol that covers each requested address, and names for the stubs of the procedure linkage
//! table.

mod names;
mod plt;
mod symbols;

pub(crate) use names::NameReader;
pub(crate) use plt::names as plt_names;
pub(crate) use symbols::{SymbolTable, code_ranges, lookup};
