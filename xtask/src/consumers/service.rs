//! The service with its clients: a browser without a screen, and schemathesis, which asks whatever the description of the
//! interface allows.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::{Bench, Missing, tools};
use crate::command;

/// What uses the pages.
const SCRIPT: &str = include_str!("page/service.mjs");

/// What uses the page of a recording while it is made.
const LIVE: &str = include_str!("page/live.mjs");

/// How a recording is made for it, of a program that runs until a file says that it is enough.
const RECORD: &str = "perf record -q -F 499 -m 16 --buildid-mmap --call-graph dwarf -k CLOCK_MONOTONIC -e cpu-clock -o -";
const PROGRAM: &str =
    "until test -e \"$0\"; do i=0; while test $i -lt 2000; do i=$((i + 1)); done; done";

/// The description of the interface.
const DESCRIPTION: &str = "crates/service/openapi.json";

/// Questions of each kind that schemathesis makes.
const QUESTIONS: &str = "30";

/// A service that runs until the value goes.
struct Served {
    child: Child,
    /// With the token.
    address: String,
}

impl Served {
    /// Serves the test data.
    fn start(bench: &Bench<'_>) -> Result<Self> {
        let (cases, sysroot) = ("testdata/cases", "testdata/sysroot");
        let mut command = Command::new(bench.ours);
        command.args(["serve", cases, "--sysroot", sysroot]);
        Self::ready(bench, command)
    }

    /// Watches what comes, and keeps it.
    fn watch(bench: &Bench<'_>, stream: impl Into<Stdio>) -> Result<Self> {
        let mut command = Command::new(bench.ours);
        command.arg("live").arg("-o").arg(bench.scratch.join("keep.perf")).stdin(stream);
        Self::ready(bench, command)
    }

    fn ready(bench: &Bench<'_>, mut command: Command) -> Result<Self> {
        let store = bench.scratch.join("store");
        command.args(["--no-open", "--quiet", "--store"]).arg(store);
        command.current_dir(command::root()).stdout(Stdio::piped());
        let mut child = command.spawn().context("the service")?;
        let mut address = String::new();
        let out = child.stdout.as_mut().context("its output")?;
        BufReader::new(out).read_line(&mut address)?;
        Ok(Self { child, address: address.trim_end().to_owned() })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder for pictures, where one is named.
fn shots() -> Result<Option<PathBuf>> {
    let shots = std::env::var_os("SCREENSHOTS").map(PathBuf::from);
    if let Some(shots) = &shots {
        std::fs::create_dir_all(shots).map_err(|error| Missing(error.to_string()))?;
    }
    Ok(shots)
}

/// The pages in a browser. Pictures go to the folder that `SCREENSHOTS` names.
pub(super) fn pages(bench: &Bench<'_>) -> Result<String> {
    let install = "apt-get install --quiet --yes --no-install-recommends chromium";
    bench.need("chromium --version", install)?;
    let modules = tools::npm(bench)?;
    let script = modules.parent().context("the packages' folder")?.join("service.mjs");
    std::fs::write(&script, SCRIPT)?;
    let served = Served::start(bench)?;
    let mut node = Command::new("node");
    node.arg(&script).arg(&served.address).args(shots()?);
    let told = command::quiet_output(&mut node)?;
    Ok(format!("{}; pages, links and the comparison work", told.trim()))
}

/// The page of a recording while perf makes it.
pub(super) fn live(bench: &Bench<'_>) -> Result<String> {
    let install = "apt-get install --quiet --yes --no-install-recommends chromium";
    bench.need("chromium --version", install)?;
    bench
        .need("perf version", "apt-get install --quiet --yes --no-install-recommends linux-perf")?;
    let modules = tools::npm(bench)?;
    let script = modules.parent().context("the packages' folder")?.join("live.mjs");
    std::fs::write(&script, LIVE)?;
    let enough = bench.scratch.join("enough");
    let mut record = command::words("timeout 300");
    record.args(RECORD.split(' ')).args(["--", "sh", "-c", PROGRAM]).arg(&enough);
    let mut recorder = record.stdout(Stdio::piped()).spawn().context("perf")?;
    let stream = recorder.stdout.take().context("its output")?;
    let served = Served::watch(bench, stream)?;
    let mut node = Command::new("node");
    node.arg(&script).arg(&served.address).arg(&enough).args(shots()?);
    let told = command::quiet_output(&mut node);
    // Whatever became of the page, the program ends.
    std::fs::write(&enough, "")?;
    recorder.wait()?;
    Ok(format!("{}; it grows, stands still, compares, and ends", told?.trim()))
}

/// Whatever the description allows is answered as it says, and nothing makes the service fail.
pub(super) fn interface(bench: &Bench<'_>) -> Result<String> {
    let packages = tools::schemathesis(bench)?;
    let served = Served::start(bench)?;
    let (base, token) = served.address.split_once("/#token=").context("no address")?;
    let mut run = command::words("python3 -m schemathesis.cli run");
    run.arg(Path::new(DESCRIPTION)).args([
        "--url",
        base,
        "--no-color",
        "--max-examples",
        QUESTIONS,
    ]);
    run.args(["--phases", "coverage,fuzzing", "--header"]);
    run.arg(format!("Authorization: Bearer {token}"));
    run.args([
        "--checks",
        "not_a_server_error,content_type_conformance,response_schema_conformance",
    ]);
    run.env("PYTHONPATH", packages).current_dir(command::root());
    let output = run.output().context("python3")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let last = told.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !output.status.success() {
        let told: Vec<&str> = told.lines().collect();
        bail!("{}", told.get(told.len().saturating_sub(60)..).unwrap_or_default().join("\n"));
    }
    Ok(last.trim_matches(|letter| letter == '=' || letter == ' ').to_owned())
}
