//! `cargo lab sources`: files from other places than the recorded path, with the real programs that store them. These
//! are a debuginfod server on the loopback, an archive of `perf archive`, a running container, jitdumps of a small
//! compiler and of Node.js, and recordings that `inject` rewrote for perf.

mod archive;
mod container;
mod debuginfod;
mod jit;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use xtask::args::Args;
use xtask::command;

/// A check: its name, the program that it needs, and its function.
struct Check {
    name: &'static str,
    needs: &'static str,
    run: fn(&Bench) -> Result<String>,
}

const CHECKS: &[Check] = &[
    Check { name: "debuginfod", needs: "debuginfod --version", run: debuginfod::check },
    Check { name: "perf archive", needs: "perf --version", run: archive::check },
    Check { name: "container", needs: "perf --version", run: container::check },
    Check { name: "jitdump", needs: "perf --version", run: jit::check },
    Check { name: "Node.js", needs: "node --version", run: jit::check_node },
];

/// End of the programs' stacks, innermost last; compilers may add a suffix.
const KNOWN: &str = ";inner;spin";

/// Environment of a check: our program, and a separate folder.
struct Bench {
    ours: PathBuf,
    scratch: PathBuf,
}

impl Bench {
    /// Builds `hello_spin.c` as `name` in the folder.
    fn program(&self, name: &str, flags: &str) -> Result<PathBuf> {
        let program = self.scratch.join(name);
        if let Some(folder) = program.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let source = command::root().join("testdata/programs/hello_spin.c");
        let mut gcc = command::words("gcc -O2 -g");
        gcc.args(flags.split_whitespace()).arg(source).arg("-o").arg(&program);
        command::run(&mut gcc)?;
        Ok(program)
    }

    /// Records a program in the folder, with build-ids in the map records.
    fn record(&self, options: &str, program: &[&str]) -> Result<PathBuf> {
        let data = self.scratch.join("perf.data");
        let mut perf =
            command::words("perf record --quiet -e cpu-clock:u -F 999 --call-graph dwarf,8192");
        perf.args(options.split_whitespace()).arg("-o").arg(&data).arg("--").args(program);
        perf.env("HOME", &self.scratch).current_dir(&self.scratch);
        command::run(perf.stdout(std::process::Stdio::null()))?;
        Ok(data)
    }

    /// Returns the number of samples with the known stack, and the number of all samples.
    fn known(&self, data: &Path, options: &[&str]) -> Result<(u64, u64)> {
        self.known_with_status(data, options, 0)
    }

    /// Same as [`Self::known`] for a run that ends with another status.
    fn known_with_status(&self, data: &Path, options: &[&str], status: i32) -> Result<(u64, u64)> {
        let mut ours = self.command(data);
        ours.args(["--format", "folded"]).args(options);
        let output = ours.output().with_context(|| command::show(&ours))?;
        if output.status.code() != Some(status) {
            let reported = String::from_utf8_lossy(&output.stderr);
            bail!("{} instead of {status}: {}\n{reported}", output.status, command::show(&ours));
        }
        count(&String::from_utf8_lossy(&output.stdout))
    }

    /// Returns our program on a recording, with empty user folders.
    fn command(&self, data: &Path) -> Command {
        let mut command = Command::new(&self.ours);
        command.args(["--quiet", "--keep-unrooted"]).arg(data);
        command.env("HOME", self.scratch.join("nowhere")).current_dir(&self.scratch);
        command.env("DEBUGINFOD_CACHE_PATH", self.scratch.join("fetched"));
        command
    }
}

/// Counts samples with the known stack, and all samples, in folded stacks.
fn count(folded: &str) -> Result<(u64, u64)> {
    let (mut known, mut all) = (0, 0);
    for line in folded.lines() {
        let (stack, samples) = line.rsplit_once(' ').with_context(|| line.to_owned())?;
        let samples: u64 = samples.parse()?;
        all += samples;
        known += if stack.contains(KNOWN) { samples } else { 0 };
    }
    Ok((known, all))
}

/// Fails unless there are at least 10 samples, and 90 % of them have the known stack.
fn all_known((known, all): (u64, u64), what: &str) -> Result<()> {
    if known < all * 9 / 10 || all < 10 {
        bail!("{what}: {known} of {all} samples have their names");
    }
    Ok(())
}

/// Fails if a sample has the known stack, or if there are fewer than 10 samples.
fn none_known((known, all): (u64, u64), what: &str) -> Result<()> {
    if known > 0 || all < 10 {
        bail!("{what}: {known} of {all} samples have names");
    }
    Ok(())
}

/// Runs the named checks, or all.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let ours = command::ours(args.value("--ours")?)?;
    let names = args.names()?;
    let (mut failed, mut done) = (0, 0);
    for check in CHECKS.iter().filter(|check| {
        names.is_empty() || names.iter().any(|name| check.name.starts_with(name.as_str()))
    }) {
        if command::quiet_output(&mut command::words(check.needs)).is_err() {
            println!("{}: skipped, `{}` does not run", check.name, check.needs);
            continue;
        }
        let scratch =
            std::env::temp_dir().join(format!("unwind-perf-sources-{}", std::process::id()));
        std::fs::create_dir_all(&scratch).with_context(|| scratch.display().to_string())?;
        let bench = Bench { ours: ours.clone(), scratch };
        let result = (check.run)(&bench);
        std::fs::remove_dir_all(&bench.scratch)?;
        done += 1;
        match result {
            Ok(reported) => println!("{}: {reported}", check.name),
            Err(error) => {
                failed += 1;
                println!("{}: FAILED: {error:#}", check.name);
            }
        }
    }
    println!("sources: {failed} of {done} checks failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn stacks_are_counted() {
        let folded = "a;_start;main;inner;spin.constprop.0 7\na;_start;main 2\n";
        assert_eq!(count(folded).unwrap(), (7, 9));
    }
}
