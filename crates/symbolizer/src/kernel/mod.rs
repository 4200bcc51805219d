//! Names of kernel code, from the list of its symbols.

mod kallsyms;

pub use kallsyms::{Kallsyms, KallsymsError, KernelSymbol};
