//! The arguments of `record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use options::parse_size;

/// The arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Record these processes
    #[arg(short, long, value_name = "PID,…", value_delimiter = ',')]
    pub(crate) pid: Vec<u32>,

    /// Record all processes on all processors
    #[arg(short, long, conflicts_with = "pid")]
    pub(crate) all_cpus: bool,

    /// Write the recording to FILE. A recording that has this name already is kept as FILE.old
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Samples a second
    #[arg(short = 'F', long, value_name = "HZ", default_value_t = 997)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frequency: u32,

    /// Bytes of the stack that each sample copies, up to 65528
    #[arg(long, value_name = "BYTES", default_value_t = 16_384)]
    #[arg(value_parser = clap::value_parser!(u32).range(8..=65_528))]
    pub(crate) stack_size: u32,

    /// The events to sample, as perf record takes them; can be repeated [default: the processor's cycles, or the clock
    /// cpu-clock where it counts none]
    #[arg(short, long, value_name = "EVENT")]
    pub(crate) event: Vec<String>,

    /// Record where threads leave their processors, and when they come back, as well: for --weight off-cpu. Tracepoints
    /// are for the superuser as a rule
    #[arg(long, conflicts_with = "event")]
    pub(crate) off_cpu: bool,

    /// The perf to start
    #[arg(long, value_name = "FILE", default_value = "perf", value_hint = ValueHint::ExecutablePath)]
    pub(crate) perf: PathBuf,

    /// Write a bundle instead: the recording with its files and names, as FILE with the ending .upb
    #[arg(long, conflicts_with_all = ["buildid_dir", "store_size", "no_store"])]
    pub(crate) bundle: bool,

    /// Store the files that have samples in DIR, in the layout of a build-id cache; other commands look there with the
    /// same option [default: `$XDG_CACHE_HOME/unwind-perf/files`, where they look anyway]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) buildid_dir: Option<PathBuf>,

    /// Limit of the store, which takes a tenth of the free space at most; the files that no recording used for the longest time go
    /// first [default: 2G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) store_size: Option<u64>,

    /// Store no files: names and stacks are lost if a program is rebuilt or removed
    #[arg(long, conflicts_with_all = ["buildid_dir", "store_size"])]
    pub(crate) no_store: bool,

    /// No summary; errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// The command to record, with its arguments; with --pid or --all-cpus the recording lasts as long as it does
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}
