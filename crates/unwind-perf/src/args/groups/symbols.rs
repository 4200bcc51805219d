//! The arguments about names.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The names that are looked up for an address.
#[derive(Debug, Args)]
#[command(next_help_heading = "Symbols")]
pub(crate) struct SymbolArgs {
    /// Leave out inlined functions
    #[arg(long)]
    pub(crate) no_inline: bool,

    /// Leave out all names: addresses and modules only
    #[arg(long)]
    pub(crate) no_symbols: bool,

    /// How function names are written
    #[arg(long, value_name = "HOW", value_enum, default_value_t = DemangleArg::Full)]
    pub(crate) demangle: DemangleArg,

    /// Take kernel names from FILE, in the form of /proc/kallsyms [default: /proc/kallsyms where the recorded kernel
    /// is the running one]
    #[arg(long, value_name = "FILE")]
    pub(crate) kallsyms: Option<PathBuf>,
}

/// How names are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemangleArg {
    /// With parameters
    Full,
    /// Without parameters and template arguments
    Short,
    /// Mangled, as in the symbol table
    None,
}
