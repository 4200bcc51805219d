//! `cargo xtask ci`: all checks of a change, one by one: formatting, lints, documentation, conventions, dependencies,
//! the output with its real consumers, hostile input, and all tests.
//!
//! Checks that this machine cannot run (such as recording with perf) are skipped and reported. `.ci/run` installs
//! missing tools and calls this. The release build runs in parallel with the checks of the source. The consumers, which
//! wait for browsers and networks, run in parallel with the tests and the hostile input.
//!
//! `cargo xtask ci long` runs the slower checks ([`long`]), including the packages; `cargo xtask ci quick` those of a
//! contributor's loop ([`quick`]).

mod dependencies;
mod flame_graphs;
mod hostile;
mod input;
mod kubernetes;
mod long;
mod output;
mod parallel;
mod quick;
mod rebuilt;
mod session;
mod source;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::command;
use input::Input;
use parallel::ParallelCommand;

/// Result of a check that did not fail.
enum Outcome {
    Passed,
    /// The missing requirement on this machine.
    Skipped(String),
}

/// A check that needs only the source.
type SourceCheck = fn(&Path) -> Result<Outcome>;
/// A check of the built command on a recording.
type OutputCheck = fn(&Bench) -> Result<Outcome>;

/// Checks of the source, in order of cost.
const SOURCE: &[(&str, SourceCheck)] = &[
    ("formatting", source::formatting),
    ("lints", source::lints),
    ("features", source::features),
    ("documentation", source::documentation),
    ("public API", source::public_api),
    ("conventions", source::conventions),
    ("spelling", source::spelling),
    ("dependencies", dependencies::policy),
    ("advisories", dependencies::advisories),
    ("notices", dependencies::notices),
    ("oldest compiler", source::oldest_compiler),
    ("lab", source::lab_tests),
    ("names of C++", source::names),
];

/// Build in parallel with them: the command, which later checks need.
const BUILD: &str = "release build";

/// Checks of the command.
const OUTPUT: &[(&str, OutputCheck)] = &[
    ("README's first command", output::readme_command),
    ("README's session", session::of_a_new_user),
    ("recordings outlive programs", rebuilt::programs),
    ("JSON is read", output::json_is_read),
    ("stacks are complete", output::stacks_are_complete),
    ("readers may stop", output::readers_may_stop),
    ("flame graphs are drawn", flame_graphs::are_drawn),
    ("streams are read", output::streams_are_read),
    ("starts no other program", output::starts_nothing),
    ("agrees with perf", output::agrees_with_perf),
    ("agrees with gdb", output::agrees_with_gdb),
];

/// Other programs that read the output. Some of them build examples, which wait for other builds of the same profile.
/// The tests have another profile, so they are the first check in parallel with them.
const CONSUMERS: &str = "consumers read the output";

/// Slow checks.
const LAST: &[(&str, SourceCheck)] = &[("tests", source::tests), ("hostile input", hostile::input)];

/// Environment of the checks of the command.
struct Bench {
    /// Folder of the workspace.
    root: PathBuf,
    /// Target folder.
    target: PathBuf,
    /// Release build of the command.
    ours: PathBuf,
    /// Scratch folder.
    scratch: PathBuf,
    input: Input,
}

impl Bench {
    /// Empties the scratch folder, and records.
    fn new(root: &Path, target: &Path) -> Result<Self> {
        let scratch = target.join("ci");
        if scratch.exists() {
            std::fs::remove_dir_all(&scratch)?;
        }
        std::fs::create_dir_all(&scratch)?;
        Ok(Self {
            root: root.to_owned(),
            target: target.to_owned(),
            ours: target.join("release/unwind-perf"),
            input: Input::new(root, &scratch),
            scratch,
        })
    }

    /// Returns the command on the recording of the checks, without diagnostics.
    fn ours(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.ours);
        command.env("UNWIND_PERF_CACHE", "off");
        command.arg("--quiet").arg(&self.input.recording).args(&self.input.options);
        command.args(arguments);
        command
    }
}

