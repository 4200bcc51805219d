//! The arguments of `record`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use options::{parse_duration, parse_size};

use crate::args::{BufferSize, StackSize};

/// The arguments of `record`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecordArgs {
    /// Record these processes
    #[arg(short, long, value_name = "PID,…", value_delimiter = ',')]
    pub(crate) pid: Vec<u32>,

    /// Record all processes on all processors
    #[arg(short, long, conflicts_with = "pid")]
    pub(crate) all_cpus: bool,

    /// Record the processes of a control group and of the groups below it
    ///
    /// NAME is a path such as system.slice/nginx.service. Needs perf 4.17 or later.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pid", "all_cpus"])]
    pub(crate) cgroup: Option<PathBuf>,

    /// Record a running container of docker, podman, nerdctl, crictl or machinectl
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pid", "all_cpus", "cgroup"])]
    pub(crate) container: Option<String>,

    /// Write the recording to FILE; an existing one becomes FILE.old
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Samples per second
    #[arg(short = 'F', long, value_name = "HZ", default_value_t = 997)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frequency: u32,

    /// Size of perf's buffer for each processor: pages, or a size with B, K, M or G
    ///
    /// It is rounded up to a power of two. A larger one loses fewer samples.
    #[arg(short, long, value_name = "SIZE", value_parser = BufferSize::parse)]
    pub(crate) mmap_pages: Option<BufferSize>,

    /// Bytes of the stack that each sample copies, up to 65528
    ///
    /// auto begins with the most. With --unwind and -p or -a, a second perf goes on with the least that keeps 99 % of
    /// the stacks complete.
    #[arg(long, value_name = "BYTES|auto", default_value_t = StackSize::Bytes(16_384))]
    #[arg(value_parser = StackSize::parse)]
    pub(crate) stack_size: StackSize,

    /// Event to sample, as for perf record; can be repeated
    ///
    /// Default: the processor's cycles, or cpu-clock if it has no counter.
    #[arg(short, long, value_name = "EVENT")]
    pub(crate) event: Vec<String>,

    /// Record each call of a function with its arguments; can be repeated
    ///
    /// FUNCTION(size,name=request->path) has the fields size and name. FUNCTION%return records the return with its value.
    /// `FILE:FUNCTION` names another file than the program and its libraries. The kernel reads the fields at each call.
    /// Needs root and debug information (-g).
    #[arg(long, value_name = "FUNCTION(ARG,…)")]
    pub(crate) probe: Vec<String>,

    /// Events of the probes, once they are set
    #[arg(skip)]
    pub(crate) probe_events: Vec<String>,

    /// Record context switches as well, for --weight off-cpu
    ///
    /// Tracepoints usually need root.
    #[arg(long, conflicts_with = "event")]
    pub(crate) off_cpu: bool,

    /// The perf command, version 3.7 or later; --off-cpu needs 4.3
    #[arg(long, value_name = "FILE", default_value = "perf", value_hint = ValueHint::ExecutablePath)]
    pub(crate) perf: PathBuf,

    /// Unwind while recording: the file has finished callchains instead of stacks
    ///
    /// It is smaller, and opens at once. Needs perf 5.10 or later.
    #[arg(long)]
    pub(crate) unwind: bool,

    /// Write records uncompressed, for programs that cannot read compressed ones
    #[arg(long)]
    pub(crate) no_compress: bool,

    /// Begin a new file every DURATION: FILE.TIME, each complete by itself
    ///
    /// SIGUSR2 begins the next one at once. DURATION is a number with s, m or h.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    #[arg(requires = "unwind", conflicts_with_all = ["bundle", "last"])]
    pub(crate) every: Option<Duration>,

    /// Keep the last N files of --every
    #[arg(long, value_name = "N", requires = "every")]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) keep: Option<usize>,

    /// End the recording at SIZE; with --every, remove the oldest files
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    #[arg(requires = "unwind", conflicts_with_all = ["bundle", "last"])]
    pub(crate) max_size: Option<u64>,

    /// Keep only the last DURATION, in memory: SIGUSR2 writes it to FILE.TIME, the end of the recording to FILE
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    #[arg(requires = "unwind", conflicts_with = "bundle")]
    pub(crate) last: Option<Duration>,

    /// Write a bundle instead: recording, files and names in one file, FILE.upb
    ///
    /// Default if FILE ends in .upb.
    #[arg(long, conflicts_with_all = ["buildid_dir", "store_size", "no_store"])]
    pub(crate) bundle: bool,

    /// Then write the page and open it in the browser, as report does
    #[arg(long)]
    pub(crate) open: bool,

    /// Show the recording in a browser while it is made, as live does
    #[cfg(feature = "service")]
    #[arg(long, requires = "unwind")]
    pub(crate) live: bool,

    /// Store files with samples in DIR, a build-id cache
    ///
    /// Other commands search it with the same option. Default: `$XDG_CACHE_HOME/unwind-perf/files`, which they always
    /// search.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) buildid_dir: Option<PathBuf>,

    /// Limit of the store [default: 2G]
    ///
    /// It is at most a tenth of the free space. The least recently used files are removed first.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) store_size: Option<u64>,

    /// Store no files: names and stacks are lost if a program is rebuilt or removed
    #[arg(long, conflicts_with_all = ["buildid_dir", "store_size"])]
    pub(crate) no_store: bool,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print all details of the summary
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// The command to record, with its arguments
    ///
    /// With --pid, --all-cpus, --cgroup or --container, its end ends the recording.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

#[cfg(test)]
impl RecordArgs {
    /// Parses the words of a line, as tests need them.
    pub(crate) fn of_line(line: &str) -> Self {
        use clap::FromArgMatches as _;
        let command = Self::augment_args(clap::Command::new("record"));
        let words = std::iter::once("record").chain(line.split_whitespace());
        let matches = command.try_get_matches_from(words).expect("arguments");
        Self::from_arg_matches(&matches).expect("arguments")
    }
}

impl RecordArgs {
    /// Returns true if the events are those of all processors, even if only a control group's samples are recorded.
    pub(crate) fn is_system_wide(&self) -> bool {
        self.all_cpus || self.cgroup.is_some() || self.container.is_some()
    }

    /// Returns true if the recording is shown while it is made.
    pub(crate) const fn is_live(&self) -> bool {
        #[cfg(feature = "service")]
        {
            self.live
        }
        #[cfg(not(feature = "service"))]
        false
    }
}
