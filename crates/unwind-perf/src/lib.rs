//! The commands of this package: `unwind-perf`, and the same under the names that other programs look for.
//!
//! Arguments in, a profile out; diagnostics on stderr; an exit status that a script can use: 0 complete, 1 written but
//! the input was damaged, 2 no output.
#![allow(clippy::print_stderr, reason = "a command talks to people on stderr")]

mod ahead;
mod assemble;
mod buildid_list;
mod cli;
mod color;
#[cfg(feature = "debuginfod")]
mod debuginfod;
mod dump;
mod dump_line;
mod dump_record;
mod files;
mod filter;
mod findings;
mod hotspot_perfparser;
mod info;
mod inject;
mod inject_file;
mod inject_records;
mod input;
mod jit;
mod jit_frames;
mod jitdump;
mod locations;
mod manual;
mod maps;
mod memory_limit;
mod open;
mod perf_to_profile;
mod pipeline;
mod progress;
mod replay;
mod stream;
mod symbols;
mod timings;
mod write;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::{Cli, Command};
use crate::pipeline::Status;

/// The command `unwind-perf`.
#[must_use]
pub fn unwind_perf() -> ExitCode {
    let mut command = Cli::command().color(color::in_arguments(std::env::args_os()));
    let matches = command.get_matches_mut();
    let cli =
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit());
    color::choose(cli.color);
    let result = match &cli.command {
        Some(Command::Info(args)) => info::run(args),
        Some(Command::Dump(args)) => dump::run(args),
        Some(Command::BuildIdList(args)) => buildid_list::run(args),
        Some(Command::Maps(args)) => maps::run(args),
        Some(Command::Inject(args)) => inject::run(args),
        Some(Command::Flamegraph(args)) => pipeline::flamegraph(args),
        Some(Command::Report(args)) => pipeline::report(args),
        Some(Command::Man) => manual::man(),
        Some(Command::Completions(args)) => manual::completions(args),
        None if cli.main.input.as_os_str().is_empty() => {
            Err(anyhow::anyhow!("no recording named; see --help"))
        }
        None => pipeline::main(&cli.main),
    };
    exit_code("unwind-perf", result)
}

/// The command `perf_to_profile`. A damaged recording is no failure: pprof would not show what there is.
#[must_use]
pub fn perf_to_profile() -> ExitCode {
    let result = perf_to_profile::run().map(|status| {
        if status == Status::Damaged {
            eprintln!(
                "perf_to_profile: the recording is damaged, the profile has what was left of it"
            );
        }
        Status::Complete
    });
    exit_code("perf_to_profile", result)
}

/// The command `hotspot-perfparser`, with that program's own exit statuses.
#[must_use]
pub fn hotspot_perfparser() -> ExitCode {
    hotspot_perfparser::main()
}

fn exit_code(name: &str, result: anyhow::Result<Status>) -> ExitCode {
    match result {
        Ok(Status::Complete) => ExitCode::SUCCESS,
        Ok(Status::Damaged) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} {error:#}", color::error(name));
            ExitCode::from(2)
        }
    }
}

/// Whoever read our output has seen enough: no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
