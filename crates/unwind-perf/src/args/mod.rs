//! The arguments. They know nothing of the commands that take them.

mod commands;
mod examples;
mod fields;
mod groups;
mod leading;
mod options;
mod run_options;
mod suggestions;
mod usual_cache;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use self::fields::GroupedBy;
#[cfg(feature = "parquet")]
pub(crate) use self::options::usable;
pub(crate) use self::options::{
    host, open, options_of_json, pipeline, pipeline_on, source, with_argument,
};
pub(crate) use self::run_options::RunOptions;
#[cfg(feature = "service")]
pub(crate) use self::usual_cache::is_cache_off;
pub(crate) use self::usual_cache::{own_folder, usual_cache};
#[cfg(feature = "flamegraph")]
pub(crate) use commands::FlamegraphArgs;
#[cfg(feature = "mcp")]
pub(crate) use commands::McpArgs;
#[cfg(feature = "parquet")]
pub(crate) use commands::SymbolizeArgs;
#[cfg(feature = "tui")]
pub(crate) use commands::TuiArgs;
pub(crate) use commands::{
    AnnotateArgs, BuildIdArgs, BundleArgs, CacheArgs, CacheWhat, DiffArgs, DumpArgs, InfoArgs,
    InjectArgs, InputArg, MainArgs, MapsArgs, RecordArgs, ReportArgs, RunArgs, SpansArgs, TopArgs,
    TreeArgs, ValuesArgs,
};
#[cfg(feature = "parquet")]
pub(crate) use commands::{CompactArgs, ConvertArgs, ConvertRecordingArgs};
#[cfg(feature = "service")]
pub(crate) use commands::{FrontArgs, LiveArgs, ServeArgs, WorkerArgs};
pub(crate) use examples::{ENVIRONMENT, EXAMPLES, EXIT_STATUS, FILES};
pub(crate) use groups::{FileArgs, FilterArgs, FoldedArgs, FunctionArgs};
pub(crate) use leading::{names_command, with_command_first};
pub(crate) use suggestions::{LIKE_ENOUGH, likeness, with_suggestion};
pub(crate) use values::{
    BufferSize, ColorArg, StackSize, clock_range, color_in_arguments, time_of,
};

