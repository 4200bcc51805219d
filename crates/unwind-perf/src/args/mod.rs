//! The arguments. They know nothing of the commands that take them.

mod commands;
mod examples;
mod groups;
mod options;
mod suggestions;
mod values;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use self::options::{
    RunOptions, host, open, options_of_json, pipeline, pipeline_on, source, with_argument,
};
#[cfg(feature = "flamegraph")]
pub(crate) use commands::FlamegraphArgs;
pub(crate) use commands::{
    AnnotateArgs, BuildIdArgs, BundleArgs, CacheArgs, CacheWhat, DiffArgs, DumpArgs, InfoArgs,
    InjectArgs, InputArg, MainArgs, MapsArgs, RecordArgs, ReportArgs, RunArgs, TopArgs, TreeArgs,
};
#[cfg(feature = "service")]
pub(crate) use commands::{FrontArgs, LiveArgs, ServeArgs, WorkerArgs};
pub(crate) use examples::{ENVIRONMENT, EXAMPLES, EXIT_STATUS, FILES};
pub(crate) use groups::{FileArgs, FilterArgs, FoldedArgs};
pub(crate) use suggestions::with_suggestion;
pub(crate) use values::{ColorArg, clock_range, color_in_arguments, time_of};

/// Turn a recording of `perf record --call-graph dwarf` into symbolized callchains.
///
/// The result goes to standard output (or to the file of -o), a summary of what was found and of what is missing goes
/// to standard error. Exit status: 0 complete; 1 the result was written, but the recording is damaged or more is
/// incomplete than --fail-if-incomplete allows; 2 no result.
#[derive(Debug, Parser)]
#[command(name = "unwind-perf", version, max_term_width = 100)]
#[command(after_long_help = examples::examples(), after_help = "--help tells more, with examples.")]
#[command(args_conflicts_with_subcommands = true)]
#[command(override_usage = "unwind-perf [OPTIONS] [PERF_DATA]\n       unwind-perf <COMMAND>")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) main: MainArgs,

    /// Colours of messages and of tables
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorArg::Auto, global = true)]
    #[arg(help_heading = None::<&str>)]
    pub(crate) color: ColorArg,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The jobs beside the main one.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Record a command, processes or everything with perf, with the options that serve best
    ///
    /// The files that have samples are stored, so that the recording keeps its names and stacks if they are built again or
    /// removed. Exit status: that of the command, 128 + N after the signal N; 125 if there is no recording, 126 or 127 if
    /// the command cannot be started.
    Record(RecordArgs),
    /// Show what costs most: functions, modules, lines, threads, processes or events
    Top(TopArgs),
    /// Show the tree of calls, from the outermost functions or from the innermost
    Tree(TreeArgs),
    /// Compare recordings: which functions cost more or less, as far as that is no chance
    #[command(override_usage = DIFF_USAGE)]
    Diff(DiffArgs),
    /// Show the source and the instructions of a function with what they cost
    Annotate(AnnotateArgs),
    /// Show what a recording says about itself, its machine and its events
    Info(InfoArgs),
    /// Print every record, one per line
    Dump(DumpArgs),
    /// List the build-ids of the recorded files
    #[command(name = "buildid-list")]
    BuildIdList(BuildIdArgs),
    /// Show the mappings of each process, the files they were read from, and why a file was refused
    Maps(MapsArgs),
    /// Rewrite the recording with map hints, JIT code and build-ids as ordinary map records for other tools
    Inject(InjectArgs),
    /// Write the recording with what this machine knows of it into one file: every command reads it, anywhere, with the
    /// same result
    Bundle(BundleArgs),
    /// Show or empty the store of record or a folder of --cache
    Cache(CacheArgs),
    #[cfg(feature = "flamegraph")]
    /// Draw a flame graph: an SVG picture that can be searched and zoomed in a browser
    Flamegraph(FlamegraphArgs),
    /// Write a page that shows the profile in a browser: flame graph, tables, timeline
    Report(ReportArgs),
    /// Serve recordings by HTTP: a list, their pages, every format, questions for tools
    #[cfg(feature = "service")]
    Serve(Box<ServeArgs>),
    /// Show a recording in a browser while perf makes it: perf record … -o - | unwind-perf live
    #[cfg(feature = "service")]
    Live(Box<LiveArgs>),
    /// Do the work of a service that started this
    #[cfg(feature = "service")]
    #[command(hide = true)]
    Worker,
    /// Check the options of a run, a JSON object on standard input, and print them with absolute paths
    #[command(name = "options-json", hide = true)]
    OptionsJson,
    /// Print the manual page
    Man,
    /// Print the completion of a shell
    Completions(CompletionArgs),
}

const DIFF_USAGE: &str = "unwind-perf diff [OPTIONS] <BEFORE> <AFTER>\n       \
                          unwind-perf diff [OPTIONS] <BEFORE>... -- <AFTER>...";

/// The arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
