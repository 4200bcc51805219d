//! `unwind-perf options-json`: checks the options of a run for a program that passes them on, such as the Python
//! package.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use crate::args::options_of_json;
use crate::terminal::Status;

/// Reads a JSON object from standard input, and prints the options that differ from their defaults.
/// Paths become absolute, for a reader in another folder.
pub(super) fn run() -> anyhow::Result<Status> {
    let mut options = options_of_json(Path::new("-"))?;
    options.make_absolute(&std::env::current_dir().context("this folder is gone")?);
    writeln!(std::io::stdout(), "{}", options.to_json())?;
    Ok(Status::Complete)
}
