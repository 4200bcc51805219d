//! The service with its clients: a headless browser; schemathesis, which sends every request that the interface
//! description allows; and gdb, which requests files by build-id.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use xtask::command;

use super::{Bench, Missing, tools};

/// Script that uses the pages.
const SCRIPT: &str = include_str!("page/service.mjs");

/// Script that uses the page of a recording in progress.
const LIVE: &str = include_str!("page/live.mjs");

/// Command that records a program for it; the program runs until a file exists.
const RECORD: &str = "perf record -q -F 499 -m 16 --buildid-mmap --call-graph dwarf -k CLOCK_MONOTONIC -e cpu-clock -o -";
const PROGRAM: &str =
    "until test -e \"$0\"; do i=0; while test $i -lt 2000; do i=$((i + 1)); done; done";

/// Description of the interface.
const DESCRIPTION: &str = "crates/service/openapi.json";

/// Number of requests of each kind from schemathesis.
const QUESTIONS: &str = "30";

/// A service that runs until the value is dropped.
struct Served {
    child: Child,
    /// Address of the page, with the token.
    address: String,
    /// Value of `DEBUGINFOD_URLS` for clients, if it serves them.
    debuginfod: String,
}

impl Served {
    /// Serves the test data; `files` also to debuginfod clients.
    fn start(bench: &Bench<'_>, files: bool) -> Result<Self> {
        let (cases, sysroot) = ("testdata/cases", "testdata/sysroot");
        let mut command = Command::new(bench.ours);
        command.args(["serve", cases, "--no-background", "--sysroot", sysroot]);
        command.args(files.then_some("--debuginfod-server"));
        Self::ready(bench, command, files)
    }

    /// Shows a live stream, and keeps it in a file.
    fn watch(bench: &Bench<'_>, stream: impl Into<Stdio>) -> Result<Self> {
        let mut command = Command::new(bench.ours);
        command.arg("live").arg("-o").arg(bench.scratch.join("keep.perf")).stdin(stream);
        Self::ready(bench, command, false)
    }

