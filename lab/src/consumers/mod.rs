//! `cargo lab consumers`: our formats read by the programs that they are for. Each check compares the output of a
//! program (the total, and the most costly functions) with our own folded stacks.

mod bundle;
mod data;
mod page;
mod profilers;
mod service;
mod tools;
mod truth;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use xtask::args::Args;
use xtask::command;

use data::{duckdb, malloc, otlp, postgresql, python, spark};
use profilers::{callgrind, firefox, hotspot, perf_text, pprof, speedscope};
use truth::Truth;

/// Number of functions that are compared.
const TOP: usize = 10;

/// Recordings of the test data that are read if none is named.
const CASES: &[&str] =
    &["inlines-gcc", "recursion-rs", "two-events", "exceptions", "syscalls", "fork"];

/// Command that records a tracepoint for the checks, if perf and the kernel can. Samples of one event complete chains
/// of another one, so consumers are compared with the samples of all events.
const TRACEPOINT: &str =
    "perf record --quiet --call-graph dwarf,32768 -e sched:sched_switch -e cpu-clock";
const TRACED: &str = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01; ls / > /dev/null; done";

/// Folder below the scratch folder with our program under the names that hotspot and pprof start.
const PROGRAMS: &str = "programs";

/// A consumer and its check.
struct Check {
    name: &'static str,
    run: fn(&Bench<'_>) -> Result<String>,
}

const CHECKS: &[Check] = &[
    Check { name: "pprof", run: pprof::check },
    Check { name: "callgrind_annotate", run: callgrind::check },
    Check { name: "DuckDB", run: duckdb::check },
    Check { name: "OpenTelemetry", run: otlp::check },
    Check { name: "hotspot", run: hotspot::check },
    Check { name: "hotspot, beside its own backend", run: hotspot::beside_stock },
    Check { name: "Firefox Profiler", run: firefox::check },
    Check { name: "Firefox Profiler, text of perf script", run: firefox::perf_text },
    Check { name: "inferno-collapse-perf", run: perf_text::collapse },
    Check { name: "inferno-flamegraph", run: perf_text::flame_graph },
    Check { name: "the page in Chromium", run: page::check },
    Check { name: "the page of a difference in Chromium", run: page::differences },
    Check { name: "speedscope", run: speedscope::check },
];

/// Checks that need no recording.
const ONCE: &[Check] = &[
    Check { name: "the Python package", run: python::check },
    Check { name: "a bundle on another machine, in perf and in hotspot", run: bundle::check },
    Check { name: "PostgreSQL's statistics by query", run: postgresql::check },
    Check { name: "bytes by call site beside a counter in malloc", run: malloc::check },
    Check { name: "the Python package on a Spark cluster", run: spark::check },
    Check { name: "the page in Chromium", run: page::million },
    Check { name: "the page's engine in Node", run: page::engine },
    Check { name: "the page's types", run: page::types },
    Check { name: "the service in Chromium", run: service::pages },
    Check { name: "a recording while it is made, in Chromium", run: service::live },
    Check { name: "the service as a debuginfod server", run: service::files },
    Check { name: "the service and its description, by schemathesis", run: service::interface },
];

/// A requirement of a check is missing and cannot be installed.
#[derive(Debug)]
struct Missing(String);

impl std::fmt::Display for Missing {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// Environment of a check.
struct Bench<'a> {
    /// Our program.
    ours: &'a Path,
    recording: &'a Path,
    sysroot: Option<&'a Path>,
    /// Folder for output files.
    scratch: &'a Path,
    /// Expected result of the consumer.
    truth: &'a Truth,
    /// True if nothing may be installed.
    offline: bool,
}

impl Bench<'_> {
    /// Writes the recording in a format to a file of that name; `options` are those of our program.
    fn write(&self, file: &str, options: &[&str]) -> Result<PathBuf> {
        let path = self.scratch.join(file);
        command::quiet_output(self.command().args(options).arg("--output").arg(&path))?;
        Ok(path)
    }

    /// Folder with our program under the names that hotspot and pprof start.
    fn programs(&self) -> PathBuf {
        self.scratch.join(PROGRAMS)
    }

    fn command(&self) -> Command {
        run_of_ours(self.ours, self.recording, self.sysroot)
    }

    /// Returns our folded stacks of all events, one event after another: the format shows one at a time.
    fn folded(&self, options: &[&str]) -> Result<String> {
        folded(|| self.command(), options)
    }

    /// Makes sure that a program is available; otherwise installs it with the command.
    fn need(&self, probe: &str, install: &str) -> Result<()> {
        let there = || command::quiet_output(&mut command::words(probe)).is_ok();
        if there() {
            return Ok(());
        }
        self.install(&mut command::words(install))?;
        if there() { Ok(()) } else { Err(Missing(format!("{probe} does not run")).into()) }
    }

    /// Runs a command that installs something; if that is not possible, the check is skipped.
    fn install(&self, install: &mut Command) -> Result<()> {
        let shown = command::show(install);
        if self.offline {
            return Err(Missing(format!("--offline forbids: {shown}")).into());
        }
        command::run(install).map_err(|error| Missing(format!("{error:#}")).into())
    }
}

