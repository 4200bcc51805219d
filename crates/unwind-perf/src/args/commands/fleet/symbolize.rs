//! The arguments of `symbolize`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use formats::Format;
use options::{MemoryLimit, Weight};

use crate::args::groups::{FileArgs, SymbolArgs};
use crate::args::values::{ChoiceParser, FormatParser};

/// The arguments of `symbolize`.
#[derive(Debug, Args)]
pub(crate) struct SymbolizeArgs {
    /// Files of unwind-perf -f parquet --stacks; equal stacks are added up
    #[arg(value_name = "STACKS", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Format of the output: parquet, or one that adds samples up
    ///
    /// Default: by the ending of FILE, else folded.
    #[arg(short, long, value_name = "FORMAT", value_parser = FormatParser)]
    pub(crate) format: Option<Format>,

    /// Write to FILE instead of standard output
    ///
    /// FILE appears when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Only stacks of this event, by its name; can be repeated
    ///
    /// Default: parquet has all events, formats that add samples up the first one.
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Vec<String>,

    /// Weight of a stack
    #[arg(long, value_name = "WHAT", value_parser = ChoiceParser::of(&[Weight::Samples, Weight::Period]))]
    pub(crate) weight: Option<Weight>,

    /// Show incomplete stacks as they are, not below one [truncated] frame
    #[arg(long)]
    pub(crate) keep_unrooted: bool,

    /// Folded stacks: mark kernel functions with the suffix _[k]
    #[arg(long)]
    pub(crate) kernel_suffix: bool,

    /// Folded stacks: start with the innermost function
    #[arg(long)]
    pub(crate) reverse: bool,

    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Print errors only, and one line if names are missing
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Memory limit, such as 500M, or none [default: half of the memory]
    #[arg(long, value_name = "SIZE", value_parser = MemoryLimit::parse)]
    pub(crate) max_memory: Option<MemoryLimit>,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}

impl SymbolizeArgs {
    /// Returns the given options without an effect on stacks, or on a format.
    pub(crate) fn without_effect(&self, format: Format) -> Option<String> {
        let Self { symbols, files, .. } = self;
        let given = [
            ("--no-symbols", symbols.no_symbols),
            ("--fold-threads", symbols.fold_threads),
            ("--perf-map-dir", !files.perf_map_dir.is_empty()),
            ("--trust-perf-maps", files.trust_perf_maps),
            ("--map", !files.map.is_empty()),
            ("--map-file", !files.map_file.is_empty()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            return Some(format!("{option} has no effect on aggregated stacks"));
        }
        let counts = format.shows_one_event();
        let is_folded = matches!(format.name(), "folded" | "flamegraph");
        let given = [
            ("--weight", self.weight.is_some(), counts),
            ("--keep-unrooted", self.keep_unrooted, counts),
            ("--kernel-suffix", self.kernel_suffix, is_folded),
            ("--reverse", self.reverse, is_folded),
        ];
        let option = given.iter().find(|(_, given, known)| *given && !known)?.0;
        Some(format!("{option} has no effect on the format {}", format.name()))
    }
}
