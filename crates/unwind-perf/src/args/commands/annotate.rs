//! The arguments of `annotate`.

use clap::Args;

use super::profile::{InputArg, RunArgs};
use crate::args::groups::{SourceArgs, WeightArgs};

/// How a function is named.
const FUNCTION: &str = "The function: its name or a part of it; FILE:NAME, an address or a mark selects one of several, \
as in 'parse (a.c:7)' of top";

/// The arguments of `annotate`.
#[derive(Debug, Args)]
pub(crate) struct AnnotateArgs {
    #[arg(value_name = "FUNCTION", help = FUNCTION)]
    pub(crate) function: String,

    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Omit the instructions
    #[arg(long)]
    pub(crate) no_code: bool,

    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}
