//! The arguments of `annotate`.

use clap::Args;

use super::profile::{InputArg, RunArgs};
use crate::args::groups::{SourceArgs, WeightArgs};

/// The arguments of `annotate`.
#[derive(Debug, Args)]
pub(crate) struct AnnotateArgs {
    /// The function: its name, with or without parameters, or a part of it
    #[arg(value_name = "FUNCTION")]
    pub(crate) function: String,

    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Leave out the instructions
    #[arg(long)]
    pub(crate) no_code: bool,

    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}
