//! A browser without a screen, with our page: its tables, its controls, and how soon a large one can be used.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::truth::Costs;
use super::{Bench, Missing, tools};
use crate::command;

/// Opens the page and uses it, prints its table of functions: `own<tab>inclusive<tab>name`.
const SCRIPT: &str = include_str!("report.mjs");

/// Within how many milliseconds a page of a million samples can be used.
const SOON: &str = "3000";

/// Where the page's scripts are.
const WEB: &str = "crates/web";

/// Runs the check.
pub(super) fn check(bench: &Bench<'_>) -> Result<String> {
    let file = bench.write("ours.html", &["--format", "report"])?;
    let output = open(bench, &file, None)?;
    let mut costs = Costs::default();
    for line in output.lines() {
        let mut parts = line.splitn(3, '\t');
        let mut number = || parts.next().and_then(|text| text.parse::<u64>().ok());
        let (Some(own), Some(inclusive)) = (number(), number()) else { bail!("{line}") };
        let name = parts.next().unwrap_or_default().replace(';', ":");
        *costs.own.entry(name.clone()).or_default() += own;
        *costs.inclusive.entry(name).or_default() += inclusive;
    }
    let total = costs.own.values().sum();
    let reported = bench.truth.compare(total, &costs)?;
    Ok(format!("{reported}; controls work, nothing is asked for"))
}

/// What the page counts, by its tests in Node, which has a runner for them since version 20.
pub(super) fn engine(_: &Bench<'_>) -> Result<String> {
    let mut version = command::words("node --version");
    let version = command::quiet_output(&mut version).map_err(|_| Missing("no node".to_owned()))?;
    let major = version.trim().trim_start_matches('v').split('.').next().map(str::parse::<u32>);
    if !matches!(major, Some(Ok(20..))) {
        return Err(Missing(format!("node {} is older than 20", version.trim())).into());
    }
    passes(&mut command::words("node --test tests/"))?;
    Ok("its tests pass".to_owned())
}

/// The types that the page's scripts state in comments.
pub(super) fn types(bench: &Bench<'_>) -> Result<String> {
    let modules = tools::npm(bench)?;
    let mut check = Command::new("node");
    check.arg(modules.join("typescript/bin/tsc")).args(["--project", "."]);
    passes(&mut check)?;
    Ok("they agree".to_owned())
}

/// Runs a check of the scripts, which tells on its standard output what is wrong.
fn passes(check: &mut Command) -> Result<()> {
    let output = check.current_dir(command::root().join(WEB)).output()?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stdout);
        let wrong: Vec<&str> =
            told.lines().filter(|line| line.contains("not ok") || line.contains("rror")).collect();
        bail!("{}: {}", output.status, wrong.join("\n"));
    }
    Ok(())
}

/// A page of a million samples, once for all recordings.
pub(super) fn million(bench: &Bench<'_>) -> Result<String> {
    let file = bench.scratch.join("million.html");
    let mut example =
        command::words("cargo run --quiet --release --package formats --example million_page");
    let page = std::fs::File::create(&file)?;
    let status = example.current_dir(command::root()).stdout(Stdio::from(page)).status();
    if !status.context("cargo run")?.success() {
        bail!("the example failed");
    }
    open(bench, &file, Some(SOON))?;
    Ok(format!("a page of 1,000,000 samples can be used within {SOON} ms"))
}

fn open(bench: &Bench<'_>, file: &Path, soon: Option<&str>) -> Result<String> {
    bench.need(
        "chromium --version",
        "apt-get install --quiet --yes --no-install-recommends chromium",
    )?;
    let modules = tools::npm(bench)?;
    let folder = modules.parent().context("the packages' folder")?;
    let script = folder.join("report.mjs");
    std::fs::write(&script, SCRIPT)?;
    let mut node = Command::new("node");
    node.arg(&script).arg(file).current_dir(folder);
    if let Some(shots) = std::env::var_os("SCREENSHOTS").map(PathBuf::from) {
        std::fs::create_dir_all(&shots).map_err(|error| Missing(error.to_string()))?;
        node.arg(shots);
    }
    if let Some(soon) = soon {
        node.env("READY_MS", soon);
    }
    command::quiet_output(&mut node)
}
