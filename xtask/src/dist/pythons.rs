//! Check of the package in the wheel on the oldest and the newest Python of this machine: its tests, and README's
//! lines.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::emptied;
use crate::command;
use crate::machine::{Interpreter, interpreters};

/// Readers of tables for the tests; the package can be imported without them.
const READERS: &[&str] = &["pyarrow"];
/// Readers that are tested if available, but not with the oldest Python.
const MORE_READERS: &[&str] = &["pyarrow", "polars", "pandas", "duckdb"];

/// Tests of the package that need only a reader of tables.
const TESTS: &[&str] = &["test_package.py", "test_convert.py"];

/// Recording of the test data that README's lines read as `perf.data`.
const CASE: &str = "inlines-gcc";

/// Check of a wheel without readers: its package finds the program.
const ALONE: &str = "import unwind_perf as up; print(up.program(), up.version())";

/// Checks the wheel in a separate environment for each of them.
pub(super) fn check(wheel: &Path, build: &Path) -> Result<()> {
    let found = interpreters();
    let (oldest, newest) = (found.first().context("no Python")?, found.last());
    on(oldest, READERS, wheel, build)?;
    match newest {
        Some(newest) if newest.minor != oldest.minor => on(newest, MORE_READERS, wheel, build),
        _ => Ok(()),
    }
}

fn on(interpreter: &Interpreter, readers: &[&str], wheel: &Path, build: &Path) -> Result<()> {
    let root = build.join(format!("try-python3.{}", interpreter.minor));
    emptied(&root)?;
    command::run(Command::new(&interpreter.path).args(["-m", "venv"]).arg(&root))?;
    let python = root.join("bin/python");
    let pip = |packages: &[&str]| {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(packages);
        pip
    };
    command::run(pip(&["--no-index"]).arg(wheel))?;
    let alone = command::output(bare(&python).args(["-c", ALONE]))?;
    anyhow::ensure!(
        alone.starts_with(&root.join("bin/unwind-perf").display().to_string()),
        "not the wheel's program: {alone}"
    );
    command::run(&mut pip(readers))?;
    let tests = command::root().join("crates/unwind-perf/python/tests");
    for file in TESTS {
        command::run(bare(&python).arg(tests.join(file)))?;
    }
    let place = root.join("readme");
    std::fs::create_dir_all(&place)?;
    let recording = command::root().join("testdata/cases").join(CASE).join("perf.data");
    std::fs::copy(recording, place.join("perf.data"))?;
    let readme = std::fs::read_to_string(command::root().join("README.md"))?;
    let lines = python_lines(&readme).context("README.md has no lines of Python")?;
    let printed = command::output(bare(&python).args(["-c", lines]).current_dir(place))?;
    print!("{printed}");
    anyhow::ensure!(printed.contains("'function'"), "README's lines print no functions");
    Ok(())
}

/// Returns a Python that finds only packages and programs of its environment.
fn bare(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.env_remove("PYTHONPATH").env_remove("UNWIND_PERF_PROGRAM");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Returns the first Python block of a page.
fn python_lines(page: &str) -> Option<&str> {
    page.split_once("\n```python\n")?.1.split_once("```").map(|(lines, _)| lines)
}

#[cfg(test)]
mod tests {
    use super::python_lines;

    #[test]
    fn the_first_block_is_taken() {
        let page = "# x\n```sh\na\n```\n```python\nb\nc\n```\n```python\nd\n```\n";
        assert_eq!(python_lines(page), Some("b\nc\n"));
        assert_eq!(python_lines("# x\n"), None);
    }
}
