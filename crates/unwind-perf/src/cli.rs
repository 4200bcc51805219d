//! The arguments.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};
use formats::{Fields, Format, Root, Weight};

use crate::buildid_list::BuildIdArgs;
use crate::color::ColorArg;
use crate::dump::DumpArgs;
use crate::info::InfoArgs;
use crate::inject::InjectArgs;
use crate::manual::CompletionArgs;
use crate::maps::MapsArgs;
use crate::memory_limit::MemoryLimit;

/// Turn a recording of `perf record --call-graph dwarf` into symbolized callchains.
///
/// The result goes to standard output (or to the file of -o), a summary of what was found and of what is missing goes
/// to standard error. Exit status: 0 complete; 1 the result was written, but the recording is damaged; 2 no result.
#[derive(Debug, Parser)]
#[command(name = "unwind-perf", version, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true)]
#[command(override_usage = "unwind-perf [OPTIONS] <PERF_DATA>\n       unwind-perf <COMMAND>")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) main: MainArgs,

    /// Colours of messages on standard error
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorArg::Auto, global = true)]
    pub(crate) color: ColorArg,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The jobs beside the main one.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tell what a recording says of itself, its machine and its events
    Info(InfoArgs),
    /// Write out every record, one a line
    Dump(DumpArgs),
    /// List the build-ids of the recorded files
    #[command(name = "buildid-list")]
    BuildIdList(BuildIdArgs),
    /// Show what was mapped where, by which file, and why a file was refused
    Maps(MapsArgs),
    /// Write the recording anew, with map hints, JIT code and build-ids as ordinary map records for other tools
    Inject(InjectArgs),
    /// Draw a flame graph: an SVG picture that can be searched and zoomed in a browser
    Flamegraph(FlamegraphArgs),
    /// Write a page that shows the profile in a browser: flame graph, tables, timeline
    Report(ReportArgs),
    /// Print the manual page
    Man,
    /// Print the completion of a shell
    Completions(CompletionArgs),
}

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
    /// Write to FILE instead of standard output; the file appears when it is complete. In a directory, it is named after
    /// the recording and the format
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Write into FILE itself where it exists, instead of replacing it
    #[arg(long, requires = "output", hide = true)]
    pub(crate) in_place: bool,

    /// Threads to use [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// No progress, no summary; errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Say on standard error where the time went, stage by stage
    #[arg(long)]
    pub(crate) timings: bool,

    /// The most memory for tables and what is read ahead, such as 500M; a recording that needs more is given up
    #[arg(long, value_name = "SIZE", value_parser = MemoryLimit::parse)]
    pub(crate) max_memory: Option<MemoryLimit>,

    /// The most user frames of a callchain; the rest is cut off at the outer end
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) max_frames: usize,

    #[command(flatten)]
    pub(crate) filters: Filters,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) script: ScriptArgs,

    #[command(flatten)]
    pub(crate) folded: FoldedArgs,
}

impl RunArgs {
    /// The files that are read beside the recording, as far as they are named.
    pub(crate) fn named_inputs(&self) -> impl Iterator<Item = &Path> {
        self.files.named().chain(self.symbols.kallsyms.as_deref())
    }
}

/// Which samples are wanted; the memory maps are replayed in full all the same.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which samples")]
pub(crate) struct Filters {
    /// Only samples of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub(crate) pid: Vec<i32>,

    /// Only samples of these threads
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only samples of threads of these names
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) comm: Vec<String>,

    /// Only samples of these events
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',')]
    pub(crate) event: Vec<String>,

    /// Only samples from time A to time B, in seconds of the recording's clock as perf script prints them; either may
    /// be left out
    #[arg(long, value_name = "A,B")]
    pub(crate) time: Option<String>,
}

/// What is looked up for an address.
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

