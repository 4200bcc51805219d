//! The arguments of `inject`.

use std::path::PathBuf;

use clap::Args;

use crate::args::groups::FileArgs;

/// The arguments of `inject`.
#[derive(Debug, Args)]
pub(crate) struct InjectArgs {
    /// The recording: an uncompressed file
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    /// Write to FILE; it appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}
