//! The arguments that choose samples.

use clap::Args;

/// Numbers of processors. Clap takes a `Vec` for an argument that can be repeated.
type CpuList = std::sync::Arc<[u32]>;

fn parse_cpus(text: &str) -> Result<CpuList, String> {
    options::parse_cpus(text).map(Into::into)
}

/// The samples that are wanted. The mappings are replayed in full whatever they are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Only samples of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub(crate) pid: Vec<i32>,

    /// Only samples of these threads
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only samples of threads with these names; * and ? are wildcards
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) comm: Vec<String>,

    /// Only samples of these control groups
    ///
    /// Recordings made with --all-cgroups have them: paths such as /user.slice, or patterns such as '/user.slice/*'.
    #[arg(long, value_name = "PATH,…", value_delimiter = ',')]
    pub(crate) cgroup: Vec<String>,

    /// Only samples of these events
    ///
    /// Names or patterns, with or without modifiers such as :u.
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',')]
    pub(crate) event: Vec<String>,

    /// Only samples on these processors, such as 0,2-5
    ///
    /// The recording must state them (perf record -a or --sample-cpu).
    #[arg(long, value_name = "CPU,…", value_parser = parse_cpus)]
    pub(crate) cpu: Option<CpuList>,

    /// Only samples from time A to time B; either can be empty
    ///
    /// Seconds of the recording's clock, as perf script prints them; with +, seconds from the first sample (+1.5,+2);
    /// with %, parts of the recording (10%-20%).
    #[arg(long, value_name = "A,B")]
    pub(crate) time: Option<String>,
}
