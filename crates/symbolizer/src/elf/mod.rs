//! ELF symbol tables: the symbol that covers each requested address, and names for the stubs of the procedure linkage
//! table.

mod bounds;
mod descriptions;
mod names;
mod plt;
mod symbols;

pub(crate) use bounds::CodeBounds;
pub(crate) use names::NameReader;
pub(crate) use plt::names as plt_names;
pub(crate) use symbols::{SymbolTable, lookup};
