//! speedscope: its package's own schema, and the application itself in a headless browser.

use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use crate::consumers::Bench;
use crate::consumers::tools;
use crate::consumers::truth::Costs;

/// Loads the document into the application, opens the table of functions, prints its rows:
/// `own<tab>inclusive<tab>name`.
const SCRIPT: &str = include_str!("speedscope.mjs");

/// Checks the document against the schema, and prints the total of its weights.
const VALIDATE: &str = "import json, jsonschema, sys; \
    document = json.load(open(sys.argv[2])); \
    jsonschema.validate(document, json.load(open(sys.argv[1]))); \
    every = [p for p in document['profiles'] if p['name'].startswith('all threads')] or document['profiles']; \
    print(sum(sum(p['weights']) for p in every), len(every))";

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let modules = tools::npm(bench)?;
    let release = modules.join("speedscope/dist/release");
    let file = bench.write("ours.speedscope.json", &["--format", "speedscope"])?;
    let mut validate = Command::new("python3");
    validate.args(["-c", VALIDATE]).arg(release.join("file-format-schema.json")).arg(&file);
    validate.env("PYTHONPATH", tools::python(bench)?);
    let counted = command::quiet_output(&mut validate)?;
    let (total, events) = counted.trim().split_once(' ').context("no total")?;
    let total: u64 = total.parse()?;
    if events != "1" {
        // The application shows one event at a time, the folded stacks all together: only totals can be compared.
        let reported = bench.truth.compare(total, &Costs::default())?;
        return Ok(format!("valid; {reported} ({events} events)"));
    }
    bench.need(
        "chromium --version",
        "apt-get install --quiet --yes --no-install-recommends chromium",
    )?;
    let folder = modules.parent().context("the packages' folder")?;
    let script = folder.join("speedscope.mjs");
    std::fs::write(&script, SCRIPT)?;
    let mut node = Command::new("node");
    node.arg(&script).arg(release.join("index.html")).arg(&file).current_dir(folder);
    let shown = command::quiet_output(&mut node)?;
    let mut costs = Costs::default();
    for line in shown.lines() {
        let mut parts = line.splitn(3, '\t');
        let mut number = || parts.next().and_then(|text| text.replace(',', "").parse::<u64>().ok());
        let (Some(own), Some(inclusive)) = (number(), number()) else { bail!("{line}") };
        let name = parts.next().unwrap_or_default().replace(';', ":");
        *costs.own.entry(name.clone()).or_default() += own;
        *costs.inclusive.entry(name).or_default() += inclusive;
    }
    Ok(format!("valid; {}", bench.truth.compare(total, &costs)?))
}
