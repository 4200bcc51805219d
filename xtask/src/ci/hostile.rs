//! Hostile input for each reader: builds all targets at once, then runs as many at a time as there are processors.

use std::path::Path;
use std::sync::Mutex;

use anyhow::{Result, bail};

use super::{Outcome, task};

/// Number of inputs for each reader, the same ones each time.
const FUZZ_RUNS: &str = "3000";
/// Seconds for all readers together. Each has an equal share, after which it stops.
const FUZZ_SECONDS: usize = 300;
/// Number of lines that are shown of a failed run.
const SHOWN: usize = 40;

/// Effort for each reader.
struct Effort {
    seconds: u64,
    /// Number of inputs, the same ones each time; `None` for different ones each time.
    repeat: Option<&'static str>,
}

/// Tries inputs that are the same each time, so that a change fails by its own fault and not by luck.
pub(super) fn input(root: &Path) -> Result<Outcome> {
    let seconds = FUZZ_SECONDS * workers() / crate::fuzz::targets()?.len().max(1);
    try_all(root, &Effort { seconds: seconds.max(1) as u64, repeat: Some(FUZZ_RUNS) })
}

/// Tries different inputs each time, for `seconds` per reader.
pub(super) fn long_input(root: &Path, seconds: u64) -> Result<Outcome> {
    try_all(root, &Effort { seconds, repeat: None })
}

/// Returns the number of readers that are tried at a time.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Tries hostile input for each reader; prints only the results.
fn try_all(root: &Path, effort: &Effort) -> Result<Outcome> {
    let build = task(&["fuzz", crate::fuzz::BUILD], root)?.output()?;
    let text = [build.stdout, build.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    if !build.status.success() {
        bail!("the targets are not built:\n{}", end(&text));
    }
    if let Some(why) = text.lines().find_map(|line| line.strip_prefix("skipped: ")) {
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let targets = Mutex::new(crate::fuzz::targets()?.into_iter());
    let next = || targets.lock().ok()?.next();
    // If one fails, the others are still tried.
    let failures = std::thread::scope(|scope| {
        let tried = || {
            let results = std::iter::from_fn(next).map(|target| try_target(&target, effort, root));
            results.filter_map(Result::err).map(|error| format!("{error:#}")).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..workers()).map(|_| scope.spawn(tried)).collect();
        let panicked = || vec!["a thread panicked".to_owned()];
        let failures = workers.into_iter().map(|it| it.join().unwrap_or_else(|_| panicked()));
        failures.flatten().collect::<Vec<_>>()
    });
    if !failures.is_empty() {
        bail!(failures.join("\n"));
    }
    Ok(Outcome::Passed)
}

/// Tries the inputs of a built target.
fn try_target(target: &str, effort: &Effort, root: &Path) -> Result<()> {
    let mut fuzz = task(&["fuzz", target, &effort.seconds.to_string()], root)?;
    if let Some(runs) = effort.repeat {
        fuzz.args(["--repeat", runs]);
    }
    let output = fuzz.output()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    if !output.status.success() {
        bail!("{target}:\n{}", end(&text));
    }
    for line in text.lines().filter(|line| line.contains("no failure")) {
        println!("{line}");
    }
    Ok(())
}

/// Returns the last lines.
fn end(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}