/// Runs all checks of a change, or the named ones; after the word `long` the slow ones, after `quick` the quick ones.
/// The last line is `N passed, N failed`.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    match args.first(&[long::WORD, quick::WORD]) {
        Some(long::WORD) => return long::run(args),
        Some(_) => return quick::run(args),
        None => {}
    }
    let source = SOURCE.iter().chain(LAST).map(|&(known, _)| known);
    let output = OUTPUT.iter().map(|&(known, _)| known);
    let wanted = wanted(args, source.chain(output).chain([BUILD, CONSUMERS]))?;
    let root = command::root();
    // An absolute path, since some commands run in other folders.
    let target = std::path::absolute(command::target())?;
    let mut tally = Tally { wanted, ..Tally::default() };
    let logs = target.join("ci-beside");
    let build = tally
        .wants(BUILD)
        .then(|| ParallelCommand::start(&mut source::release_build(&root), &logs.join("build")));
    for (name, check) in SOURCE {
        tally.check(name, || check(&root));
    }
    tally.ended(BUILD, build);
    if OUTPUT.iter().any(|(name, _)| tally.wants(name)) {
        let bench = Bench::new(&root, &target)?;
        for (name, check) in OUTPUT {
            tally.check(name, || check(&bench));
        }
    }
    let consumers = tally.wants(CONSUMERS).then(|| {
        let ours = target.join("release/unwind-perf");
        let mut consumers = lab(&["consumers", "--ours"], &root)?;
        ParallelCommand::start(consumers.arg(ours), &logs.join("consumers"))
    });
    for (name, check) in LAST {
        tally.check(name, || check(&root));
    }
    tally.ended(CONSUMERS, consumers);
    Ok(tally.report())
}

/// Returns the named checks.
///
/// # Errors
/// If a name is not one of the `known` checks.
fn wanted<'k>(args: Args, known: impl Iterator<Item = &'k str>) -> Result<Vec<String>> {
    let wanted = args.names()?;
    let known: Vec<&str> = known.collect();
    if let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no check {name}; there are: {}", known.join(" | "));
    }
    Ok(wanted)
}

/// Results of the checks.
#[derive(Default)]
struct Tally {
    /// Checks to run; all if empty.
    wanted: Vec<String>,
    passed: usize,
    failed: Vec<String>,
}

impl Tally {
    fn wants(&self, name: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == name)
    }

    /// Runs a check, counts it, and continues after a failure.
    fn check(&mut self, name: &str, check: impl FnOnce() -> Result<Outcome>) {
        if !self.wants(name) {
            return;
        }
        println!("\n== {name}");
        let start = Instant::now();
        match check() {
            Ok(Outcome::Passed) => {
                println!("{name}: {} s", start.elapsed().as_secs());
                self.passed += 1;
            }
            Ok(Outcome::Skipped(why)) => println!("skipped: {why}"),
            Err(error) => {
                println!("FAILED: {name}: {error:#}");
                self.failed.push(name.to_owned());
            }
        }
    }

    /// Waits for a command that ran in parallel, and counts it.
    fn ended(&mut self, name: &str, beside: Option<Result<ParallelCommand>>) {
        if let Some(beside) = beside {
            self.check(name, || beside?.finish());
        }
    }

    fn report(&self) -> ExitCode {
        println!();
        for name in &self.failed {
            println!("failed: {name}");
        }
        println!("{} passed, {} failed", self.passed, self.failed.len());
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Runs a command line; a failure is an error.
fn passes(line: &str, folder: &Path) -> Result<Outcome> {
    command::run(command::words(line).current_dir(folder))?;
    Ok(Outcome::Passed)
}

/// Returns another task of this program.
fn task(words: &[&str], folder: &Path) -> Result<Command> {
    let mut task = Command::new(std::env::current_exe()?);
    task.args(words).current_dir(folder);
    Ok(task)
}

/// Builds `lab` and returns one of its tasks. It does not run through cargo, which would wait for the builds of other
/// checks.
fn lab(words: &[&str], folder: &Path) -> Result<Command> {
    passes("cargo build --quiet --package lab", folder)?;
    let mut task = Command::new(std::path::absolute(command::target())?.join("debug/lab"));
    task.args(words).current_dir(folder);
    Ok(task)
}

/// Returns true if the command runs and succeeds; its output is discarded.
fn succeeds(command: &mut Command) -> bool {
    command::quiet_output(command).is_ok()
}

/// Returns an error unless the condition holds.
fn ensure(holds: bool, otherwise: impl Into<String>) -> Result<Outcome> {
    if !holds {
        bail!(otherwise.into());
    }
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::{Args, wanted};

    #[test]
    fn checks_are_named_as_they_are_known() {
        let of = |name: &str| {
            wanted(Args::new(vec![name.to_owned()]), ["truth gdb", "programs"].into_iter())
        };
        assert_eq!(of("programs").unwrap(), ["programs"]);
        let refused = of("truth").unwrap_err().to_string();
        assert_eq!(refused, "no check truth; there are: truth gdb | programs");
    }
}
