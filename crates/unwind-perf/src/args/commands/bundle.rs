//! The arguments of `bundle`.

use std::path::PathBuf;

use clap::Args;

use super::profile::InputArg;
use crate::args::groups::FileArgs;

/// The arguments of `bundle`. The input can be a bundle, which then loses data.
#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Write the bundle to FILE
    ///
    /// FILE appears when it is complete and gives the same result as the recording.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Include whole files, not only the parts that are needed
    #[arg(long)]
    pub(crate) whole: bool,

    /// Omit files with a build-id, which readers have in a store
    ///
    /// Readers name it by --buildid-dir, --debug-dir or --debuginfod; a file is used only if it has the same bytes. Lists
    /// of symbols, code of JIT compilers and files without a build-id stay.
    #[arg(long, conflicts_with_all = ["whole", "anonymize"])]
    pub(crate) no_files: bool,

    /// Omit stacks and registers, which are memory of the recorded processes
    ///
    /// Each sample has its frames as a recorded callchain instead. The arguments of the recorded program are omitted,
    /// too.
    #[arg(long)]
    pub(crate) no_stacks: bool,

    /// With --no-stacks: keep the arguments of the recorded program
    #[arg(long, requires = "no_stacks")]
    pub(crate) with_arguments: bool,

    /// Replace names of hosts, users, paths, processes and threads by pseudonyms
    ///
    /// Source files and arguments are replaced as well. Data that may hold such names is omitted: stacks (as with
    /// --no-stacks), code, data, raw fields of tracepoints. Function names stay.
    #[arg(long, conflicts_with = "whole")]
    pub(crate) anonymize: bool,

    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Print errors only, and one line if the recording is damaged
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Read kernel names from FILE, in the form of /proc/kallsyms
    ///
    /// Default: /proc/kallsyms if the recorded kernel is the running one.
    #[arg(long, value_name = "FILE")]
    pub(crate) kallsyms: Option<PathBuf>,

    /// Read the options on files from FILE, a JSON object; - for standard input
    ///
    /// For programs. The names are those of the Python package.
    #[arg(long, value_name = "FILE", hide = true)]
    #[arg(conflicts_with_all = ["FileArgs", "jobs", "kallsyms", "with_arguments"])]
    pub(crate) options_json: Option<PathBuf>,

    /// Whether only this user can read the bundle, as recordings of perf
    #[arg(skip)]
    pub(crate) private: bool,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}
