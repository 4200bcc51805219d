//! The arguments about names.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use options::{CacheLocation, Demangle, FileSearch, NameOptions, parse_memory};

use crate::args::values::ChoiceParser;
use crate::args::{host, usual_cache};

/// The names that are looked up for an address.
#[derive(Debug, Args)]
#[command(next_help_heading = "Symbols")]
pub(crate) struct SymbolArgs {
    /// Omit inlined functions
    #[arg(long)]
    pub(crate) no_inline: bool,

    /// Omit all names: addresses and modules only
    #[arg(long)]
    pub(crate) no_symbols: bool,

    /// Form of function names [default: full; perf-script: perf; tables: short]
    ///
    /// Without this option, tables add parameters to names that would be equal.
    #[arg(long, value_name = "HOW", value_parser = ChoiceParser::<Demangle>::all())]
    pub(crate) demangle: Option<Demangle>,

    /// Charge parts of a function (.cold, .part.0) to the function
    #[arg(long)]
    pub(crate) fold_parts: bool,

    /// Group threads of a pool: worker-1 and worker-2 as worker-N
    #[arg(long)]
    pub(crate) fold_threads: bool,

    /// Read kernel names from FILE, in the form of /proc/kallsyms
    ///
    /// Default: /proc/kallsyms if the recorded kernel is the running one.
    #[arg(long, value_name = "FILE")]
    pub(crate) kallsyms: Option<PathBuf>,

    /// Cache symbols, unwind rules and profiles in DIR across runs; the output is the same
    ///
    /// Default: `$UNWIND_PERF_CACHE`, or unwind-perf/names in the user's cache folder; none with a sysroot.
    /// DIR is created if it does not exist; see unwind-perf cache.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cache: Option<PathBuf>,

    /// Cache nothing, and use no cache of earlier runs
    #[arg(long, conflicts_with_all = ["cache", "cache_size"])]
    pub(crate) no_cache: bool,

    /// Limit of the cache [default: 1G]; the least recently used go first
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) cache_size: Option<u64>,
}

impl SymbolArgs {
    /// Names that are looked up.
    pub(crate) const fn options(&self) -> NameOptions {
        NameOptions {
            look_up: !self.no_symbols,
            inlines: !self.no_inline,
            demangle: self.demangle,
            fold_parts: self.fold_parts,
            fold_threads: self.fold_threads,
            only_without_build_id: false,
        }
    }

    /// Returns the location of cached names, for a run that finds files by these options.
    pub(crate) fn cache(&self, files: &FileSearch) -> Option<CacheLocation> {
        if self.no_cache {
            return None;
        }
        let place = match &self.cache {
            Some(folder) => CacheLocation::of_default_size(folder.clone()),
            None if files.sysroots.is_empty() => usual_cache(&*host())?,
            None => return None,
        };
        Some(CacheLocation { most: self.cache_size.unwrap_or(place.most), ..place })
    }
}