/// Turn a recording of `perf record --call-graph dwarf` into symbolized callchains.
///
/// The result goes to standard output or to the file of -o; a summary goes to standard error. Exit status: 0 complete;
/// 1 the result was written, but the recording is damaged or --fail-if-incomplete is exceeded; 2 no result.
#[derive(Debug, Parser)]
#[command(name = "unwind-perf", version, max_term_width = 100)]
#[command(after_long_help = examples::examples(), after_help = "See --help for details and examples.")]
#[command(args_conflicts_with_subcommands = true)]
#[command(override_usage = "unwind-perf [OPTIONS] [PERF_DATA]\n       unwind-perf <COMMAND>")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) main: MainArgs,

    /// When messages and tables have colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorArg::Auto, global = true)]
    #[arg(help_heading = None::<&str>)]
    pub(crate) color: ColorArg,

    /// Print the licences of this program and of the libraries in it
    #[arg(long, exclusive = true, help_heading = None::<&str>)]
    pub(crate) licenses: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The jobs beside the main one.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Record a command, processes or the whole system with perf
    ///
    /// The options suit unwind-perf. Files with samples are stored, so that names and stacks survive a rebuild or a
    /// removal. Exit status: that of the command, 128 + N after signal N; 125 if there is no recording, 126 or 127 if
    /// the command cannot be started.
    Record(RecordArgs),
    /// Show the costliest functions, modules, lines, threads or events
    Top(TopArgs),
    /// Show the durations of spans: percentiles and histograms
    ///
    /// --span describes them.
    Spans(SpansArgs),
    /// Show the call tree, from outermost or innermost functions
    Tree(TreeArgs),
    /// Browse functions, call trees and source on the terminal
    ///
    /// The keys are those of perf report; h lists them. Of a stream (perf record -o - … | unwind-perf tui -), the view
    /// follows the recording.
    #[cfg(feature = "tui")]
    Tui(TuiArgs),
    /// Compare recordings: functions whose cost changed significantly
    #[command(override_usage = DIFF_USAGE)]
    Diff(DiffArgs),
    /// Show the cost of a function's source lines and instructions
    Annotate(AnnotateArgs),
    /// List the parameters and locals of a function, for --value
    Values(ValuesArgs),
    /// Show the header of a recording: machine, events, features
    Info(InfoArgs),
    /// Print every record, one per line
    Dump(DumpArgs),
    /// List the build-ids of the recorded files
    #[command(name = "buildid-list")]
    BuildIdList(BuildIdArgs),
    /// Show the mappings of processes, and the files used for them
    Maps(MapsArgs),
    /// Rewrite a recording for other tools
    ///
    /// Map hints, JIT code and build-ids become ordinary map records.
    Inject(InjectArgs),
    /// Name aggregated stacks (-f parquet --stacks) from stores of files by build-id
    ///
    /// Stacks of several files are added up. A file is used only if its build-id is the stated one. Exit status 1 if a
    /// file is missing or damaged.
    #[cfg(feature = "parquet")]
    Symbolize(Box<SymbolizeArgs>),
    /// Pack a recording and the files it needs into one file
    ///
    /// Every command reads the bundle, on any machine, with the same result.
    Bundle(BundleArgs),
    /// Convert many recordings to one tree of Parquet files, each recording once
    ///
    /// The recordings are files, a list, or those of a watched folder. Each has a line of JSON on standard output. Exit
    /// status: 0 if all are ok, 1 if some are not, 2 if none was converted, because of a wrong call or a folder that is
    /// missing or cannot be written.
    #[cfg(feature = "parquet")]
    Convert(Box<ConvertArgs>),
    /// Merge the files of each day of a tree into few large ones, in a second tree
    ///
    /// The merged tree has the rows of TREE, with its folders as columns. A day of which nothing changed is not written
    /// again. Exit status: 0 if all days are merged, 1 if some are not, 2 if none was merged, because of a wrong call or
    /// a folder that is missing or cannot be written.
    #[cfg(feature = "parquet")]
    Compact(CompactArgs),
    /// Show or empty the caches of names and unwind rules, and the store of record
    Cache(CacheArgs),
    #[cfg(feature = "flamegraph")]
    /// Draw a flame graph: an SVG with search and zoom
    Flamegraph(FlamegraphArgs),
    /// Write a page for a browser: flame graph, tables, timeline
    Report(ReportArgs),
    /// Serve recordings over HTTP: a list, pages, every format, queries
    #[cfg(feature = "service")]
    Serve(Box<ServeArgs>),
    /// Show a recording in a browser while perf makes it
    ///
    /// perf record … -o - | unwind-perf live
    #[cfg(feature = "service")]
    Live(Box<LiveArgs>),
    /// Answer a program's questions on recordings, by the Model Context Protocol
    ///
    /// The program starts this command and talks to it on standard input and output.
    #[cfg(feature = "mcp")]
    Mcp(Box<McpArgs>),
    /// Run the work of the service that started this process
    #[cfg(feature = "service")]
    #[command(hide = true)]
    Worker,
    /// Wait at a FIFO, then become a program
    #[command(name = "start-program", hide = true)]
    StartProgram(StartProgramArgs),
    /// Write the rows of a recording, as the command convert asks
    #[cfg(feature = "parquet")]
    #[command(name = "convert-recording", hide = true)]
    ConvertRecording(ConvertRecordingArgs),
    /// Unwind standard input as a recorder asks
    #[command(name = "unwind-recording", hide = true)]
    UnwindRecording,
    /// Check options of a run in JSON and print them with absolute paths
    ///
    /// The object is read from standard input.
    #[command(name = "options-json", hide = true)]
    OptionsJson,
    /// Print the manual page
    Man,
    /// Print the completion of a shell
    Completions(CompletionArgs),
}

const DIFF_USAGE: &str = "unwind-perf diff [OPTIONS] <BEFORE> <AFTER>\n       \
                          unwind-perf diff [OPTIONS] <BEFORE>... -- <AFTER>...";

/// The arguments of `start-program`.
#[derive(Debug, Args)]
pub(crate) struct StartProgramArgs {
    /// The FIFO
    pub(crate) gate: PathBuf,

    /// The program with its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}

/// The arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
