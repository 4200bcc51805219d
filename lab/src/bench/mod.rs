//! `cargo lab bench`: times our program and its peers alternately on the same warm recordings, and writes the table
//! into docs/BENCHMARKING.md. Outputs are checked first: a program that loses samples is not faster.

mod floor;
mod inputs;
mod instructions;
mod measure;
mod page;
mod report;
mod tools;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Result, bail};
use xtask::args::Args;
use xtask::command;

use crate::compare;
pub(crate) use floor::run as run_floor;
use inputs::Making;
use measure::Usage;
use tools::Tool;

/// Number of runs, and their time limit.
struct Plan {
    runs: usize,
    slow_runs: usize,
    limit: Duration,
}

/// The measurements of one recording.
struct Measured {
    name: String,
    bytes: u64,
    samples: usize,
    frames: usize,
    /// Counts of each peer's output, from the check before the measurement.
    checked: Vec<String>,
    /// Times of the stages of one of our runs, from `--timings`.
    stages: String,
    rows: Vec<ToolRuns>,
}

/// Runs of one tool.
struct ToolRuns {
    /// True if it only states the cost of the input.
    is_unit: bool,
    tool: String,
    peer: Option<String>,
    usages: Vec<Usage>,
    /// Reason why there are no runs, or error in the output.
    note: Option<String>,
}

/// Creates missing inputs, measures, and writes the page.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let making =
        Making { size: args.number("--size", 1000)?, frequency: args.number("--freq", 397)? };
    let only = args.value("--input")?;
    let ours = args.value("--ours")?;
    let data = command::root().join("bench-data");
    if args.flag("--instructions") {
        args.finish()?;
        return count(only.as_deref(), ours.as_deref(), &data, &making);
    }
    let plan = Plan {
        runs: args.number("--runs", 5)?,
        slow_runs: args.number("--slow-runs", 1)?,
        limit: Duration::from_secs(args.number("--limit", 600)?),
    };
    let mut perfs = vec!["perf".to_owned()];
    while let Some(perf) = args.value("--perf")? {
        perfs.push(perf);
    }
    args.finish()?;
    if plan.runs == 0 || plan.slow_runs == 0 {
        bail!("at least one run");
    }
    let ours = command::ours(ours)?;
    let tools = tools::all(&ours, &perfs, &data)?;
    let mut sections = Vec::new();
    for name in chosen(only.as_deref())? {
        let file = inputs::get(name, &data, &making)?;
        let state = report::state();
        let result = measure_all(name, &file, &ours, &tools, &plan)?;
        let section = report::section(&state, &result);
        println!("{section}\n{}", result.stages);
        sections.push(section);
    }
    report::write(&report::machine(), &sections)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the selected inputs: all, or the named one.
fn chosen(only: Option<&str>) -> Result<Vec<&'static str>> {
    let wanted = |&name: &&str| only.is_none_or(|only| only == name);
    let chosen: Vec<_> = inputs::NAMES.iter().copied().filter(wanted).collect();
    if chosen.is_empty() {
        bail!("no such input; there are: {}", inputs::NAMES.join(" "));
    }
    Ok(chosen)
}

/// Counts instructions instead of times. The table of all inputs goes into the page.
fn count(only: Option<&str>, ours: Option<&str>, data: &Path, making: &Making) -> Result<ExitCode> {
    let program = instructions::program(ours)?;
    let mut counted = Vec::new();
    for name in chosen(only)? {
        let file = inputs::get(name, data, making)?;
        counted.push(instructions::count(name, &file, &program, data)?);
    }
    let table = instructions::table(&report::machine(), &counted);
    println!("{}", table.text);
    if only.is_none() {
        table.write()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure_all(
    name: &str,
    file: &Path,
    ours: &Path,
    tools: &[Tool],
    plan: &Plan,
) -> Result<Measured> {
    let bytes = std::fs::metadata(file)?.len();
    let (samples, frames) = compare::count("ours", file, Some(ours))?;
    let mut result = Measured {
        name: name.to_owned(),
        bytes,
        samples,
        frames,
        checked: Vec::new(),
        stages: stages(ours, file)?,
        rows: Vec::new(),
    };
    let row = |tool: &Tool| {
        let (name, peer) = (tool.name.clone(), tool.peer.clone());
        ToolRuns { is_unit: tool.is_unit, tool: name, peer, usages: Vec::new(), note: None }
    };
    result.rows = tools.iter().map(row).collect();
    std::io::copy(&mut std::fs::File::open(file)?, &mut std::io::sink())?;
    // A tool that exceeds the time limit cannot be checked for its samples either.
    for (tool, row) in tools.iter().zip(&mut result.rows).filter(|(tool, _)| tool.first) {
        time(tool, file, plan, row);
    }
    verify(&mut result, file);
    for _ in 0..plan.runs.max(plan.slow_runs) {
        for (tool, row) in tools.iter().zip(&mut result.rows) {
            let takes_long = row.usages.first().is_some_and(|first| first.wall > LONG);
            let wanted = if takes_long { plan.slow_runs } else { plan.runs };
            if row.usages.len() < wanted && row.note.is_none() {
                time(tool, file, plan, row);
            }
        }
    }
    Ok(result)
}

/// Runs longer than this are repeated fewer times.
const LONG: Duration = Duration::from_secs(15);

fn time(tool: &Tool, file: &Path, plan: &Plan, row: &mut ToolRuns) {
    let mut command = tool.command(file);
    command::announce(&command);
    match measure::measure(&mut command, tool.good, plan.limit) {
        Ok(Some(usage)) => {
            eprintln!(
                "  {:.3} s, {:.2} s of processors, {} MB",
                usage.wall.as_secs_f64(),
                usage.cpu.as_secs_f64(),
                usage.peak_rss >> 20
            );
            row.usages.push(usage);
        }
        Ok(None) => row.note = Some(format!("more than {} s", plan.limit.as_secs())),
        Err(error) => row.note = Some(format!("failed: {error}")),
    }
}

/// Returns the stages of one run.
fn stages(ours: &Path, file: &Path) -> Result<String> {
    let mut command = Command::new(ours);
    command.args(["--quiet", "--timings", "--output", "/dev/null", "--format", "json"]).arg(file);
    command.env("UNWIND_PERF_CACHE", "off");
    command::announce(&command);
    let output = command.output()?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Checks that every tool with a readable output reports as many samples as our program.
fn verify(result: &mut Measured, file: &Path) {
    let mut peers: Vec<(String, String)> = Vec::new();
    for row in result.rows.iter().filter(|row| !row.usages.is_empty()) {
        if let Some(peer) = row.peer.as_ref().filter(|&peer| peers.iter().all(|it| it.0 != *peer)) {
            // Both rows of a perf version have one output to check; its name is that of the program.
            let name = row.tool.split(" script").next().unwrap_or_default();
            peers.push((peer.clone(), name.to_owned()));
        }
    }
    for (peer, name) in peers {
        let note = match compare::count(&peer, file, None) {
            Ok((samples, frames)) => {
                result.checked.push(format!("{name} {samples} samples, {frames} frames"));
                if samples == result.samples {
                    continue;
                }
                format!("{samples} samples")
            }
            Err(error) => format!("failed: {error:#}"),
        };
        for row in result.rows.iter_mut().filter(|row| row.peer.as_ref() == Some(&peer)) {
            row.usages.clear();
            row.note = Some(note.clone());
        }
    }
}