/// Where files are looked for. Each is used only where its build-id is the recorded one.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Use this file for the module of its build-id or name; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) module: Vec<PathBuf>,

    /// Look for recorded paths that begin with FROM at TO instead; can be repeated
    #[arg(long, value_name = "FROM=TO")]
    pub(crate) path_map: Vec<String>,

    /// Look for recorded paths below DIR, and there alone; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) sysroot: Vec<PathBuf>,

    /// A build-id cache, or an archive that perf archive made; can be repeated [default: ~/.debug]
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) buildid_dir: Vec<PathBuf>,

    /// Directory of separate debug files; can be repeated [default: /usr/lib/debug]
    #[arg(long, value_name = "DIR")]
    pub(crate) debug_dir: Vec<PathBuf>,

    /// Look for files of the recorded names in DIR and in the directories below it; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) extra_dir: Vec<PathBuf>,

    /// Look for the perf-PID.map files of JIT compilers in DIR before /tmp; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) perf_map_dir: Vec<PathBuf>,

    /// Fetch what is found nowhere from this debuginfod server [default URL: those of `DEBUGINFOD_URLS`]
    #[cfg(feature = "debuginfod")]
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true)]
    pub(crate) debuginfod: Option<Option<String>>,

    /// What memory holds: LEN bytes of OBJECT (from OFFSET on) at START of process PID and of its children; PID can be
    /// * for all or comm:NAME. Covers recorded maps; can be repeated
    #[arg(long, value_name = "OBJECT@PID,START,LEN[,OFFSET]")]
    pub(crate) map: Vec<String>,

    /// The same, one a line of FILE; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) map_file: Vec<PathBuf>,
}

impl FileArgs {
    /// The files among the arguments: modules, archives, map hints. Directories are no files.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Path> {
        let paths = self.module.iter().chain(&self.buildid_dir).chain(&self.map_file);
        let objects = self.map.iter().filter_map(|hint| Some(hint.rsplit_once('@')?.0));
        paths.map(PathBuf::as_path).chain(objects.map(Path::new))
    }
}

/// What the text of perf script has.
#[derive(Debug, Args)]
#[command(next_help_heading = "perf script")]
pub(crate) struct ScriptArgs {
    /// Fields of perf-script, by the names of perf script -F: comm, pid, tid, cpu, time, period, event, ip, sym,
    /// symoff, dso, srcline; or changes of the default, such as +srcline,-cpu [default: all but srcline]
    #[arg(short = 'F', long, value_name = "FIELD,…", value_parser = Fields::parse, allow_hyphen_values = true)]
    pub(crate) fields: Option<Fields>,
}

/// How stacks are counted and shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Folded stacks and speedscope")]
pub(crate) struct FoldedArgs {
    /// Keep incomplete stacks beside the complete ones instead of under one [truncated] frame
    #[arg(long)]
    pub(crate) keep_unrooted: bool,

    /// What a stack weighs
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = WeightArg::Samples)]
    pub(crate) weight: WeightArg,

    /// Folded stacks: mark kernel functions with the suffix _[k]
    #[arg(long)]
    pub(crate) kernel_suffix: bool,

    /// Folded stacks: what stands outside of all functions
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = RootArg::Comm)]
    pub(crate) root: RootArg,

    /// Folded stacks: begin with the innermost function
    #[arg(long)]
    pub(crate) reverse: bool,
}

/// How names are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemangleArg {
    /// With parameters
    Full,
    /// Without parameters and template arguments
    Short,
    /// As the linker knows them
    None,
}

/// What a folded stack weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WeightArg {
    /// The number of samples
    Samples,
    /// The sum of their periods
    Period,
}

/// What stands outside of all functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RootArg {
    /// The thread's name
    Comm,
    /// comm-pid
    Process,
    /// comm-pid/tid
    Thread,
    /// Nothing
    None,
}

impl From<RootArg> for Root {
    fn from(root: RootArg) -> Self {
        match root {
            RootArg::Comm => Self::Comm,
            RootArg::Process => Self::Process,
            RootArg::Thread => Self::Thread,
            RootArg::None => Self::None,
        }
    }
}

impl From<WeightArg> for Weight {
    fn from(weight: WeightArg) -> Self {
        match weight {
            WeightArg::Samples => Self::Samples,
            WeightArg::Period => Self::Period,
        }
    }
}

fn parse_format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("known formats are {}", names.join(", "))
    })
}
