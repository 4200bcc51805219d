//! The arguments of `bundle`.

use std::path::PathBuf;

use clap::Args;

use super::profile::InputArg;
use crate::args::groups::FileArgs;

/// The arguments of `bundle`.
#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Write the bundle to FILE; it appears when it is complete and gave the same result as the recording here
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Keep all of each file, not only the parts that are needed
    #[arg(long)]
    pub(crate) whole: bool,

    /// Leave out the copies of the stacks and the registers, which are memory of the recorded processes: each sample has
    /// its frames as a recorded callchain instead
    #[arg(long)]
    pub(crate) no_stacks: bool,

    /// Put pseudonyms in the place of host, user, paths, source files, processes, threads and arguments, and leave out what
    /// may hold such names: stacks (as --no-stacks does), code, data, raw fields of tracepoints. Functions keep their names
    #[arg(long, conflicts_with = "whole")]
    pub(crate) anonymize: bool,

    /// Number of threads [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// No progress, no summary; errors only, and a line where the recording is damaged
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Take kernel names from FILE, in the form of /proc/kallsyms [default: /proc/kallsyms where the recorded kernel
    /// is the running one]
    #[arg(long, value_name = "FILE")]
    pub(crate) kallsyms: Option<PathBuf>,

    /// Only this user can read it, as recordings of perf
    #[arg(skip)]
    pub(crate) private: bool,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}
