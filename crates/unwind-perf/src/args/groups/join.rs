//! How far callchains go on with frames of other samples.

use clap::{Args, ValueEnum};
use pipeline::Join;

/// The arguments on callchains that the copy of the stack cut off.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// How far a callchain that the copy of the stack cut off goes on with frames that other samples of its thread show
    #[arg(long, value_name = "HOW", value_enum, default_value_t = JoinArg::Gaps)]
    pub(crate) join: JoinArg,

    /// Leave callchains as their own samples show them
    #[arg(long, conflicts_with = "join")]
    pub(crate) no_join: bool,
}

/// How far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JoinArg {
    /// As far as other samples show each frame
    Exact,
    /// To the root, with a frame [gap] for what no sample shows between
    Gaps,
}

impl From<&JoinArgs> for Join {
    fn from(args: &JoinArgs) -> Self {
        match args.join {
            _ if args.no_join => Self::Off,
            JoinArg::Exact => Self::Exact,
            JoinArg::Gaps => Self::Gaps,
        }
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
