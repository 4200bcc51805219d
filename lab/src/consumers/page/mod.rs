//! Our page in a headless browser: its tables, its controls, and the time until a large page can be used.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::command;

use super::truth::Costs;
use super::{Bench, Missing, tools};

macro_rules! scripts {
    ($($name:literal,)*) => {
        &[$(($name, include_str!($name)),)*]
    };
}

/// Scripts that open and use pages.
const SCRIPTS: &[(&str, &str)] = scripts![
    "harness.mjs",
    "gestures.mjs",
    "graphs.mjs",
    "links.mjs",
    "tables.mjs",
    "values.mjs",
    "waits.mjs",
    "times.mjs",
    "timeline.mjs",
    "looks.mjs",
    "speed.mjs",
    "report.mjs",
    "diff.mjs",
    "names.mjs",
];

/// Uses the page of a recording, prints its table of functions: `own<tab>inclusive<tab>name`.
const REPORT: &str = "report.mjs";

/// Compares the names in two pages, and opens a link of one in the other.
const NAMES: &str = "names.mjs";

/// Uses the page of a difference; its numbers must be those of the JSON after it.
const DIFF: &str = "diff.mjs";

/// Maximum time until a page of a million samples can be used, in milliseconds.
const SOON: &str = "3000";

/// Maximum time for counting and drawing after a click, in milliseconds. The goal is 100 on an idle machine; this one
/// may be busy, and elapsed time is not processor time.
const CLICK: &str = "500";

/// Folder of the page's scripts.
const WEB: &str = "crates/web";

/// Runs the check.
pub(super) fn check(bench: &Bench<'_>) -> Result<String> {
    let file = bench.write("ours.html", &["--format", "report", "--with-fields", "all"])?;
    let output = open(bench, REPORT, &[&file], None)?;
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
    // Other functions, hence other numbers of the same ones.
    let other = bench.write("other.html", &["--format", "report", "--no-inline"])?;
    let shortened = open(bench, NAMES, &[&file, &other], None)?;
    Ok(format!(
        "{reported}; controls work, nothing is asked for; {} names are shortened",
        shortened.trim()
    ))
}

/// Checks the pages that compare a recording with itself: unchanged, and as if it had done a tenth of the work before.
pub(super) fn differences(bench: &Bench<'_>) -> Result<String> {
    let mut marked = Vec::new();
    for (name, normalize) in [("same", "samples"), ("more", "A=10,B=1")] {
        let write = |format: &str, ending: &str| -> Result<PathBuf> {
            let path = bench.scratch.join(format!("{name}.{ending}"));
            let mut command = Command::new(bench.ours);
            command.args(["diff", "--quiet", "--normalize", normalize, "--format", format]);
            if let Some(sysroot) = bench.sysroot {
                command.arg("--sysroot").arg(sysroot);
            }
            command.arg("--output").arg(&path).args([bench.recording; 2]);
            command::quiet_output(&mut command)?;
            Ok(path)
        };
        let (page, json) = (write("report", "html")?, write("json", "json")?);
        marked.push(open(bench, DIFF, &[&page, &json], None)?.trim().to_owned());
    }
    Ok(format!("numbers are those of the JSON; marked: {}", marked.join(", then ")))
}

/// Checks the page's computations by its tests in Node, which has a test runner since version 20.
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

/// Checks the types that the page's scripts state in comments.
pub(super) fn types(bench: &Bench<'_>) -> Result<String> {
    let modules = tools::npm(bench)?;
    let mut check = Command::new("node");
    check.arg(modules.join("typescript/bin/tsc")).args(["--project", "."]);
    passes(&mut check)?;
    Ok("they agree".to_owned())
}

/// Runs a check of the scripts, which reports errors on its standard output.
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

/// Checks a page of a million samples, once for all recordings.
pub(super) fn million(bench: &Bench<'_>) -> Result<String> {
    let file = bench.scratch.join("million.html");
    let mut example = command::words(
        "cargo run --quiet --release --package unwind-perf-formats --example million_page",
    );
    let page = std::fs::File::create(&file)?;
    let status = example.current_dir(command::root()).stdout(Stdio::from(page)).status();
    if !status.context("cargo run")?.success() {
        bail!("the example failed");
    }
    open(bench, REPORT, &[&file], Some(SOON))?;
    Ok(format!(
        "a page of 1,000,000 samples can be used within {SOON} ms, clicks take less than {CLICK}"
    ))
}

/// Runs a script with files. Pictures go to the folder that `SCREENSHOTS` names.
fn open(bench: &Bench<'_>, script: &str, files: &[&Path], soon: Option<&str>) -> Result<String> {
    bench.need(
        "chromium --version",
        "apt-get install --quiet --yes --no-install-recommends chromium",
    )?;
    let modules = tools::npm(bench)?;
    let folder = modules.parent().context("the packages' folder")?;
    for (name, text) in SCRIPTS {
        std::fs::write(folder.join(name), text)?;
    }
    let mut node = Command::new("node");
    node.arg(script).args(files).current_dir(folder);
    if let Some(shots) = std::env::var_os("SCREENSHOTS").map(PathBuf::from) {
        std::fs::create_dir_all(&shots).map_err(|error| Missing(error.to_string()))?;
        node.arg(shots);
    }
    if let Some(soon) = soon {
        node.env("READY_MS", soon).env("CLICK_MS", CLICK);
    }
    command::quiet_output(&mut node)
}
