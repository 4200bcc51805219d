//! The arguments of `live`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use options::parse_duration;

use super::serve::FrontArgs;

/// The arguments of `live`.
#[derive(Debug, Args)]
pub(crate) struct LiveArgs {
    /// A FIFO that perf record writes to; - for standard input
    #[arg(value_name = "FIFO", default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) stream: PathBuf,

    /// Retention of samples, such as 30s, 10m or 2h; all for no limit
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_keep)]
    pub(crate) keep: Keep,

    /// Write the stream to KEEP.perf as well
    ///
    /// It is KEEP.perf.part until the end, and is served like any recording afterwards.
    #[arg(short, long, value_name = "KEEP.perf", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) front: FrontArgs,
}

/// How long samples are kept; `None` for to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keep(pub(crate) Option<Duration>);

fn parse_keep(text: &str) -> Result<Keep, String> {
    if text == "all" {
        return Ok(Keep(None));
    }
    let wrong = |_| "expected a number with s, m or h, such as 10m, or all".to_owned();
    parse_duration(text).map(|time| Keep(Some(time))).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let seconds = |seconds| Ok(Keep(Some(Duration::from_secs(seconds))));
        assert_eq!(parse_keep("30"), seconds(30));
        assert_eq!(parse_keep("30s"), seconds(30));
        assert_eq!(parse_keep("10m"), seconds(600));
        assert_eq!(parse_keep("2h"), seconds(7200));
        assert_eq!(parse_keep("all"), Ok(Keep(None)));
        for text in ["", "m", "0", "0s", "-1s", "1d", "99999999999999999h", "ten"] {
            assert!(parse_keep(text).is_err(), "{text}");
        }
    }
}
