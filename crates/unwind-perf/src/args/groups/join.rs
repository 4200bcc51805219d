//! The frames of callchains that the sample itself does not show.

use clap::Args;
use options::Join;

use crate::args::values::ChoiceParser;

/// The arguments on frames that the sample itself does not show.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// Completion of truncated callchains with frames of the thread's other samples
    #[arg(long, value_name = "HOW", default_value_t, value_parser = ChoiceParser::of(&[Join::Exact, Join::Gaps]))]
    pub(crate) join: Join,

    /// Do not complete truncated callchains
    #[arg(long, conflicts_with = "join")]
    pub(crate) no_join: bool,

    /// Omit functions that ended in a tail call
    #[arg(long)]
    pub(crate) no_tail_calls: bool,
}

impl From<&JoinArgs> for Join {
    fn from(args: &JoinArgs) -> Self {
        if args.no_join { Self::Off } else { args.join }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        join: JoinArgs,
    }

    #[test]
    fn words_are_read() {
        let read = |arguments: &[&str]| {
            let arguments = ["x"].iter().chain(arguments);
            Only::try_parse_from(arguments).map(|only| Join::from(&only.join)).ok()
        };
        assert_eq!(read(&[]), Some(Join::Gaps));
        assert_eq!(read(&["--join", "gaps"]), Some(Join::Gaps));
        assert_eq!(read(&["--join=exact"]), Some(Join::Exact));
        assert_eq!(read(&["--no-join"]), Some(Join::Off));
        assert_eq!(read(&["--no-join", "--join", "exact"]), None, "one or the other");
        assert_eq!(read(&["--join", "off"]), None);
    }
}
