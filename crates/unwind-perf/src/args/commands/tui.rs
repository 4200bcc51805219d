//! The arguments of `tui`.

use clap::Args;

use super::profile::{InputArg, RunArgs};
use crate::args::groups::{FunctionArgs, SourceArgs, WeightArgs};

/// The arguments of `tui`.
#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    #[command(flatten)]
    pub(crate) functions: FunctionArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}
