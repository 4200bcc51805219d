//! The arguments of the jobs that make a profile.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, CommandFactory as _, ValueHint};
use formats::Format;
use host::Origin;
use options::{Percent, parse_percent};

use crate::args::Cli;
use crate::args::groups::FileArgs;
use crate::args::groups::FilterArgs;
use crate::args::groups::FunctionArgs;
use crate::args::groups::OffCpuArgs;
use crate::args::groups::RunSettings;
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

    /// Format of the output
    ///
    /// Default: by the ending of FILE, else json; on a terminal, the costliest functions.
    #[arg(short, long, value_name = "FORMAT", value_parser = FormatParser)]
    pub(crate) format: Option<Format>,

    /// report, flamegraph: do not open the browser
    #[arg(long)]
    pub(crate) no_open: bool,

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
    /// The recording; - for standard input, default perf.data
    #[arg(value_name = "PERF_DATA", value_hint = ValueHint::FilePath)]
    path: Option<PathBuf>,
}

impl InputArg {
    /// A recording that was just made.
    pub(crate) const fn of(path: PathBuf) -> Self {
        Self { path: Some(path) }
    }

    /// Its path: `perf.data` of this folder if none is named.
    pub(crate) fn path(&self) -> anyhow::Result<&Path> {
        let usual = Path::new("perf.data");
        match &self.path {
            Some(path) => {
                let word = path.to_str().unwrap_or_default();
                match suggestion(&Cli::command(), word) {
                    Some(name) => bail!(
                        "there is no file or command {word}; did you mean the command {name}?"
                    ),
                    None => Ok(path),
                }
            }
            None if host().stat(usual, Origin::User).is_ok() => Ok(usual),
            None => bail!("no perf.data here. Record one: unwind-perf record -- ./program"),
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

    /// Do not open the browser
    ///
    /// On a terminal, a page or flame graph goes to a new file named after the recording. The browser shows it if there
    /// is a display, without SSH, and the user is not root.
    #[arg(long)]
    pub(crate) no_open: bool,

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

    /// Include the text of the costliest source files, up to 16 MiB, also of other users' recordings
    ///
    /// Files are looked up as the debug information names them, with --path-map, --source-dir and --sysroot. Only files
    /// with the ending of a source file are read.
    #[arg(long)]
    pub(crate) embed_sources: bool,

    /// Omit the text of source files
    ///
    /// Default: the page has up to 4 MiB of source files if the recording is a file of this user and of this host. Each
    /// file is below the directory in which it was compiled.
    #[arg(long, conflicts_with = "embed_sources")]
    pub(crate) no_sources: bool,

    /// Omit the instructions of the costliest functions
    #[arg(long)]
    pub(crate) no_code: bool,

    /// Do not open the browser
    ///
    /// On a terminal, a page or flame graph goes to a new file named after the recording. The browser shows it if there
    /// is a display, without SSH, and the user is not root.
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Include these fields of tracepoints and probes, to group and filter samples
    ///
    /// Patterns EVENT/FIELD with * and ?, or all; info lists the fields. Default: none, since values can be private.
    #[arg(long, value_name = "EVENT/FIELD,…", value_delimiter = ',')]
    pub(crate) with_fields: Vec<String>,

    #[command(flatten)]
    pub(crate) weight: OffCpuArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

/// Arguments that the main job and the pictures share.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Write to FILE instead of standard output
    ///
    /// FILE appears when it is complete. If it is a directory, the file in it is named after the recording and the
    /// format.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print errors only, and one line if the recording is damaged
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print all details of the summary
    ///
    /// All reasons of incomplete stacks, the evidence of frames, more modules with their paths, and all findings.
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Report progress as lines "progress: …" on standard error, for programs
    #[arg(long)]
    pub(crate) progress_lines: bool,

    /// Print the time of each stage on standard error
    #[arg(long)]
    pub(crate) timings: bool,

    /// Exit with status 1 if more than PCT percent of callchains are incomplete
    ///
    /// The output is written first. A callchain across a [gap] is incomplete.
    #[arg(long, value_name = "PCT", value_parser = parse_percent)]
    pub(crate) fail_if_incomplete: Option<Percent>,

    #[command(flatten)]
    pub(crate) settings: RunSettings,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) functions: FunctionArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}
