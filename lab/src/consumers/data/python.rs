//! Check of the Python package: its tests on the oldest and the newest installed Python, its types by mypy, and the
//! notebook of the documentation.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use xtask::command;
use xtask::machine::{Interpreter, interpreters};

use crate::consumers::{Bench, Missing};

/// Packages that read its tables.
const OLDEST: &str = "pyarrow";
const NEWEST: &str = "pyarrow polars pandas duckdb mypy nbclient ipykernel";

/// Runs the cells of a notebook, in its folder.
const NOTEBOOK: &str = "
import nbclient, nbformat, sys
book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, timeout=120).execute()
print(sum(cell.cell_type == 'code' and bool(cell.outputs) for cell in book.cells))
";

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let mut found = interpreters();
    let newest = found.pop().ok_or_else(|| Missing("no Python of 3.9 or newer".to_owned()))?;
    let mut told = Vec::new();
    if let Some(oldest) = found.into_iter().next() {
        told.push(tests(bench, &oldest, OLDEST)?.1);
    }
    let (python, tested) = tests(bench, &newest, NEWEST)?;
    told.push(tested);
    let package = package();
    let mut types = Command::new(&python);
    types.args(["-m", "mypy", "--strict", "--cache-dir=/dev/null", "--config-file"]);
    types.arg(package.join("../pyproject.toml")).arg(package.join("unwind_perf"));
    command::quiet_output(&mut types)?;
    let docs = command::root().join("docs");
    let mut notebook = Command::new(&python);
    notebook
        .args(["-c", NOTEBOOK, "questions.ipynb"])
        .current_dir(docs)
        .env("PYTHONPATH", &package);
    notebook.env("UNWIND_PERF_PROGRAM", bench.ours).env("PYTHONDONTWRITEBYTECODE", "1");
    let cells = command::quiet_output(&mut notebook)?;
    Ok(format!("{}; mypy --strict; notebook of {} answers", told.join(", "), cells.trim()))
}

/// Files with the tests.
const TESTS: &[&str] = &[
    "test_package.py",
    "test_convert.py",
    "test_tree.py",
    "test_recipes.py",
    "test_types.py",
    "test_files.py",
];

/// Runs the tests in a separate environment. Returns its Python, and a description of the tests.
fn tests(
    bench: &Bench<'_>,
    interpreter: &Interpreter,
    packages: &str,
) -> Result<(PathBuf, String)> {
    let Interpreter { minor, path } = interpreter;
    let python = environment(bench, path, &format!("python3.{minor}"), packages)?;
    let mut count = 0;
    for file in TESTS {
        count += run(bench, &python, file).with_context(|| format!("Python 3.{minor}: {file}"))?;
    }
    Ok((python, format!("{count} tests on Python 3.{minor}")))
}

/// Returns the Python of an environment with the packages; creates the environment if it does not exist.
pub(super) fn environment(
    bench: &Bench<'_>,
    interpreter: &Path,
    name: &str,
    packages: &str,
) -> Result<PathBuf> {
    let root = command::root().join("target/consumers").join(name);
    let python = root.join("bin/python");
    if !python.is_file() {
        bench.install(Command::new(interpreter).args(["-m", "venv"]).arg(&root))?;
    }
    if !packages.split(' ').all(|package| has(&python, package)) {
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet"]).args(packages.split(' '));
        bench.install(&mut install)?;
    }
    Ok(python)
}

/// Runs a file of tests; returns their number.
fn run(bench: &Bench<'_>, python: &Path, file: &str) -> Result<usize> {
    let package = package();
    let mut tests = Command::new(python);
    tests.arg(package.join("tests").join(file)).env("PYTHONPATH", &package);
    tests.env("UNWIND_PERF_PROGRAM", bench.ours).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = tests.output().with_context(|| command::show(&tests))?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{said}");
    let count = said.lines().find(|line| line.starts_with("Ran ")).context("no tests")?;
    count.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no number of tests")
}

fn has(python: &Path, package: &str) -> bool {
    command::quiet_output(Command::new(python).args(["-c", &format!("import {package}")])).is_ok()
}

/// Returns the folder with the package and its tests.
pub(super) fn package() -> PathBuf {
    command::root().join("crates/unwind-perf/python")
}
