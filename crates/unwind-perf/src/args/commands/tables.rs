//! The arguments of `top` and `tree`.

use clap::Args;
use options::{ChoiceOrValue, CostKind, GroupBy, Percent, TopFormat, parse_share};

use super::profile::{InputArg, RunArgs};
use crate::args::groups::WeightArgs;
use crate::args::values::{ChoiceOrValueParser, ChoiceParser};

/// The words of `--by`, and names of labels and fields.
const GROUPING: ChoiceOrValueParser<GroupBy> =
    ChoiceOrValueParser::new("field:NAME", "A field of samples; for a label, give its name");

/// The arguments of `top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Rows of the table
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = GROUPING)]
    pub(crate) by: ChoiceOrValue<GroupBy>,

    /// Cost by which rows are sorted
    #[arg(long, value_name = "COST", default_value_t, value_parser = ChoiceParser::<CostKind>::all())]
    pub(crate) sort: CostKind,

    /// Format of the output [default: by the ending of FILE, else text]
    #[arg(short, long, value_name = "FORMAT", value_parser = ChoiceParser::<TopFormat>::all())]
    pub(crate) format: Option<TopFormat>,

    /// Maximum of rows; 0 for all [default: 25; json, csv: 0]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// The arguments of `spans`.
#[derive(Debug, Args)]
pub(crate) struct SpansArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// A label or field of the BEGIN event; each of its values has a row
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,

    /// Format of the output [default: by the ending of FILE, else text]
    #[arg(short, long, value_name = "FORMAT", value_parser = ChoiceParser::<TopFormat>::all())]
    pub(crate) format: Option<TopFormat>,

    /// Maximum of rows; 0 for all [default: 25; json, csv: 0]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// The arguments of `tree`.
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) input: InputArg,

    /// Start from the innermost functions, with their callers below
    #[arg(long)]
    pub(crate) bottom_up: bool,

    /// Omit entries below this share of the total
    #[arg(long, value_name = "PCT", value_parser = parse_share, default_value = "0.5%")]
    pub(crate) min: Percent,

    /// Format of the output [default: by the ending of FILE, else text]
    #[arg(short, long, value_name = "FORMAT", value_parser = ChoiceParser::<TopFormat>::all())]
    pub(crate) format: Option<TopFormat>,

    /// The most lines; 0 for all [default: 200; json, csv: 0]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Show incomplete stacks as they are, not below one [truncated] frame
    #[arg(long, conflicts_with = "bottom_up")]
    pub(crate) keep_unrooted: bool,

    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}
