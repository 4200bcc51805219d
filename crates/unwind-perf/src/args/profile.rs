//! The arguments of the jobs that make a profile.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use formats::Format;

use super::files::FileArgs;
use super::filters::FilterArgs;
use super::join::JoinArgs;
use super::memory::parse_memory;
use super::percent::{Percent, parse_percent};
use super::shown::{FoldedArgs, ScriptArgs};
use super::symbols::SymbolArgs;

/// The arguments of the main job.
#[derive(Debug, Args)]
pub(crate) struct MainArgs {
    /// The recording, or - for standard input
    // Required, but not so that it would be with a subcommand, too: an empty path stands for none.
    #[arg(value_name = "PERF_DATA", default_value = "", hide_default_value = true)]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) input: PathBuf,

    /// Format of the output [default: by the ending of FILE, else json]
    #[arg(short, long, value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) format: Option<Format>,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// The arguments of `flamegraph`.
#[cfg(feature = "flamegraph")]
#[derive(Debug, Args)]
pub(crate) struct FlamegraphArgs {
    /// The recording, or - for standard input
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    /// Draw the outermost functions at the top
    #[arg(long)]
    pub(crate) inverted: bool,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// The arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The recording, or - for standard input
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What the main job and the pictures have in common.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Write to FILE instead of standard output; the file appears when it is complete. Where FILE is a directory, the
    /// new file in it is named after the recording and the format
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Number of threads [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// No progress, no summary; errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print the time that each stage took to standard error
    #[arg(long)]
    pub(crate) timings: bool,

    /// Limit of the memory for tables and prefetched input, such as 500M; a run that needs more ends with an error
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) max_memory: Option<u64>,

    /// Limit of the user frames of a callchain; the rest is cut off at the outer end
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) max_frames: usize,

    #[command(flatten)]
    pub(crate) join: JoinArgs,

    /// Exit with status 1, after the output was written, where more than PCT percent of the samples have a callchain
    /// that is not complete; one across a [gap] is not
    #[arg(long, value_name = "PCT", value_parser = parse_percent)]
    pub(crate) fail_if_incomplete: Option<Percent>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) script: ScriptArgs,

    #[command(flatten)]
    pub(crate) folded: FoldedArgs,
}

fn parse_format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("known formats are {}", names.join(", "))
    })
}
