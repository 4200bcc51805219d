//! The tasks of a program as a table, and the selection of one by its name: `cargo xtask NAME`, `cargo lab NAME`.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;

/// A row of the table of tasks.
#[derive(Debug)]
pub struct Task {
    /// Name that selects it.
    pub name: &'static str,
    /// Its arguments.
    pub usage: &'static str,
    /// Its purpose, in one line.
    pub about: &'static str,
    /// The task itself, called with the arguments after its name.
    pub run: fn(Args) -> Result<ExitCode>,
}

/// Runs the task that the first argument of the process names. Lists the tasks if there is no such task.
/// `program` is the word after `cargo`.
pub fn run(program: &str, tasks: &[Task]) -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(task) = tasks.iter().find(|task| task.name == name) else {
        eprintln!("usage: cargo {program} TASK");
        for task in tasks {
            eprintln!("  {} {}\n      {}", task.name, task.usage, task.about);
        }
        eprintln!("`cargo xtask` builds, checks and releases; `cargo lab` compares and measures");
        return ExitCode::from(2);
    };
    match (task.run)(Args::new(arguments.collect())) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
