//! `cargo xtask ci`: everything that is checked for a change, check by check: formatting, lints, documentation,
//! conventions, dependencies, the output with its real consumers, hostile input, and all tests.
//!
//! What this machine cannot do (such as recording with perf) is skipped, and said. `.ci/run` installs what is missing
//! and calls this. The release build goes on beside the checks of the source, and the consumers, which wait for browsers and
//! networks, beside the tests and the hostile input.
//!
//! `cargo xtask ci long` runs the checks that take longer ([`long`]), the packages among them; `cargo xtask ci quick` those
//! of a contributor's loop ([`quick`]).

mod beside;
mod dependencies;
mod flame_graphs;
mod hostile;
mod input;
mod long;
mod output;
mod quick;
mod rebuilt;
mod session;
mod source;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::args::Args;
use crate::command;
use beside::Beside;
use input::Input;

/// What became of a check that did not fail.
enum Outcome {
    Passed,
    /// What this machine lacks.
    Skipped(String),
}

/// A check that needs nothing but the source.
type SourceCheck = fn(&Path) -> Result<Outcome>;
/// A check of the built command on a recording.
type OutputCheck = fn(&Bench) -> Result<Outcome>;

/// Checks of the source, in order of cost.
const SOURCE: &[(&str, SourceCheck)] = &[
    ("formatting", source::formatting),
    ("lints", source::lints),
    ("features", source::features),
    ("documentation", source::documentation),
    ("conventions", source::conventions),
    ("dependencies", dependencies::policy),
    ("advisories", dependencies::advisories),
    ("oldest compiler", source::oldest_compiler),
    ("lab", source::lab_tests),
    ("names of C++", source::names),
];

/// What is built beside them: the command, which the checks after it need.
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

/// Other programs that read the output. Some of them build examples, which have to wait for each other build of that
/// profile: the tests, of another one, come first of what runs beside.
const CONSUMERS: &str = "consumers read the output";

/// Checks that take long.
const LAST: &[(&str, SourceCheck)] = &[("tests", source::tests), ("hostile input", hostile::input)];

/// What checks of the command work with.
struct Bench {
    /// The folder of the workspace.
    root: PathBuf,
    /// The folder of what is built.
    target: PathBuf,
    /// The release build of the command.
    ours: PathBuf,
    /// A folder for files.
    scratch: PathBuf,
    input: Input,
}

impl Bench {
    /// Empties the folder for files, and records.
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

    /// The command on the recording of the checks, without diagnostics.
    fn ours(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.ours);
        command.arg("--quiet").arg(&self.input.recording).args(&self.input.options);
        command.args(arguments);
        command
    }
}

/// Runs all checks of a change, or those that are named; after the word `long`, of the long ones, and after `quick`, of the
/// quick ones. The last line is `N passed, N failed`.
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
    // In absolute form: some of the commands run in other folders.
    let target = std::path::absolute(command::target())?;
    let mut tally = Tally { wanted, ..Tally::default() };
    let logs = target.join("ci-beside");
    let build = tally
        .wants(BUILD)
        .then(|| Beside::start(&mut source::release_build(&root), &logs.join("build")));
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
        Beside::start(consumers.arg(ours), &logs.join("consumers"))
    });
    for (name, check) in LAST {
        tally.check(name, || check(&root));
    }
    tally.ended(CONSUMERS, consumers);
    Ok(tally.report())
}

/// The checks that are named.
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

/// How the checks went.
#[derive(Default)]
struct Tally {
    /// The checks that are run; all where it is empty.
    wanted: Vec<String>,
    passed: usize,
    failed: Vec<String>,
}

impl Tally {
    fn wants(&self, name: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == name)
    }

    /// Runs a check, counts it, goes on.
    fn check(&mut self, name: &str, check: impl FnOnce() -> Result<Outcome>) {
        if !self.wants(name) {
            return;
        }
        println!("\n== {name}");
        match check() {
            Ok(Outcome::Passed) => self.passed += 1,
            Ok(Outcome::Skipped(why)) => println!("skipped: {why}"),
            Err(error) => {
                println!("FAILED: {name}: {error:#}");
                self.failed.push(name.to_owned());
            }
        }
    }

    /// Waits for what ran beside other checks, and counts it.
    fn ended(&mut self, name: &str, beside: Option<Result<Beside>>) {
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

/// Runs a line of words; a failure is an error.
fn passes(line: &str, folder: &Path) -> Result<Outcome> {
    command::run(command::words(line).current_dir(folder))?;
    Ok(Outcome::Passed)
}

/// Another task of this program.
fn task(words: &[&str], folder: &Path) -> Result<Command> {
    let mut task = Command::new(std::env::current_exe()?);
    task.args(words).current_dir(folder);
    Ok(task)
}

/// A task of `lab`, which is built first. It is no command of cargo, which would wait for the builds of other checks.
fn lab(words: &[&str], folder: &Path) -> Result<Command> {
    passes("cargo build --quiet --package lab", folder)?;
    let mut task = Command::new(std::path::absolute(command::target())?.join("debug/lab"));
    task.args(words).current_dir(folder);
    Ok(task)
}

/// Whether the command runs and succeeds; what it prints is not shown.
fn succeeds(command: &mut Command) -> bool {
    command::quiet_output(command).is_ok()
}

/// An error unless the condition holds.
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
