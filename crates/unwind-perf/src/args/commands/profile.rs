//! The arguments of the jobs that make a profile.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, CommandFactory as _, ValueHint};
use formats::Format;
use host::Origin;
use options::{MAX_FRAMES, MemoryLimit, Percent, parse_percent};

use crate::args::Cli;
use crate::args::groups::FileArgs;
use crate::args::groups::FilterArgs;
use crate::args::groups::JoinArgs;
use crate::args::groups::OffCpuArgs;
use crate::args::groups::SourceArgs;
use crate::args::groups::SymbolArgs;
use crate::args::groups::{ExchangeArgs, FoldedArgs, ScriptArgs};
use crate::args::options::host;
use crate::args::suggestions::suggestion;
use crate::args::values::FormatParser;

/// The arguments of the main job.
#[derive(Debug, Args)]
pub(crate) struct MainArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Format of the output [default: by the ending of FILE; else json, and on a terminal the functions that cost most]
    #[arg(short, long, value_name = "FORMAT", value_parser = FormatParser)]
    pub(crate) format: Option<Format>,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) script: ScriptArgs,

    #[command(flatten)]
    pub(crate) folded: FoldedArgs,

    #[command(flatten)]
    pub(crate) exchange: ExchangeArgs,
}

/// The recording.
#[derive(Debug, Args)]
pub(crate) struct InputArg {
    /// The recording, or - for standard input [default: perf.data]
    #[arg(value_name = "PERF_DATA", value_hint = ValueHint::FilePath)]
    path: Option<PathBuf>,
}

impl InputArg {
    /// A recording that was just made.
    pub(crate) const fn of(path: PathBuf) -> Self {
        Self { path: Some(path) }
    }

    /// Its path: `perf.data` of this folder where none is named.
    pub(crate) fn path(&self) -> anyhow::Result<&Path> {
        let usual = Path::new("perf.data");
        match &self.path {
            Some(path) => {
                let word = path.to_str().unwrap_or_default();
                match suggestion(&Cli::command(), word) {
                    Some(name) => bail!(
                        "there is no file and no command {word}; did you mean the command {name}?"
                    ),
                    None => Ok(path),
                }
            }
            None if host().stat(usual, Origin::User).is_ok() => Ok(usual),
            None => bail!("no recording named, and there is no perf.data here; see --help"),
        }
    }
}

/// The arguments of `flamegraph`.
#[cfg(feature = "flamegraph")]
#[derive(Debug, Args)]
pub(crate) struct FlamegraphArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Draw the outermost functions at the top
    #[arg(long)]
    pub(crate) inverted: bool,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) folded: FoldedArgs,
}

/// The arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Put the text of source files into the page, of those whose lines cost most, as far as they are found where the
    /// debug information says (with --path-map, --source-dir and --sysroot). Only files with the endings of sources are taken
    #[arg(long)]
    pub(crate) embed_sources: bool,

    /// Leave out the instructions of the functions that cost most
    #[arg(long)]
    pub(crate) no_code: bool,

    #[command(flatten)]
    pub(crate) weight: OffCpuArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
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

    /// No progress, no summary; errors only, and a line where the recording is damaged
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Tell how far the run has come in lines on standard error that begin with "progress: ", for a program that shows it
    #[arg(long)]
    pub(crate) progress_lines: bool,

    /// Print the time that each stage took to standard error
    #[arg(long)]
    pub(crate) timings: bool,

    /// Limit of what a run holds in memory, such as 500M, or none; one that needs more ends with status 2 and a line that
    /// names the part [default: half of the memory of the machine or its control group]
    #[arg(long, value_name = "SIZE", value_parser = MemoryLimit::parse)]
    pub(crate) max_memory: Option<MemoryLimit>,

    /// Limit of the user frames of a callchain; the rest is cut off at the outer end
    #[arg(long, value_name = "N", default_value_t = MAX_FRAMES)]
    pub(crate) max_frames: NonZeroUsize,

    #[command(flatten)]
    pub(crate) join: JoinArgs,

    /// Exit with status 1, after the output was written, where more than PCT percent of the samples have a callchain
    /// that is not complete; one across a [gap] is not
    #[arg(long, value_name = "PCT", value_parser = parse_percent)]
    pub(crate) fail_if_incomplete: Option<Percent>,

    /// Read the options of the run from FILE, a JSON object, or from standard input (-). For programs: the names are
    /// those of the Python package
    #[arg(long, value_name = "FILE", hide = true)]
    #[arg(conflicts_with_all = ["FilterArgs", "SymbolArgs", "FileArgs", "JoinArgs"])]
    #[arg(conflicts_with_all = ["jobs", "max_memory", "max_frames"])]
    pub(crate) options_json: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}
