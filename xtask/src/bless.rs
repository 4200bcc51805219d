//! `cargo xtask bless`: rewrites the expected outputs of the cases with the built command, then shows the changes.
//!
//! The file's extension selects the printer (`expected.folded` is `--format folded`); `expected.summary` is the summary
//! on stderr. Only existing files are rewritten. A new case gets `expected.ndjson` and `expected.folded`;
//! the former may be removed if it is large.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::{command, testdata};

/// Files of all cases, relative to a case's folder.
const SYSROOT: &str = "../../sysroot";
/// Outputs of a new case.
const DEFAULT: &[&str] = &["ndjson", "folded"];

/// Rewrites the named cases, or all.
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
        let expected = folder.join(format!("expected.{format}"));
        let mut command = replay(ours, folder);
        if format == "summary" {
            let file = std::fs::File::create(&expected)?;
            command.args(["--format", "folded", "--output", "/dev/null"]).stderr(file);
        } else {
            command.args(["--quiet", "--format", &format, "--output"]).arg(&expected);
        }
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

/// Returns the command as in the tests: inside the case's folder, so that no path of this machine gets into the output,
/// and without the user's build-id cache.
fn replay(ours: &Path, folder: &Path) -> Command {
    let mut command = Command::new(ours);
    command.args(["perf.data", "--sysroot", SYSROOT]).current_dir(folder).env_remove("HOME");
    if folder.join("kallsyms").is_file() {
        command.args(["--kallsyms", "kallsyms"]);
    }
    command
}
