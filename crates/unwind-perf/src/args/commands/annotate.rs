//! The arguments of `annotate`.

use clap::Args;

use super::profile::{InputArg, RunArgs};
use crate::args::groups::{SourceArgs, WeightArgs};

/// How a function is named.
const FUNCTION: &str = "The function: its name, with or without parameters, or a part of it; if several have that name, \
FILE:NAME, the address of its start, or the name with its mark as top shows it: 'parse (a.c:7)'";

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
