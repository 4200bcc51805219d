//! Times on a recording's clock.

use address::Timestamp;
use anyhow::Context as _;
use options::parse_seconds;

/// A range of time, `A,B` in seconds of the recording's clock, either of which may be left out.
pub(crate) fn clock_range(text: &str) -> anyhow::Result<(Option<Timestamp>, Option<Timestamp>)> {
    let (from, to) = text.split_once(',').context("no comma")?;
    let time = |text: &str| parse_seconds(text).map_err(anyhow::Error::msg);
    Ok((time(from)?.map(Timestamp), time(to)?.map(Timestamp)))
}

/// A point in time in seconds, as perf script prints it.
pub(crate) fn time_of(text: &str) -> anyhow::Result<Timestamp> {
    let time = parse_seconds(text).map_err(anyhow::Error::msg)?;
    time.map(Timestamp).with_context(|| format!("{text:?} is no time"))
}
