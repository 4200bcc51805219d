//! `cargo xtask ci long`: the checks that are too slow for a single change. Each runs another task with the release
//! build of the command, and fails if one of the task's numbers is wrong.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use super::{Outcome, Tally, hostile, kubernetes, lab, source, succeeds, task, wanted};
use crate::args::Args;
use crate::{command, docs, machine};

/// The word that selects these checks.
pub(super) const WORD: &str = "long";

/// Seconds of hostile input for each reader.
const SECONDS: u64 = 600;
/// Number of instructions that each of six programs runs, and average number of instructions per drawn one.
const INSTRUCTIONS: [&str; 4] = ["--instructions", "400000", "--mean", "40"];
/// Number of stops of each of eight programs, and average number of instructions per stop.
const STOPS: [&str; 4] = ["--stops", "3000", "--mean", "70"];

/// Number of damaged inputs, with three runs of the command each: more than 20,000 runs.
const DAMAGED: &str = "7000";

type Check = fn(&Long) -> Result<Outcome>;

/// The checks in order.
const CHECKS: &[(&str, Check)] = &[
    ("truth steps", steps),
    ("truth gdb", gdb),
    ("truth withheld", |it| it.recorded(&["truth", "withheld"], machine::LARGEST_DUMPS)),
    ("truth repairs", |it| it.recorded(&["truth", "repairs"], machine::LARGEST_DUMPS)),
    ("programs", |it| it.recorded(&["programs"], machine::MOST_STACKS)),
    ("sources", |it| it.run(lab(&["sources"], &it.root)?)),
    ("corpus", corpus),
    ("names of C++", |it| source::names(&it.root)),
    ("site of the documents", site),
    ("recipes", recipes),
    ("clickhouse", clickhouse),
    ("kubernetes", |it| kubernetes::check(&it.root, &std::path::absolute(it.ours()?)?)),
    ("urls", urls),
    ("dist", dist),
    ("unsafe code", unsafe_code),
    ("damaged input", |it| it.run(task(&["mutate", "--runs", DAMAGED], &it.root)?)),
    ("hostile input", |it| hostile::long_input(&it.root, it.seconds)),
];

/// Settings of the checks.
struct Long {
    /// Folder of the workspace.
    root: PathBuf,
    /// Path of the command, if given.
    given: Option<String>,
    ours: OnceCell<PathBuf>,
    /// Seconds of hostile input for each reader.
    seconds: u64,
    /// Folder with recordings.
    corpus: Option<PathBuf>,
}

/// Runs all checks, or the named ones. The last line is `N passed, N failed`.
pub(super) fn run(mut args: Args) -> Result<ExitCode> {
    let it = Long {
        root: command::root(),
        given: args.value("--ours")?,
        ours: OnceCell::new(),
        seconds: args.number("--seconds", SECONDS)?,
        corpus: args.value("--corpus")?.map(std::path::absolute).transpose()?,
    };
    let wanted = wanted(args, CHECKS.iter().map(|&(name, _)| name))?;
    let mut tally = Tally { wanted, ..Tally::default() };
    for (name, check) in CHECKS {
        tally.check(name, || check(&it));
    }
    Ok(tally.report())
}

impl Long {
    /// Returns the command: that of `--ours`, else a release build.
    fn ours(&self) -> Result<&Path> {
        if self.ours.get().is_none() {
            let built = command::ours(self.given.clone())?;
            let _ = self.ours.set(built);
        }
        Ok(self.ours.get().context("the command")?)
    }

    /// Runs a task with the command.
    fn run(&self, mut task: Command) -> Result<Outcome> {
        command::run(task.arg("--ours").arg(self.ours()?))?;
        Ok(Outcome::Passed)
    }

    /// Same as [`Self::run`] for a task of `lab` that records with these options.
    fn recorded(&self, words: &[&str], options: &str) -> Result<Outcome> {
        let probe = format!("perf record --quiet -e cpu-clock:u {options} -o /dev/null -- true");
        if !succeeds(&mut command::words(&probe)) {
            return Ok(Outcome::Skipped(format!("perf does not record here: {probe}")));
        }
        self.run(lab(words, &self.root)?)
    }
}

/// Returns the reason why programs cannot run instruction by instruction here, if any.
fn cannot_step() -> Option<Outcome> {
    let why = if !cfg!(target_arch = "x86_64") {
        "programs are stepped on x86-64 only"
    } else if !succeeds(&mut command::words("cc --version")) {
        "there is no C compiler"
    } else {
        return None;
    };
    Some(Outcome::Skipped(why.to_owned()))
}

fn steps(it: &Long) -> Result<Outcome> {
    match cannot_step() {
        Some(skipped) => Ok(skipped),
        None => it.run(lab(&[&["truth", "steps"][..], &INSTRUCTIONS].concat(), &it.root)?),
    }
}

fn unsafe_code(it: &Long) -> Result<Outcome> {
    command::run(&mut task(&["unsafe"], &it.root)?)?;
    Ok(Outcome::Passed)
}

fn gdb(it: &Long) -> Result<Outcome> {
    if let Some(skipped) = cannot_step() {
        return Ok(skipped);
    }
    if !succeeds(&mut command::words("gdb --version")) {
        return Ok(Outcome::Skipped("gdb is not installed".to_owned()));
    }
    it.run(lab(&[&["truth", "gdb"][..], &STOPS].concat(), &it.root)?)
}

