//! gdb's values at the stops.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;
use xtask::command;

use super::programs::Built;

/// Script that gdb runs.
const SCRIPT: &str = include_str!("stops.py");

/// Everything that gdb states of a program.
#[derive(Debug)]
pub(super) struct Run {
    /// Lowest address of the program in the process.
    pub(super) start: u64,
    /// Its stops.
    pub(super) stops: Vec<Stop>,
}

#[derive(Deserialize)]
struct Head {
    start: String,
}

/// A stop.
#[derive(Deserialize, Debug)]
pub(super) struct Stop {
    /// Stack pointer.
    #[serde(deserialize_with = "number")]
    pub(super) start: u64,
    /// Stack from there, in hexadecimal digits.
    pub(super) stack: String,
    /// Physical frames, innermost first.
    pub(super) frames: Vec<Frame>,
    /// Text of `/proc/PID/maps`, if it differs from that of the stop before.
    #[serde(default)]
    pub(super) maps: Option<String>,
}

impl Stop {
    /// Bytes of the stack.
    pub(super) fn stack_bytes(&self) -> Vec<u8> {
        let digit = |c: &u8| char::from(*c).to_digit(16).unwrap_or(0) as u8;
        let pairs = self.stack.as_bytes().chunks_exact(2);
        pairs.map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect()
    }
}

/// A physical frame.
#[derive(Deserialize, Debug)]
pub(super) struct Frame {
    /// The instruction, or the return address.
    #[serde(deserialize_with = "number")]
    pub(super) pc: u64,
    /// Registers by DWARF number, in decimal digits.
    pub(super) registers: BTreeMap<u16, String>,
    /// Canonical frame address, in hexadecimal digits after `0x`.
    pub(super) cfa: Option<String>,
    /// Functions, innermost first.
    pub(super) functions: Vec<Function>,
}

/// A function of a frame.
#[derive(Deserialize, Debug)]
pub(super) struct Function {
    /// Name.
    pub(super) name: String,
    /// Path, kind and value of each variable and its fields.
    pub(super) variables: Vec<Vec<String>>,
}

fn number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// Maximum number of runs: gdb ends early if it meets a fault of its own.
const RUNS: u64 = 12;

/// Runs a program under gdb until it has stopped that often.
pub(super) fn values(program: &Built, stops: u64) -> Result<Run> {
    let script = program.file.with_extension("stops.py");
    std::fs::write(&script, SCRIPT)?;
    let mut run = Run { start: 0, stops: Vec::new() };
    for seed in 1..=RUNS {
        let missing = stops.saturating_sub(run.stops.len() as u64);
        if missing == 0 {
            break;
        }
        let output = program.file.with_extension(format!("{seed}.json"));
        let mut gdb = command::words("gdb -batch -nx -x");
        gdb.arg(&script).arg(&program.file);
        // A gdb that crashes writes its core into the current folder.
        gdb.current_dir(program.file.parent().context("no folder")?);
        gdb.env("VALUES_OUT", &output).env("VALUES_STOPS", missing.to_string());
        gdb.env("VALUES_SOURCE", program.source).env("VALUES_SEED", seed.to_string());
        if let Err(error) = command::quiet_output(&mut gdb) {
            eprintln!("gdb ended early: {}", error.to_string().lines().next().unwrap_or_default());
        }
        let text = std::fs::read_to_string(&output).context("gdb wrote nothing")?;
        let mut lines = text.lines();
        let head: Head = serde_json::from_str(lines.next().context("gdb wrote no line")?)?;
        run.start = head.start.parse()?;
        // The last line is partial if gdb ended early.
        run.stops.extend(lines.map_while(|line| serde_json::from_str(line).ok()));
    }
    Ok(run)
}
