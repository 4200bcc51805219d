//! The commands of this package: `unwind-perf`, and the same program under the names that other programs look for.
//!
//! Input: arguments. Output: a profile, and diagnostics on stderr. Exit status for scripts: 0 complete, 1 written but
//! the input was damaged, 2 no output. A command that records ends with the status of the recorded program.
#![allow(clippy::print_stderr, reason = "a command talks to people on stderr")]

mod args;
mod commands;
mod compat;
mod failure;
mod function_filter;
mod hotspot;
mod spelling;
mod terminal;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use host::{CountingAllocator, MemoryWords, default_memory_limit, limit_memory, set_memory_words};

use crate::args::{
    Cli, Command, color_in_arguments, names_command, with_command_first, with_suggestion,
};
use crate::terminal::{
    NO_OUTPUT, NOT_RECORDED, choose_colors, exit_code, print_failure, print_wrong_call,
};

/// Counts the memory of the program, so that exceeding the limit ends it with a message.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Texts of the message of a command that ran out of memory.
const MEMORY_WORDS: MemoryWords = MemoryWords {
    program: "unwind-perf",
    limit: "--max-memory",
    less: "select less with --pid, --comm, --event or --time",
};

/// Runs the command that the program was started as: `perf_to_profile` and `hotspot-perfparser` can be links to
/// `unwind-perf`, which runs under any other name.
#[must_use]
pub fn by_name() -> ExitCode {
    set_memory_words(MEMORY_WORDS);
    limit_memory(default_memory_limit());
    let started_as = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    match started_as.file_name().and_then(OsStr::to_str) {
        Some("perf_to_profile") => perf_to_profile(),
        Some("hotspot-perfparser") => hotspot_perfparser(),
        _ => unwind_perf(),
    }
}

/// Runs the command `unwind-perf`.
#[must_use]
pub fn unwind_perf() -> ExitCode {
    let mut command = Cli::command().color(color_in_arguments(std::env::args_os()));
    let words = with_command_first(&command, std::env::args_os().collect());
    let parsed = command.try_get_matches_from_mut(&words);
    let matches = match parsed {
        Ok(matches) => matches,
        Err(error) => return usage(&with_suggestion(error, &mut command, &words), &words),
    };
    let cli =
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit());
    choose_colors(cli.color);
    // A signal that ends a recording does not end this process.
    if !hears_signals(cli.command.as_ref()) {
        clean_up();
    }
    let records = matches!(cli.command, Some(Command::Record(_)));
    let failed = if records { NOT_RECORDED } else { NO_OUTPUT };
    let result = commands::run(&cli);
    // Reported here because it was found while the output was being written, after the account of the run.
    for row in pipeline::dangling_ids() {
        eprintln!("unwind-perf: {} ({} times)", row.message, row.count);
    }
    if let Err(error) = &result {
        print_failure(error);
    }
    exit_code("unwind-perf", failed, result)
}

/// Prints help, or a mistake in the arguments.
fn usage(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if error.use_stderr() {
        print_wrong_call(error);
    }
    // A closed standard error is not an error.
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    let records = names_command(words, "record");
    ExitCode::from(if records { NOT_RECORDED } else { NO_OUTPUT })
}

/// Runs the command `perf_to_profile`. A damaged recording is not a failure: pprof would not show the partial result.
#[must_use]
pub fn perf_to_profile() -> ExitCode {
    set_memory_words(MEMORY_WORDS);
    clean_up();
    compat::perf_to_profile()
}

/// Runs the command `hotspot-perfparser`, with that program's own exit statuses.
#[must_use]
pub fn hotspot_perfparser() -> ExitCode {
    set_memory_words(MEMORY_WORDS);
    clean_up();
    compat::hotspot_perfparser()
}

/// Returns true if a command handles signals itself: a service first ends the work in progress.
fn hears_signals(command: Option<&Command>) -> bool {
    match command {
        // perf attaches to the threads of a process that waits: it has one, as the program that it becomes.
        Some(Command::Record(_) | Command::StartProgram(_)) => true,
        #[cfg(feature = "parquet")]
        Some(Command::Convert(_)) => true,
        #[cfg(feature = "service")]
        Some(Command::Serve(_) | Command::Live(_)) => true,
        _ => false,
    }
}

/// Removes partial files if a signal ends the command.
fn clean_up() {
    // If signals cannot be caught, they end the process by default.
    let _ = host::clean_up_on_signals();
}
