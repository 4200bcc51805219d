//! The arguments of `annotate`.

use clap::Args;
use options::TopFormat;

use super::profile::{InputArg, RunArgs};
use crate::args::groups::{SourceArgs, WeightArgs};
use crate::args::values::ChoiceParser;

/// The formats. CSV has one kind of rows and does not fit.
const FORMATS: [TopFormat; 2] = [TopFormat::Text, TopFormat::Json];

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

    /// Format of the output [default: json if FILE ends in .json, else text]
    #[arg(short, long, value_name = "FORMAT", value_parser = ChoiceParser::of(&FORMATS))]
    pub(crate) format: Option<TopFormat>,

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
