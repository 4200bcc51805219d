//! The arguments of `tui`.

use clap::Args;

use super::profile::{InputArg, RunArgs};
use crate::args::groups::{SourceArgs, WeightArgs};

/// The arguments of `tui`.
#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}
