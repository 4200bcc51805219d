//! Hostile input for each reader: all targets are built at once, and as many run at a time as there are processors.

use std::path::Path;
use std::sync::Mutex;

use anyhow::{Result, bail};

use super::{Outcome, task};

/// Inputs tried on each reader, the same ones each time.
const FUZZ_RUNS: &str = "3000";
/// Seconds for all readers together. Each has an equal share, after which it is left at the inputs tried so far.
const FUZZ_SECONDS: usize = 300;
/// Lines of a failed run that are shown.
const SHOWN: usize = 40;

/// Hostile input for each reader; of what is printed only the results. All are built at once, and as many are tried beside
/// each other as there are processors.
pub(super) fn input(root: &Path) -> Result<Outcome> {
    let build = task(&["fuzz", crate::fuzz::BUILD], root)?.output()?;
    let text = [build.stdout, build.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    if !build.status.success() {
        bail!("the targets are not built:\n{}", end(&text));
    }
    if let Some(why) = text.lines().find_map(|line| line.strip_prefix("skipped: ")) {
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let targets = crate::fuzz::targets()?;
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let seconds = (FUZZ_SECONDS * workers / targets.len().max(1)).max(1).to_string();
    let targets = Mutex::new(targets.into_iter());
    let next = || targets.lock().ok()?.next();
    std::thread::scope(|scope| {
        let tried = || -> Result<()> {
            while let Some(target) = next() {
                try_target(&target, &seconds, root)?;
            }
            Ok(())
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(tried)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(_) => bail!("a thread panicked"),
        })
    })?;
    Ok(Outcome::Passed)
}

/// Tries the inputs of a target that is built.
fn try_target(target: &str, seconds: &str, root: &Path) -> Result<()> {
    let output = task(&["fuzz", target, seconds, "--repeat", FUZZ_RUNS], root)?.output()?;
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

/// The last lines.
fn end(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}
