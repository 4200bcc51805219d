//! The arguments of `values`.

use clap::Args;

use super::profile::{InputArg, RunArgs};

/// The arguments of `values`.
#[derive(Debug, Args)]
pub(crate) struct ValuesArgs {
    /// The function: its plain or qualified name, or a signature
    #[arg(value_name = "FUNCTION")]
    pub(crate) function: String,

    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}
