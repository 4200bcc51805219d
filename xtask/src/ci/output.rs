//! Checks of the command's output with its readers: JSON, complete stacks, pipes, streams, other programs.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::input::recorder;
use super::{Bench, Outcome, ensure, lab, succeeds};
use crate::command;

/// Number of samples in the recording of README's first command.
const README_SAMPLES: u64 = 31;
/// Minimum share of samples with complete stacks, in percent.
const COMPLETE: usize = 95;

/// Reads the JSON tables with another reader: columns have the length of their table, samples add up.
const PYTHON: &str = r#"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    tables = json.load(file)
for name, table in tables.items():
    if isinstance(table, dict) and "length" in table:
        assert all(len(column) == table["length"] for column in table.values() if isinstance(column, list)), name
assert tables["samples"]["length"] == tables["summary"]["samples"] == sum(tables["summary"]["end"]) > 0
"#;

/// Checks that the first command of README prints the documented output.
pub(super) fn readme_command(bench: &Bench) -> Result<Outcome> {
    let readme = std::fs::read_to_string(bench.root.join("README.md"))?;
    let line = readme
        .lines()
        .filter(|line| line.starts_with("cargo run "))
        .find_map(|line| line.strip_suffix(" > stacks.json"))
        .context("no such command in README.md")?;
    let text = command::output(command::words(line).current_dir(&bench.root))?;
    let samples = serde_json::from_str::<Value>(&text)?["summary"]["samples"].as_u64();
    ensure(samples == Some(README_SAMPLES), format!("{samples:?} samples"))
}

/// Checks that Python reads the JSON.
pub(super) fn json_is_read(bench: &Bench) -> Result<Outcome> {
    let file = bench.scratch.join("stacks.json");
    command::run(bench.ours(&["--output"]).arg(&file))?;
    let script = bench.scratch.join("read_tables.py");
    std::fs::write(&script, PYTHON)?;
    command::run(Command::new("python3").arg(&script).arg(&file))?;
    Ok(Outcome::Passed)
}

/// Checks that nearly all stacks reach `main` and the root.
pub(super) fn stacks_are_complete(bench: &Bench) -> Result<Outcome> {
    let text = command::output(&mut bench.ours(&["--format", "ndjson"]))?;
    let samples: Vec<Value> =
        text.lines().map(serde_json::from_str).collect::<Result<_, serde_json::Error>>()?;
    let is_complete = |sample: &&Value| {
        let frames = sample["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
        sample["end"] == "root" && frames.iter().any(|frame| frame["function"] == "main")
    };
    let complete = samples.iter().filter(is_complete).count();
    println!("{complete} of {} are complete", samples.len());
    ensure(
        !samples.is_empty() && complete * 100 >= COMPLETE * samples.len(),
        "too many stacks are not complete",
    )
}

/// Checks that a reader that closes the pipe after the first line, as `head` does, is not a failure.
pub(super) fn readers_may_stop(bench: &Bench) -> Result<Outcome> {
    let mut ours = bench.ours(&["--format", "ndjson"]);
    command::announce(&ours);
    let mut child = ours.stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    if let Some(pipe) = child.stdout.take() {
        BufReader::new(pipe).read_line(&mut line)?;
    }
    let status = child.wait()?;
    let sample: Value = serde_json::from_str(&line)?;
    ensure(
        status.success() && sample["frames"][0]["found_by"] == "sampled",
        format!("{status}, first line {line}"),
    )
}

/// Checks that perf's output is read from a pipe.
pub(super) fn streams_are_read(bench: &Bench) -> Result<Outcome> {
    let Some(program) = &bench.input.recorded else {
        return Ok(Outcome::Skipped("perf does not record here".to_owned()));
    };
    let stream = bench.scratch.join("stream");
    let mut perf = recorder(Path::new("-"), program);
    command::run(perf.stdout(File::create(&stream)?).stderr(Stdio::null()))?;
    let mut ours = Command::new(&bench.ours);
    ours.args(["--quiet", "-", "--format", "folded"]).stdin(File::open(&stream)?);
    command::announce(&ours);
    let output = ours.output()?;
    let folded = String::from_utf8_lossy(&output.stdout);
    let found = folded.lines().any(|line| {
        line.split_once(";main;").is_some_and(|(_, below)| format!(";{below}").contains(";spin "))
    });
    ensure(output.status.success() && found, format!("{}, no spin below main", output.status))
}

/// Checks for a single `execve`, our own, and no sockets.
pub(super) fn starts_nothing(bench: &Bench) -> Result<Outcome> {
    if !succeeds(&mut command::words("strace -qq -e trace=none true")) {
        return Ok(Outcome::Skipped("strace does not trace here".to_owned()));
    }
    let trace = bench.scratch.join("trace");
    let mut strace = command::words("strace -f -qq -e trace=execve,socket,connect -o");
    let ours = bench.ours(&["--output"]);
    strace.arg(&trace).arg(ours.get_program()).args(ours.get_args());
    command::run(strace.arg(bench.scratch.join("traced.json")))?;
    let text = std::fs::read_to_string(&trace)?;
    print!("{text}");
    let calls = |name: &str| text.lines().filter(|line| line.contains(name)).count();
    ensure(
        (calls("execve"), calls("socket"), calls("connect")) == (1, 0, 0),
        "more than one program, or a connection",
    )
}

/// Compares chains with those of perf.
pub(super) fn agrees_with_perf(bench: &Bench) -> Result<Outcome> {
    if !succeeds(&mut command::words("perf --version")) {
        return Ok(Outcome::Skipped("perf is not installed".to_owned()));
    }
    let status = lab(&["compare", "spin-bfd", "--ours"], &bench.root)?.arg(&bench.ours).status()?;
    if !status.success() {
        bail!("{status}");
    }
    Ok(Outcome::Passed)
}

/// Compares our frames with gdb's at some instructions of a program with tail calls, and with the program's own calls,
/// jumps and returns.
pub(super) fn agrees_with_gdb(bench: &Bench) -> Result<Outcome> {
    if !succeeds(&mut command::words("gdb --version")) {
        return Ok(Outcome::Skipped("gdb is not installed".to_owned()));
    }
    for words in [
        ["truth", "gdb", "c-gcc-O2", "--stops", "60"],
        ["truth", "steps", "c-gcc-O2", "--instructions", "30000"],
    ] {
        command::run(lab(&words, &bench.root)?.arg("--ours").arg(&bench.ours))?;
    }
    Ok(Outcome::Passed)
}
