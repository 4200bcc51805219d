//! The arguments that choose samples.

use clap::Args;

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

    /// Only samples of threads with these names
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