    fn ready(bench: &Bench<'_>, mut command: Command, files: bool) -> Result<Self> {
        let store = bench.scratch.join("store");
        command.args(["--no-open", "--quiet", "--store"]).arg(store);
        command.current_dir(command::root()).stdout(Stdio::piped());
        let mut child = command.spawn().context("the service")?;
        let mut out = BufReader::new(child.stdout.as_mut().context("its output")?);
        let mut line = || -> Result<String> {
            let mut line = String::new();
            out.read_line(&mut line)?;
            Ok(line.trim_end().to_owned())
        };
        let address = line()?;
        let more = if files { line()? } else { String::new() };
        let debuginfod = more.trim_start_matches("DEBUGINFOD_URLS=").to_owned();
        Ok(Self { child, address, debuginfod })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the folder for pictures, if one is named.
fn shots() -> Result<Option<PathBuf>> {
    let shots = std::env::var_os("SCREENSHOTS").map(PathBuf::from);
    if let Some(shots) = &shots {
        std::fs::create_dir_all(shots).map_err(|error| Missing(error.to_string()))?;
    }
    Ok(shots)
}

/// Checks the pages in a browser. Pictures go to the folder that `SCREENSHOTS` names.
pub(super) fn pages(bench: &Bench<'_>) -> Result<String> {
    let install = "apt-get install --quiet --yes --no-install-recommends chromium";
    bench.need("chromium --version", install)?;
    let modules = tools::npm(bench)?;
    let script = modules.parent().context("the packages' folder")?.join("service.mjs");
    std::fs::write(&script, SCRIPT)?;
    let served = Served::start(bench, false)?;
    let mut node = Command::new("node");
    node.arg(&script).arg(&served.address).args(shots()?);
    let told = command::quiet_output(&mut node)?;
    Ok(format!("{}; pages, links and the comparison work", told.trim()))
}

/// Checks the page of a recording while perf creates it.
pub(super) fn live(bench: &Bench<'_>) -> Result<String> {
    let install = "apt-get install --quiet --yes --no-install-recommends chromium";
    bench.need("chromium --version", install)?;
    // If perf cannot record, there is nothing to watch.
    let install = "apt-get install --quiet --yes --no-install-recommends linux-perf";
    bench.need("perf record -q -e cpu-clock -o /dev/null -- true", install)?;
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
    // The program ends even if the page failed.
    std::fs::write(&enough, "")?;
    recorder.wait()?;
    Ok(format!("{}; it grows, stands still, compares, and ends", told?.trim()))
}

/// Checks that every request that the description allows is answered accordingly, and that none makes the service fail.
pub(super) fn interface(bench: &Bench<'_>) -> Result<String> {
    let packages = tools::schemathesis(bench)?;
    let served = Served::start(bench, false)?;
    let (base, token) = served.address.split_once("/#token=").context("no address")?;
    let mut run = command::words("python3 -m schemathesis.cli run");
    run.arg(command::root().join(DESCRIPTION)).args([
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
    // schemathesis stores its findings in the current folder.
    run.env("PYTHONPATH", packages).current_dir(bench.scratch);
    let output = run.output().context("python3")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let last = told.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !output.status.success() {
        let told: Vec<&str> = told.lines().collect();
        bail!("{}", told.get(told.len().saturating_sub(60)..).unwrap_or_default().join("\n"));
    }
    Ok(last.trim_matches(|letter| letter == '=' || letter == ' ').to_owned())
}

/// A recording of a program with debug information, and the program's path below the sysroot.
const DEBUGGED: (&str, &str) =
    ("inlines-gcc", "testdata/sysroot/tmp/unwind-perf-testdata/inlines-gcc/inlines-gcc");

/// Checks that gdb shows the lines of a program without debug information, which it gets from the service.
pub(super) fn files(bench: &Bench<'_>) -> Result<String> {
    let install = "apt-get install --quiet --yes --no-install-recommends gdb binutils debuginfod";
    for probe in ["gdb --version", "objcopy --version", "debuginfod-find --version"] {
        bench.need(probe, install)?;
    }
    let (case, program) = (DEBUGGED.0, command::root().join(DEBUGGED.1));
    let served = Served::start(bench, true)?;
    analyze(&served, &format!("{case}/perf.data"))?;
    let notes = command::quiet_output(Command::new("readelf").arg("-n").arg(&program))?;
    let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: "));
    let id = id.context("the program has no build-id")?;
    let cache = bench.scratch.join("fetched");
    let client = |program: &str| {
        let mut client = Command::new(program);
        client.env("DEBUGINFOD_URLS", &served.debuginfod).env("DEBUGINFOD_CACHE_PATH", &cache);
        client
    };
    let fetched = command::quiet_output(client("debuginfod-find").args(["executable", id]))?;
    if std::fs::read(fetched.trim())? != std::fs::read(&program)? {
        bail!("debuginfod-find got another file");
    }
    let stripped = bench.scratch.join("stripped");
    let mut strip = Command::new("objcopy");
    command::quiet_output(strip.arg("--strip-debug").arg(&program).arg(&stripped))?;
    let mut gdb = client("gdb");
    gdb.args(["-batch", "-iex", "set debuginfod enabled on", "-ex", "info line main"]);
    let told = command::quiet_output(gdb.arg(&stripped))?;
    if !told.contains("inlines.cpp") {
        bail!("gdb does not know the lines: {told}");
    }
    Ok("debuginfod-find and gdb get the program and its lines".to_owned())
}

/// Makes the service analyse a recording.
fn analyze(served: &Served, name: &str) -> Result<()> {
    let (base, token) = served.address.split_once("/#token=").context("no address")?;
    let ask = format!(
        "import json, sys, time, urllib.request as r\n\
         def ask(path, body=None):\n  \
           return json.load(r.urlopen(r.Request(sys.argv[1] + path, body, \
             {{'authorization': 'Bearer ' + sys.argv[2], 'content-type': 'application/json'}})))\n\
         job = ask('/api/v1/recordings', json.dumps({{'path': '{name}'}}).encode())\n\
         while job['state'] in ('queued', 'running'):\n  \
           time.sleep(0.1); job = ask('/api/v1/jobs/' + job['id'])\n\
         assert job['state'] in ('done', 'analyzed'), job\n"
    );
    command::quiet_output(Command::new("python3").args(["-c", &ask, base, token]))?;
    Ok(())
}