/// Checks the records of every recording in the named folder.
fn corpus(it: &Long) -> Result<Outcome> {
    let Some(folder) = &it.corpus else {
        return Ok(Outcome::Skipped("no folder with recordings is named (--corpus)".to_owned()));
    };
    let mut corpus = lab(&["corpus"], &it.root)?;
    command::run(corpus.arg(folder).arg("--ours").arg(it.ours()?))?;
    Ok(Outcome::Passed)
}

/// Builds the documents as a site, if mdBook is installed.
fn site(it: &Long) -> Result<Outcome> {
    if !succeeds(Command::new("mdbook").arg("--version")) {
        return Ok(Outcome::Skipped("mdBook is not installed".to_owned()));
    }
    docs::build(&it.root, &std::path::absolute(command::target().join("book"))?)?;
    Ok(Outcome::Passed)
}

/// Runs the statements of the documents in `ClickHouse`. Its library takes 900 MB, and is installed from a registry.
fn clickhouse(it: &Long) -> Result<Outcome> {
    if let Some(skipped) = no_environments() {
        return Ok(skipped);
    }
    let python = environment("clickhouse", "chdb", &["chdb==4.4.0"])?;
    let test = it.root.join("crates/unwind-perf/python/tests/test_clickhouse.py");
    let ours = std::path::absolute(it.ours()?)?;
    command::run(Command::new(&python).arg(test).env("UNWIND_PERF_PROGRAM", ours))?;
    Ok(Outcome::Passed)
}

/// Engines of the recipes, which are installed from registries.
const ENGINES: [&str; 7] = [
    "pyarrow==26.0.1",
    "polars==2.1.0",
    "pandas==3.1.1",
    "duckdb==2.0.1",
    "dask[dataframe]==2026.8.0",
    "ray==2.60.0",
    "pyspark==4.3.0",
];

/// Runs the recipes of the documents, and reads trees, in all engines. Spark needs Java, and is omitted without it.
fn recipes(it: &Long) -> Result<Outcome> {
    if let Some(skipped) = no_environments() {
        return Ok(skipped);
    }
    let python = environment("recipes", "polars, duckdb, dask.dataframe, ray, pyspark", &ENGINES)?;
    let ours = std::path::absolute(it.ours()?)?;
    let package = it.root.join("crates/unwind-perf/python");
    for file in ["test_recipes.py", "test_tree.py"] {
        let mut run = Command::new(&python);
        run.arg(package.join("tests").join(file)).env("PYTHONPATH", &package);
        command::run(run.env("UNWIND_PERF_PROGRAM", &ours).env("PYTHONDONTWRITEBYTECODE", "1"))?;
    }
    Ok(Outcome::Passed)
}

/// Emulators of stores and their clients, which are installed from registries.
const EMULATORS: [&str; 2] = ["moto[server]==5.2.5", "azure-storage-blob==12.31.1"];

/// Converts recordings in emulated stores of objects. The command has the feature `urls`, unless it is given.
fn urls(it: &Long) -> Result<Outcome> {
    if let Some(skipped) = no_environments() {
        return Ok(skipped);
    }
    let python = environment("urls", "moto, boto3, azure.storage.blob", &EMULATORS)?;
    let folder = std::path::absolute(command::target().join("urls"))?;
    if !folder.join("node_modules/.bin/azurite-blob").exists() {
        if !succeeds(Command::new("npm").arg("--version")) {
            return Ok(Outcome::Skipped("npm is not installed, which installs azurite".to_owned()));
        }
        let mut npm = command::words("npm install --silent --no-fund --no-audit azurite@3.37.0");
        command::run(npm.arg("--prefix").arg(&folder))?;
    }
    let ours = match &it.given {
        Some(given) => std::path::absolute(given)?,
        None => {
            let build = "cargo build --release --quiet --features urls --target-dir";
            command::run(command::words(build).arg(&folder).current_dir(&it.root))?;
            folder.join("release/unwind-perf")
        }
    };
    let test = it.root.join("crates/unwind-perf/python/tests/test_urls.py");
    let package = it.root.join("crates/unwind-perf/python");
    let mut run = Command::new(&python);
    run.arg(test).env("PYTHONPATH", package).env("EMULATORS", folder);
    command::run(run.env("UNWIND_PERF_PROGRAM", ours))?;
    Ok(Outcome::Passed)
}

/// Returns the reason why Python cannot install packages here, if any.
fn no_environments() -> Option<Outcome> {
    let can = succeeds(Command::new("python3").args(["-c", "import ensurepip, venv"]));
    let why = || Outcome::Skipped("python3 cannot make environments (python3-venv)".to_owned());
    (!can).then(why)
}

/// Returns the Python of an environment in the target folder, with packages that have these modules.
fn environment(name: &str, modules: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = std::path::absolute(command::target().join(name))?;
    let python = folder.join("bin/python");
    if !succeeds(Command::new(&python).args(["-c", &format!("import {modules}")])) {
        command::run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        command::run(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(packages))?;
    }
    Ok(python)
}

/// Checks the packages. Their tools are installed from registries.
fn dist(it: &Long) -> Result<Outcome> {
    if !crate::dist::PROCESSORS.contains(&std::env::consts::ARCH) {
        return Ok(Outcome::Skipped(format!("no packages are made on {}", std::env::consts::ARCH)));
    }
    if let Some(skipped) = no_environments() {
        return Ok(skipped);
    }
    command::run(&mut task(&["dist"], &it.root)?)?;
    Ok(Outcome::Passed)
}
