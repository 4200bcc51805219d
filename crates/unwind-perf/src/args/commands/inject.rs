//! The arguments of `inject`.

use std::path::PathBuf;

use clap::Args;

use crate::args::groups::FileArgs;

/// The arguments of `inject`.
#[derive(Debug, Args)]
pub(crate) struct InjectArgs {
    /// The recording; an uncompressed file unless callchains are converted, which may also be a stream (-)
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    /// Write to FILE; it appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Write callchains instead of stacks and registers
    ///
    /// Each sample has all its frames, with their evidence, so that a second reading shows the same stacks. Other tools
    /// read the callchains. JIT code and map hints are not written.
    #[arg(long)]
    pub(crate) convert_callchain: bool,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}
