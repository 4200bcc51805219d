//! The arguments of `diff`.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueHint};
use formats::DiffFormat;
use options::{CostKind, Normalization, Percent, SpanLimit, Weight, parse_share};
use profile::query::diff::DiffPair;

use super::profile::RunArgs;
use crate::args::groups::OffCpuArgs;
use crate::args::values::ChoiceParser;

/// The arguments of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The recording before and the one after; with -- between them, several on each side
    #[arg(value_name = "BEFORE AFTER", value_hint = ValueHint::FilePath, required = true)]
    recordings: Vec<PathBuf>,

    /// The recordings after, where there are several on a side: three or more of each tell how far runs of one program
    /// are apart
    #[arg(value_name = "AFTER", value_hint = ValueHint::FilePath, last = true)]
    after: Vec<PathBuf>,

    /// Format of the output [default: by the ending of FILE, else text]
    #[arg(short, long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) format: Option<DiffFormat>,

    /// The divisor of costs: time, share, samples, or A=NUMBER,B=NUMBER
    ///
    /// time: seconds of the recording. share: the total. samples: none, each sample counts 1. A=NUMBER,B=NUMBER: the
    /// work before and after, such as requests. Default: time if events, rates and threads are equal, else share.
    #[arg(long, value_name = "HOW", value_parser = Normalization::from_str)]
    pub(crate) normalize: Option<Normalization>,

    /// Match functions by their full names only
    ///
    /// Hashes of rustc and suffixes of copies such as .isra.0 are then part of the name.
    #[arg(long)]
    pub(crate) exact_names: bool,

    /// Compare module A (before) with module B (after); can be repeated
    ///
    /// A and B are names, or paths as recorded.
    #[arg(long = "pair", value_name = "A=B", value_parser = DiffPair::from_str)]
    pub(crate) pairs: Vec<DiffPair>,

    /// By which cost functions are ranked, and judged by --fail-above [default: own; with --weight off-cpu inclusive,
    /// since all threads leave in one function of the kernel]
    #[arg(long, value_name = "COST", value_parser = ChoiceParser::<CostKind>::all())]
    by: Option<CostKind>,

    /// The most rows of the table; 0 for all [default: 10]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// Compare the samples inside spans that are longer than TIME with those inside the others, of one recording
    ///
    /// TIME is a duration such as 10ms, or p99. Needs --span and --inside NAME. Costs are divided by the total by default.
    #[arg(long, value_name = "TIME", requires = "inside", conflicts_with_all = ["longer_than", "up_to"])]
    pub(crate) slow: Option<SpanLimit>,

    /// Exit with status 1 if a changed function grew by more than PCT of the old total
    ///
    /// The output is written first. The status is also 1 if more than 5 % of one side is not compared.
    #[arg(long, value_name = "PCT", value_parser = parse_share)]
    pub(crate) fail_above: Option<Percent>,

    #[command(flatten)]
    pub(crate) weight: OffCpuArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Default number of rows.
const ROWS: usize = 10;

impl DiffArgs {
    /// The recordings before and those after.
    pub(crate) fn sides(&self) -> anyhow::Result<[Vec<&Path>; 2]> {
        let sides = match (&*self.recordings, &*self.after) {
            ([recording], []) if self.slow.is_some() => {
                [vec![recording.as_path()], vec![recording.as_path()]]
            }
            _ if self.slow.is_some() => bail!("--slow compares parts of one recording; give one"),
            ([before, after], []) => [vec![before.as_path()], vec![after.as_path()]],
            (_, []) => bail!(
                "give two recordings, or several per side with -- between: A1 A2 A3 -- B1 B2 B3"
            ),
            (before, after) => {
                [before, after].map(|side| side.iter().map(PathBuf::as_path).collect())
            }
        };
        let is_option = |path: &&Path| path.to_string_lossy().starts_with("--");
        if let Some(option) = sides.iter().flatten().copied().find(is_option) {
            bail!("{}: options go before the -- between the sides", option.display());
        }
        let streams = sides.iter().flatten().filter(|path| **path == Path::new("-")).count();
        if streams > 1 {
            bail!("only one recording can come from standard input");
        }
        Ok(sides)
    }

    /// Whether functions are ranked by their inclusive cost.
    pub(crate) fn inclusive(&self) -> bool {
        match self.by {
            Some(by) => by == CostKind::Inclusive,
            None => self.weight.weight() == Weight::OffCpu,
        }
    }

    /// The most rows of the table.
    pub(crate) fn rows(&self) -> usize {
        self.limit.unwrap_or(ROWS)
    }

    /// The first option that means nothing to a format.
    pub(crate) fn without_effect(&self, format: DiffFormat) -> Option<&'static str> {
        let is_table = format == DiffFormat::Text;
        match () {
            () if is_table => None,
            () if self.limit.is_some() => Some("--limit"),
            () if self.by.is_some() && self.fail_above.is_none() => Some("--by"),
            () => None,
        }
    }
}

fn format_parser() -> impl clap::builder::TypedValueParser<Value = DiffFormat> {
    let value = |format: &DiffFormat| PossibleValue::new(format.name()).help(format.about());
    let names = PossibleValuesParser::new(DiffFormat::ALL.iter().map(value));
    names.try_map(|name| DiffFormat::from_name(&name).ok_or("no such format"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        diff: DiffArgs,
    }

    fn sides(arguments: &[&str]) -> Result<String, String> {
        let arguments = ["x"].iter().chain(arguments);
        let only = Only::try_parse_from(arguments).map_err(|error| error.to_string())?;
        only.diff.sides().map(|sides| format!("{sides:?}")).map_err(|error| error.to_string())
    }

    #[test]
    fn sides_are_told_apart() {
        assert_eq!(sides(&["a", "b"]), Ok(r#"[["a"], ["b"]]"#.to_owned()));
        let several = sides(&["a", "b", "-q", "--", "c", "d", "e"]);
        assert_eq!(several, Ok(r#"[["a", "b"], ["c", "d", "e"]]"#.to_owned()));
        assert_eq!(sides(&["a", "-"]), Ok(r#"[["a"], ["-"]]"#.to_owned()));
        for wrong in [&["a"][..], &["a", "b", "c"], &[]] {
            assert!(sides(wrong).is_err(), "{wrong:?}");
        }
        let late = sides(&["a", "--", "b", "--limit=3"]);
        let expected = "--limit=3: options go before the -- between the sides";
        assert_eq!(late, Err(expected.to_owned()));
        let twice = sides(&["-", "-"]);
        assert_eq!(twice, Err("only one recording can come from standard input".to_owned()));
    }
}
