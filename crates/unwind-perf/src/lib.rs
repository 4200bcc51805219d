//! The commands of this package: `unwind-perf`, and the same under the names that other programs look for.
//!
//! Arguments in, a profile out; diagnostics on stderr; an exit status that a script can use: 0 complete, 1 written but
//! the input was damaged, 2 no output.
#![allow(clippy::print_stderr, reason = "a command talks to people on stderr")]

mod args;
mod commands;
mod compat;
mod hotspot;
mod terminal;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::args::{Cli, Command, color_in_arguments, with_suggestion};
use crate::terminal::{choose_colors, exit_code};

/// The command that the program was started as: `perf_to_profile` and `hotspot-perfparser` can be links to
/// `unwind-perf`, which it is under any other name.
#[must_use]
pub fn by_name() -> ExitCode {
    let started_as = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    match started_as.file_name().and_then(OsStr::to_str) {
        Some("perf_to_profile") => perf_to_profile(),
        Some("hotspot-perfparser") => hotspot_perfparser(),
        _ => unwind_perf(),
    }
}

/// The command `unwind-perf`.
#[must_use]
pub fn unwind_perf() -> ExitCode {
    let mut command = Cli::command().color(color_in_arguments(std::env::args_os()));
    let words: Vec<_> = std::env::args_os().collect();
    let parsed = command.try_get_matches_from_mut(&words);
    let matches = match parsed {
        Ok(matches) => matches,
        Err(error) => with_suggestion(error, &mut command, &words).exit(),
    };
    let cli =
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit());
    choose_colors(cli.color);
    // A signal that ends a recording does not end us.
    if !hears_signals(cli.command.as_ref()) {
        clean_up();
    }
    exit_code("unwind-perf", commands::run(&cli))
}

/// The command `perf_to_profile`. A damaged recording is no failure: pprof would not show what there is.
#[must_use]
pub fn perf_to_profile() -> ExitCode {
    clean_up();
    compat::perf_to_profile()
}

/// The command `hotspot-perfparser`, with that program's own exit statuses.
#[must_use]
pub fn hotspot_perfparser() -> ExitCode {
    clean_up();
    compat::hotspot_perfparser()
}

/// Whether a command has its own way with signals: a service ends what is under way.
fn hears_signals(command: Option<&Command>) -> bool {
    match command {
        Some(Command::Record(_)) => true,
        #[cfg(feature = "service")]
        Some(Command::Serve(_) | Command::Live(_)) => true,
        _ => false,
    }
}

/// Nothing that is half done stays behind where a signal ends the command.
fn clean_up() {
    // Where signals cannot be caught, they end it as they always did.
    let _ = host::clean_up_on_signals();
}
