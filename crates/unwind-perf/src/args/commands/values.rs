//! The arguments of `values`.

use clap::Args;
use options::TopFormat;

use super::profile::{InputArg, RunArgs};
use crate::args::values::ChoiceParser;

/// The formats of a list.
const FORMATS: ChoiceParser<TopFormat> = ChoiceParser::of(&[TopFormat::Text, TopFormat::Json]);

/// The arguments of `values`.
#[derive(Debug, Args)]
pub(crate) struct ValuesArgs {
    /// The function: its plain or qualified name, or a signature
    #[arg(value_name = "FUNCTION")]
    pub(crate) function: String,

    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Format of the output [default: by the ending of FILE, else text]
    #[arg(short, long, value_name = "FORMAT", value_parser = FORMATS)]
    pub(crate) format: Option<TopFormat>,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}
