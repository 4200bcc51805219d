//! OTLP profiles, checked with the protocol's own Python bindings: its rules, our totals and functions, and its
//! receiver, which accepts our output by HTTP and by gRPC.

use std::process::Command;

use anyhow::{Context, Result};
use xtask::command;

use crate::consumers::truth::{Costs, Truth};
use crate::consumers::{Bench, tools};

const SCRIPT: &str = include_str!("otlp.py");

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let file = bench.write("ours.otlp", &["--format", "otlp"])?;
    let mut decode = Command::new("python3");
    decode.args(["-c", SCRIPT]).arg(&file).env("PYTHONPATH", tools::opentelemetry(bench)?);
    let printed = command::quiet_output(&mut decode)?;
    let mut lines = printed.lines();
    let (total, told) = lines.next().and_then(|line| line.split_once('\t')).context("no total")?;
    let costs = Costs::of_lines(lines)?;
    let weights = bench.folded(&["--weight", "period", "--root", "none"])?;
    let compared = Truth::of_folded(&weights)?.compare(total.parse()?, &costs)?;
    Ok(format!("{compared}; {told}"))
}
