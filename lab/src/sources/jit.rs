//! Check of jitdumps of a small compiler and of Node.js, read directly, and by perf after `inject`.

use std::path::Path;

use anyhow::{Result, bail};
use xtask::command;

use super::Bench;

const RECURSION: &str = "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n\
     function outer(n) { let s = 0; for (let i = 0; i < 30; i++) s += fib(n); return s; }\n\
     outer(29);\n";

/// Runs the check with our own compiler.
pub(super) fn check(bench: &Bench) -> Result<String> {
    let programs = command::root().join("testdata/programs");
    let mut gcc = command::words("gcc -O2 -g");
    command::run(gcc.arg(programs.join("jit.c")).arg("-o").arg(bench.scratch.join("jit")))?;
    let data = bench.record("-k mono --no-buildid-cache", &["./jit"])?;
    let ours = ScriptCounts::ours(bench, &data, &["first", "second"])?;
    if ours.named < ours.samples || ours.rooted < ours.samples {
        bail!("of {} samples {} have names, {} are rooted", ours.samples, ours.named, ours.rooted);
    }
    let perf = injected(bench, &data, &["first", "second"])?;
    if perf.named < perf.samples {
        bail!("perf names {} of {} samples", perf.named, perf.samples);
    }
    Ok(format!("{} samples named and unwound; perf names them, too", ours.samples))
}

/// Runs the check with Node.js.
pub(super) fn check_node(bench: &Bench) -> Result<String> {
    std::fs::write(bench.scratch.join("fib.js"), RECURSION)?;
    let mut reported = Vec::new();
    for flags in [
        &["--perf-basic-prof"][..],
        &["--perf-prof"],
        &["--perf-prof", "--perf-prof-unwinding-info"],
    ] {
        let program = [&["node"], flags, &["fib.js"]].concat();
        let data = bench.record("-k mono --no-buildid-cache --call-graph dwarf,32768", &program)?;
        let ours = ScriptCounts::ours(bench, &data, &["fib"])?;
        if ours.named * 2 < ours.samples || ours.rooted * 100 < ours.samples * 95 {
            bail!(
                "{flags:?}: of {} samples {} are in fib, {} are rooted",
                ours.samples,
                ours.named,
                ours.rooted
            );
        }
        reported.push(format!("{} of {} rooted", ours.rooted, ours.samples));
        if flags.contains(&"--perf-prof") {
            let perf = injected(bench, &data, &["fib"])?;
            if perf.named * 10 < ours.named * 9 {
                bail!("{flags:?}: perf names fib in {} samples, we in {}", perf.named, ours.named);
            }
            reported.push(format!("perf names {} of {}", perf.named, ours.named));
        }
    }
    Ok(reported.join(", "))
}

/// Counts from a text of `perf script`.
#[derive(Debug, Default, PartialEq, Eq)]
struct ScriptCounts {
    samples: u64,
    /// Samples with a frame of the wanted functions.
    named: u64,
    /// Samples with `_start`, or the start function of a thread, as outermost frame.
    rooted: u64,
}

impl ScriptCounts {
    fn of(text: &str, functions: &[&str]) -> Self {
        let mut seen = Self::default();
        for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
            let frames: Vec<&str> = block
                .lines()
                .skip(1)
                .filter_map(|line| line.trim().split_once(' ').map(|(_, name)| name))
                .collect();
            let is_wanted = |name: &str| {
                let name = name.trim_start_matches("JS:").trim_start_matches(['*', '~', '^', '+']);
                functions.iter().any(|function| {
                    name.strip_prefix(function)
                        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
                })
            };
            seen.samples += 1;
            seen.named += u64::from(frames.iter().any(|name| is_wanted(name)));
            let roots = ["_start", "clone3", "__clone", "clone"];
            let is_root = |name: &&&str| roots.iter().any(|root| name.starts_with(root));
            seen.rooted += u64::from(frames.last().filter(is_root).is_some());
        }
        seen
    }

    fn ours(bench: &Bench, data: &Path, functions: &[&str]) -> Result<Self> {
        let mut ours = bench.command(data);
        let text = command::quiet_output(ours.args(["--format", "perf-script"]))?;
        Ok(Self::of(&text, functions))
    }
}

/// Returns perf's counts for the rewritten recording.
fn injected(bench: &Bench, data: &Path, functions: &[&str]) -> Result<ScriptCounts> {
    let output = bench.scratch.join("injected.data");
    let mut inject = std::process::Command::new(&bench.ours);
    command::run(inject.arg("inject").arg(data).arg("-o").arg(&output))?;
    let mut perf = command::words("perf script -F comm,tid,time,ip,sym -i");
    Ok(ScriptCounts::of(&command::quiet_output(perf.arg(&output))?, functions))
}

#[cfg(test)]
mod tests {
    use super::ScriptCounts;

    #[test]
    fn samples_are_counted() {
        let text = "a 1 2.0:\n\t10 JS:*fib /x.js:1\n\t20 _start\n\na 1 3.0:\n\t30 fibber\n\n";
        assert_eq!(
            ScriptCounts::of(text, &["fib"]),
            ScriptCounts { samples: 2, named: 1, rooted: 1 }
        );
    }
}