/// Creates the programs that hotspot and pprof start, as links to ours in a folder.
fn link_others(ours: &Path, folder: &Path) -> Result<()> {
    let ours = std::path::absolute(ours).with_context(|| ours.display().to_string())?;
    for name in ["hotspot-perfparser", "perf_to_profile"] {
        let link = folder.join(name);
        std::os::unix::fs::symlink(&ours, &link)
            .with_context(|| format!("cannot make {}", link.display()))?;
    }
    Ok(())
}

fn run_of_ours(ours: &Path, recording: &Path, sysroot: Option<&Path>) -> Command {
    let mut command = Command::new(ours);
    command.args(["--quiet", "--keep-unrooted"]);
    if let Some(sysroot) = sysroot {
        command.arg("--sysroot").arg(sysroot);
    }
    command.arg(recording);
    command
}

/// Returns the folded stacks from `run`, event by event, so that all samples are counted.
fn folded(run: impl Fn() -> Command, options: &[&str]) -> Result<String> {
    let mut all = String::new();
    for event in perf_text::events(&mut run())? {
        let mut command = run();
        command.args(["--format", "folded", "--event", &event]).args(options);
        all += &command::quiet_output(&mut command)?;
    }
    Ok(all)
}

/// Runs all checks on all recordings.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let offline = args.flag("--offline");
    let only = args.value("--only")?.unwrap_or_default();
    let ours = command::ours(args.value("--ours")?)?;
    let names = args.names()?;
    let testdata = command::root().join("testdata");
    let sysroot = testdata.join("sysroot");
    let case = |name: &str| testdata.join("cases").join(name).join("perf.data");
    // Recording, sysroot, and prefix of the names of its checks.
    let mut inputs: Vec<(PathBuf, Option<&Path>, &str)> = if names.is_empty() {
        CASES.iter().map(|name| (case(name), Some(sysroot.as_path()), only.as_str())).collect()
    } else {
        let input = |name: &String| match case(name) {
            path if path.is_file() => (path, Some(sysroot.as_path()), only.as_str()),
            _ => (PathBuf::from(name), None, only.as_str()),
        };
        names.iter().map(input).collect()
    };
    let scratch =
        std::env::temp_dir().join(format!("unwind-perf-consumers-{}", std::process::id()));
    let programs = scratch.join(PROGRAMS);
    std::fs::create_dir_all(&programs).with_context(|| programs.display().to_string())?;
    link_others(&ours, &programs)?;
    if names.is_empty() {
        let traced = scratch.join("tracepoint.data");
        let mut record = command::words(TRACEPOINT);
        record.arg("-o").arg(&traced).args(["sh", "-c", TRACED]);
        match command::quiet_output(&mut record) {
            // Other consumers show one event at a time, or both as one.
            Ok(_) => inputs.push((traced, None, "hotspot")),
            Err(error) => println!("no recording of a tracepoint: {error:#}"),
        }
    }
    let result = run_all(&ours, &inputs, &scratch, offline);
    std::fs::remove_dir_all(&scratch).with_context(|| scratch.display().to_string())?;
    let failed = result?;
    let Failures { once, twice } = &failed;
    for line in once.iter().chain(twice) {
        println!("{line}");
    }
    println!(
        "consumers: {} checks failed, {} more at their first run, of {} on each recording",
        twice.len(),
        once.len(),
        CHECKS.len()
    );
    Ok(if twice.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Lines of the checks that failed, which are printed again at the end: the end of a long log is often all that is kept.
#[derive(Default)]
struct Failures {
    /// Of those that failed and then passed.
    once: Vec<String>,
    /// Of those that failed twice.
    twice: Vec<String>,
}

/// Runs the checks and prints their results as they come.
fn run_all(
    ours: &Path,
    inputs: &[(PathBuf, Option<&Path>, &str)],
    scratch: &Path,
    offline: bool,
) -> Result<Failures> {
    let mut failed = Failures::default();
    let mut once = true;
    for (recording, sysroot, only) in inputs {
        let run = || run_of_ours(ours, recording, *sysroot);
        let truth = match sysroot {
            Some(_) => Truth::of_folded(&folded(run, &["--root", "none"])?)?,
            None => Truth::of_samples(&command::quiet_output(run().args(["--format", "ndjson"]))?)?,
        };
        println!("{}: {} samples", recording.display(), truth.total);
        let bench = Bench { ours, recording, sysroot: *sysroot, scratch, truth: &truth, offline };
        let rest = if std::mem::take(&mut once) { ONCE } else { &[] };
        for check in CHECKS.iter().chain(rest).filter(|check| check.name.starts_with(*only)) {
            let place = format!("{} ({})", check.name, recording.display());
            // Other programs are installed, started and timed here, beside builds. A check that fails and then passes
            // is named at the end.
            let mut first = None;
            let result = match (check.run)(&bench) {
                Err(error) if !error.is::<Missing>() => {
                    println!("  {}: failed, and runs again: {error:#}", check.name);
                    first = Some(error);
                    (check.run)(&bench)
                }
                other => other,
            };
            match (result, first) {
                (Ok(reported), first) => {
                    println!("  {}: {reported}", check.name);
                    let line = |error| format!("failed once: {place}: {error:#}");
                    failed.once.extend(first.map(line));
                }
                (Err(error), None) => println!("  {}: skipped: {error:#}", check.name),
                (Err(error), Some(_)) => {
                    println!("  {}: FAILED: {error:#}", check.name);
                    failed.twice.push(format!("FAILED: {place}: {error:#}"));
                }
            }
        }
    }
    Ok(failed)
}
