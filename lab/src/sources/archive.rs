//! Check of the archive that `perf archive` makes of a recording's files, as a source of files.

use std::process::Command;

use anyhow::{Context, Result};
use xtask::command;

use super::{Bench, all_known, none_known};

/// Runs the check.
pub(super) fn check(bench: &Bench) -> Result<String> {
    let program = bench.program("spin", "-Wl,--build-id")?;
    let data = bench.record("", &["./spin"])?;
    let mut perf = Command::new("perf");
    perf.args(["archive", "perf.data"]).env("HOME", &bench.scratch).current_dir(&bench.scratch);
    command::output(&mut perf)?;
    std::fs::remove_file(program)?;
    std::fs::remove_dir_all(bench.scratch.join(".debug"))?;
    none_known(bench.known(&data, &[])?, "without the archive")?;
    let entries = std::fs::read_dir(&bench.scratch)?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let archive = names
        .into_iter()
        .find(|name| name.starts_with("perf.data.tar"))
        .context("perf archive made no archive")?;
    all_known(bench.known(&data, &["--buildid-dir", &archive])?, "from the archive")?;
    Ok(format!("{archive} serves the recording"))
}
