//! The recording that the checks of the output read: made here if perf can record, otherwise a stored one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::command;

/// Options of `perf record` for the checks.
const RECORD: &str = "perf record --quiet -e cpu-clock:u -F 499 --call-graph dwarf -o";

/// A recording and the options that replay it.
pub(super) struct Input {
    pub(super) recording: PathBuf,
    /// Options of our command.
    pub(super) options: Vec<OsString>,
    /// The program that was recorded here, if perf can record.
    pub(super) recorded: Option<PathBuf>,
}

impl Input {
    /// Records a program with known stacks. If that fails, uses the stored recording of it, and reports the reason.
    pub(super) fn new(root: &Path, scratch: &Path) -> Self {
        match record(root, scratch) {
            Ok(program) => Self {
                recording: scratch.join("perf.data"),
                options: Vec::new(),
                recorded: Some(program),
            },
            Err(error) => {
                println!("\nperf does not record here, a stored recording is used: {error:#}");
                Self {
                    recording: root.join("testdata/cases/spin-bfd/perf.data"),
                    options: vec!["--sysroot".into(), root.join("testdata/sysroot").into()],
                    recorded: None,
                }
            }
        }
    }
}

fn record(root: &Path, scratch: &Path) -> Result<PathBuf> {
    let program = scratch.join("hello");
    let mut compiler = command::words("cc -O2 -g -o");
    compiler.arg(&program).arg(root.join("testdata/programs/hello_spin.c"));
    command::output(&mut compiler)?;
    command::output(&mut recorder(&scratch.join("perf.data"), &program))?;
    Ok(program)
}

/// Returns the command that records the program into a file (`-`: to standard output).
pub(super) fn recorder(file: &Path, program: &Path) -> Command {
    let mut perf = command::words(RECORD);
    perf.arg(file).arg("--").arg(program);
    perf
}
