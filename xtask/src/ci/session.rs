//! A new user's session from README.md, under "Which line costs most": from the installation to the line, with the
//! program of `testdata/programs/session.c`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{Bench, Outcome, ensure, succeeds};
use crate::command;

/// Heading of the commands in README.md.
const HEADING: &str = "## Which line costs most";
/// Maximum number of commands that lead to the line.
const MOST: usize = 4;
/// The line that costs most, and its function.
const LINE: &str = "session.c:9";
const FUNCTION: &str = "mix";

/// Runs the commands, and looks for the line in the output of the last two.
pub(super) fn of_a_new_user(bench: &Bench) -> Result<Outcome> {
    let probe = bench.scratch.join("probe.data");
    let mut record = command::words("perf record -q -e cpu-clock -o");
    if !succeeds(record.arg(&probe).args(["--", "true"])) {
        return Ok(Outcome::Skipped("perf cannot record here".to_owned()));
    }
    let folder = bench.scratch.join("session");
    std::fs::create_dir_all(&folder)?;
    let source = bench.root.join("testdata/programs/session.c");
    command::run(
        command::words("cc -g -O1 -fno-inline -o").arg(folder.join("program")).arg(source),
    )?;
    let readme = std::fs::read_to_string(bench.root.join("README.md")).context("README.md")?;
    let lines = commands(&readme)?;
    let [install, record, top, annotate] = lines.as_slice() else {
        bail!("README.md: {} commands instead of {MOST}", lines.len());
    };
    let installed = bench.scratch.join("installed");
    let path = search_path(&installed.join("bin"))?;
    command::run(
        command::words(install)
            .arg("--root")
            .arg(&installed)
            .env("CARGO_TARGET_DIR", &bench.target)
            .current_dir(&bench.root),
    )?;
    // A shell, so that the search path is that of a user.
    let shell = |line: &str| {
        let mut command = command::words("sh -c");
        command.arg(line).env("PATH", &path).current_dir(&folder);
        command
    };
    command::run(&mut shell(record))?;
    let top = command::quiet_output(&mut shell(top))?;
    let row = top.lines().nth(2).unwrap_or_default();
    if !(row.contains(LINE) && row.ends_with(FUNCTION)) {
        bail!("the first row is not {LINE} in {FUNCTION}: {row}");
    }
    let annotated = command::quiet_output(&mut shell(annotate))?;
    let number = LINE.rsplit(':').next().unwrap_or_default();
    let has_cost =
        |line: &str| line.contains(" % ") && line.split_whitespace().any(|word| word == number);
    ensure(annotated.lines().any(has_cost), format!("line {number} has no cost:\n{annotated}"))
}

/// Returns the commands below the heading: the lines of the first block of code.
fn commands(readme: &str) -> Result<Vec<String>> {
    let (_, below) = readme.split_once(HEADING).context("README.md has no such heading")?;
    let block = below.split("```").nth(1).context("no commands below the heading")?;
    Ok(block.lines().skip(1).map(str::to_owned).filter(|line| !line.is_empty()).collect())
}

/// Returns the search path with a folder before all others.
fn search_path(first: &Path) -> Result<OsString> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(first.to_owned()).chain(std::env::split_paths(&search));
    std::env::join_paths(folders).context("the search path")
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_are_the_lines_of_the_first_block() {
        let readme =
            "# x\n## Which line costs most\n\nText.\n\n```sh\na b\nc\n```\n\n```text\nd\n```\n";
        assert_eq!(commands(readme).expect("commands"), ["a b", "c"]);
        assert!(commands("# x\n").is_err());
    }
}
