//! Our chains of the stops.

use std::io::BufRead as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::compared;

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::truth) enum Kind {
    /// A frame at the current instruction or at a call.
    Plain,
    /// A frame left by a jump; its address is that of the jump.
    Tail,
    /// Any number of frames that were left by jumps.
    Tails,
    /// Any number of frames.
    Gap,
}

/// A frame of ours that is not inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::truth) struct Frame {
    /// Looked-up address: one before the return address, that of the jump, or that of the current instruction.
    pub(in crate::truth) addr: u64,
    /// Kind of the frame.
    pub(in crate::truth) kind: Kind,
    /// Name of the function, with its module.
    pub(in crate::truth) name: String,
}

/// Our chain of a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::truth) struct Chain {
    /// End reason.
    pub(in crate::truth) end: String,
    /// Frames, innermost first.
    pub(in crate::truth) frames: Vec<Frame>,
}

impl Chain {
    /// Returns true if it claims to be complete, with or without marks for omitted frames.
    pub(in crate::truth) fn claims_root(&self) -> bool {
        matches!(self.end.as_str(), "root" | "root-across-gap")
    }
}

#[derive(Deserialize)]
struct Sample {
    end: String,
    frames: Vec<Raw>,
}

#[derive(Deserialize)]
struct Raw {
    addr: String,
    #[serde(default)]
    module: String,
    #[serde(default)]
    function: Option<String>,
    inlined: bool,
    found_by: String,
}

/// Unwinds a recording of stops without frames of other samples.
pub(in crate::truth) fn chains(ours: &Path, recording: &Path) -> Result<Vec<Chain>> {
    let mut command = Command::new(ours);
    command.args(["--format", "ndjson", "--quiet", "--no-join", "--no-inline"]);
    command.args(["--max-frames", "100000"]).arg(recording);
    compared::read_output(&mut command, &[0, 1], |output| {
        output.lines().map(|line| chain(&line?)).collect()
    })
}

fn chain(line: &str) -> Result<Chain> {
    let sample: Sample = serde_json::from_str(line).with_context(|| line.to_owned())?;
    let frames = sample.frames.into_iter().filter(|raw| !raw.inlined).map(frame);
    Ok(Chain { end: sample.end, frames: frames.collect::<Result<_>>()? })
}

fn frame(raw: Raw) -> Result<Frame> {
    let hex = raw.addr.trim_start_matches("0x");
    let kind = match raw.found_by.as_str() {
        "tail-call" => Kind::Tail,
        "tail-calls" => Kind::Tails,
        "gap" => Kind::Gap,
        _ => Kind::Plain,
    };
    let module = raw.module.rsplit('/').next().unwrap_or_default();
    let name = format!("{module}:{}", raw.function.unwrap_or_default());
    Ok(Frame { addr: u64::from_str_radix(hex, 16).context(raw.addr)?, kind, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_their_kinds() {
        let line = concat!(
            r#"{"end":"root-across-gap","frames":["#,
            r#"{"addr":"0x10","module":"/a/b","function":"f","inlined":false,"found_by":"sampled"},"#,
            r#"{"addr":"0x18","module":"/a/b","function":"g","inlined":false,"found_by":"tail-call"},"#,
            r#"{"addr":"0x0","function":"[tail calls]","inlined":false,"found_by":"tail-calls"},"#,
            r#"{"addr":"0x20","module":"/a/b","function":"i","inlined":true,"found_by":"cfi"},"#,
            r#"{"addr":"0x20","module":"/a/b","inlined":false,"found_by":"cfi"}]}"#
        );
        let found = chain(line).unwrap();
        assert!(found.claims_root());
        let frames: Vec<_> = found
            .frames
            .iter()
            .map(|frame| (frame.addr, frame.kind, frame.name.as_str()))
            .collect();
        assert_eq!(
            frames,
            [
                (0x10, Kind::Plain, "b:f"),
                (0x18, Kind::Tail, "b:g"),
                (0, Kind::Tails, ":[tail calls]"),
                (0x20, Kind::Plain, "b:"),
            ]
        );
    }
}
