//! `cargo xtask fuzz TARGET SECONDS`: hostile input for the readers, starting from the seeds in the repository.
//! `cargo xtask fuzz build` builds all targets, on all processors.
//!
//! `--repeat RUNS` tries RUNS inputs, the same ones each time, and discards them: a check that fails by the change
//! under test and not by luck.
//!
//! `--worst` renews the inputs with the highest cost per byte (`fuzz/worst`), which every other run replays first.
//!
//! An input fails if it panics, hangs, or costs more processor time or memory than its bytes allow: the targets measure
//! both (`fuzz_targets/cost.rs`). Runs on the stable compiler, which is set to allow the flags of sanitizers.

mod worst;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;

/// Seconds after which an input counts as hanging, and limits of the process with its retained inputs. A reading thread
/// may still be ending when an input is done, so leaks are not checked.
const LIMITS: &[&str] =
    &["-timeout=30", "-rss_limit_mb=2048", "-malloc_limit_mb=512", "-detect_leaks=0"];
/// An input of `pair` runs through the complete program, and has tens of thousands of features. Weighting inputs by the
/// rarity of their features takes sixteen times as long as running them.
const PLAIN_SCHEDULE: (&str, &str) = ("pair", "-entropic=0");
/// Seed of the choice of inputs in a repeatable run.
const SEED: u32 = 13;

/// Name that stands for all targets, to build them.
pub(crate) const BUILD: &str = "build";

/// Fuzzes one target for some seconds.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let corpus = args.value("--corpus")?.map(PathBuf::from);
    let repeat = args.value("--repeat")?;
    let worst = args.flag("--worst");
    let names = args.names()?;
    let folder = command::root().join("fuzz");
    if names == [BUILD] {
        let Some(cargo_fuzz) = cargo_fuzz()? else { return Ok(not_installed()) };
        command::run(&mut cargo(&cargo_fuzz, BUILD, &folder)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let targets = targets()?;
    let [target, seconds] = names.as_slice() else {
        bail!("TARGET and SECONDS are needed; targets: {}", targets.join(", "));
    };
    if !targets.contains(target) {
        bail!("no target {target}; there are {}", targets.join(", "));
    }
    let seconds: u64 =
        seconds.parse().with_context(|| format!("{seconds} is no number of seconds"))?;
    let repeat = repeat
        .map(|runs| runs.parse::<u64>().with_context(|| format!("{runs} is no number of runs")))
        .transpose()?;
    let Some(cargo_fuzz) = cargo_fuzz()? else { return Ok(not_installed()) };
    let fuzz = Fuzz { cargo_fuzz, folder, target, repeat, worst };
    command::run(&mut fuzz.command("build")?)?;
    fuzz.run(seconds, corpus.as_deref())
}

fn not_installed() -> ExitCode {
    println!("skipped: cargo-fuzz is not installed and could not be");
    ExitCode::SUCCESS
}

/// Returns `cargo fuzz` with a verb, and with the workspace's target folder.
fn cargo(cargo_fuzz: &Path, verb: &str, folder: &Path) -> Result<Command> {
    let mut command = Command::new(cargo_fuzz);
    command.args(["fuzz", verb, "--fuzz-dir"]).arg(folder);
    command.env("CARGO_TARGET_DIR", std::path::absolute(command::target())?);
    // Sanitizers are enabled by an unstable flag.
    command.env("RUSTC_BOOTSTRAP", "1").current_dir(folder);
    Ok(command)
}

/// Returns the targets, by the names of their folders of seeds.
pub(crate) fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(command::root().join("fuzz/seeds"))? {
        names.push(command::file_name(&entry?.path()));
    }
    names.sort();
    Ok(names)
}

/// Returns cargo-fuzz from the search path or the target folder; otherwise installs it there.
fn cargo_fuzz() -> Result<Option<PathBuf>> {
    let root = command::target().join("cargo-fuzz");
    let installed = root.join("bin/cargo-fuzz");
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search).map(|dir| dir.join("cargo-fuzz"));
    if let Some(path) = found.chain([installed.clone()]).find(|path| path.is_file()) {
        return Ok(Some(path));
    }
    let mut install = command::words("cargo install cargo-fuzz --quiet --locked --root");
    // It only calls other programs: an optimized build would take longer than all its work.
    install.arg(&root).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    command::announce(&install);
    Ok(install.status()?.success().then_some(installed))
}

/// Run of one target.
struct Fuzz<'t> {
    cargo_fuzz: PathBuf,
    folder: PathBuf,
    target: &'t str,
    /// Number of inputs to try, the same ones each time; `None` for different ones until the time is over.
    repeat: Option<u64>,
    /// True to renew the inputs with the highest cost per byte.
    worst: bool,
}

impl Fuzz<'_> {
    fn command(&self, verb: &str) -> Result<Command> {
        let mut command = cargo(&self.cargo_fuzz, verb, &self.folder)?;
        command.arg(self.target);
        Ok(command)
    }

    /// Tries inputs until the time is over.
    fn run(&self, seconds: u64, more: Option<&Path>) -> Result<ExitCode> {
        let start = Instant::now();
        if !self.worst {
            worst::check(self.target, self.replay()?)?;
        }
        let corpus = self.corpus()?;
        let costly = self.empty_folder("fuzz-costly")?;
        let mut command = self.command("run")?;
        command.arg(&corpus).arg(self.folder.join("seeds").join(self.target));
        command.args(more);
        let kept = worst::folder(self.target);
        command.args(kept.is_dir().then_some(kept));
        if self.worst {
            command.env(worst::KEPT_IN, &costly);
        }
        command.arg("--").args(LIMITS).arg("-print_final_stats=1");
        command.arg(format!("-max_total_time={seconds}"));
        if self.target == PLAIN_SCHEDULE.0 {
            command.arg(PLAIN_SCHEDULE.1);
        }
        if let Some(runs) = self.repeat {
            command.arg(format!("-runs={runs}")).arg(format!("-seed={SEED}"));
        }
        let begun = std::time::SystemTime::now();
        command::announce(&command);
        match (command.status()?.code(), self.artifact(begun)?) {
            (Some(0), _) => {}
            (Some(_), Some(input)) => bail!("{} fails: {}", self.target, input.display()),
            (Some(_), None) => bail!("{} does not run", self.target),
            (None, _) => bail!("{} was ended by a signal", self.target),
        }
        if self.worst {
            worst::renew(self.target, self.replay()?, &[costly])?;
        }
        println!("{}: {} s, no failure", self.target, start.elapsed().as_secs());
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the command that runs the files of its arguments.
    fn replay(&self) -> Result<Command> {
        self.command("run")
    }

    /// Returns the folder for inputs with new coverage: persistent, or empty for a repeatable run.
    fn corpus(&self) -> Result<PathBuf> {
        if self.repeat.is_some() {
            return self.empty_folder("fuzz-repeated");
        }
        let corpus = self.folder.join("corpus").join(self.target);
        std::fs::create_dir_all(&corpus)?;
        Ok(corpus)
    }

    /// Returns an empty folder for the target below the target folder.
    fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = std::path::absolute(command::target())?.join(name).join(self.target);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Returns the failing input that was stored since then.
    fn artifact(&self, since: std::time::SystemTime) -> Result<Option<PathBuf>> {
        let folder = self.folder.join("artifacts").join(self.target);
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let entry = entry?;
            // Slow inputs are stored as well, without ending the run.
            let is_failure = !entry.file_name().to_string_lossy().starts_with("slow-unit-");
            if is_failure && entry.metadata()?.modified()? >= since {
                return Ok(Some(entry.path()));
            }
        }
        Ok(None)
    }
}
