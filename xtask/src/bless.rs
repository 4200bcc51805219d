//! `cargo xtask bless`: rewrites the expected outputs of the cases with the built command, then shows what changed.
//!
//! The file's extension picks the printer (`expected.folded` is `--format folded`). A case has the outputs whose files
//! are there; a new case gets `expected.ndjson` and `expected.folded`.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::{command, testdata};

/// The files of all cases, seen from a case's folder.
const SYSROOT: &str = "../../sysroot";
/// What a new case gets.
const DEFAULT: &[&str] = &["ndjson", "folded"];

/// Rewrites the cases that are named, or all.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let ours = command::ours(args.value("--ours")?)?;
    let names = args.names()?;
    let testdata = command::root().join("testdata");
    let mut done = 0;
    for folder in testdata::case_folders(&testdata)? {
        if names.is_empty() || names.contains(&command::file_name(&folder)) {
            bless(&ours, &folder)?;
            done += 1;
        }
    }
    if done < names.len().max(1) {
        bail!("{done} of {} cases found", names.len());
    }
    command::run(
        command::words("git --no-pager diff --stat -- testdata/cases").current_dir(command::root()),
    )?;
    Ok(ExitCode::SUCCESS)
}

fn bless(ours: &Path, folder: &Path) -> Result<()> {
    let mut formats = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        if let Some(format) = command::file_name(&entry?.path()).strip_prefix("expected.") {
            formats.push(format.to_owned());
        }
    }
    if formats.is_empty() {
        formats = DEFAULT.iter().map(|&format| format.to_owned()).collect();
    }
    formats.sort();
    for format in formats {
        let mut command = Command::new(ours);
        // Run inside the case's folder, so that no path of this machine gets into the output.
        command.args(["--quiet", "--format", &format, "--sysroot", SYSROOT]);
        if folder.join("kallsyms").is_file() {
            command.args(["--kallsyms", "kallsyms"]);
        }
        command.arg("-o").arg(format!("expected.{format}")).arg("perf.data").current_dir(folder);
        command::announce(&command);
        let status = command.status().with_context(|| command::show(&command))?;
        match status.code() {
            Some(0) => {}
            Some(1) => println!("note: {} reports damaged input", folder.display()),
            _ => bail!("{status}: {}", command::show(&command)),
        }
    }
    Ok(())
}
