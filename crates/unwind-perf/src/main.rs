//! `unwind-perf`: the command. Arguments in, a profile out; diagnostics on stderr; an exit status that a script can
//! use: 0 complete, 1 written but the input was damaged, 2 no output.
#![allow(clippy::print_stderr, reason = "a command talks to people on stderr")]

mod assemble;
mod cli;
#[cfg(feature = "debuginfod")]
mod debuginfod;
mod files;
mod filter;
mod findings;
mod input;
mod jit;
mod kernel;
mod notes;
mod open;
mod pipeline;
mod progress;
mod split;
mod symbols;
mod timings;
mod write;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::Cli;
use crate::pipeline::Status;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        None => pipeline::run(&cli.main),
        Some(command) => match *command {},
    };
    match result {
        Ok(Status::Complete) => ExitCode::SUCCESS,
        Ok(Status::Damaged) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("unwind-perf: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whoever read our output has seen enough: no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
