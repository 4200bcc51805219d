//! `hotspot-perfparser`: hotspot's backend, with the options and exit statuses that hotspot knows.
//!
//! hotspot starts what `HOTSPOT_PERFPARSER` names as `hotspot-perfparser --input RECORDING --max-frames N`, with further
//! options where its user set them, and reads the stream from standard output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::{is_closed_pipe, pipeline};

/// Turn a recording of perf into the stream that hotspot reads.
#[derive(Debug, Parser)]
#[command(name = "hotspot-perfparser", version, max_term_width = 100)]
struct Arguments {
    /// The recording
    #[arg(long, value_name = "FILE")]
    input: PathBuf,

    /// Write to FILE instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Look for recorded paths below DIR
    #[arg(long, value_name = "DIR")]
    sysroot: Option<PathBuf>,

    /// Directories of separate debug files, with colons between them
    #[arg(long, value_name = "DIRS", value_delimiter = ':')]
    debug: Vec<PathBuf>,

    /// Take kernel names from FILE
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,

    /// The most frames of a callchain; -1 for no limit
    #[arg(long, value_name = "N", default_value_t = 64, allow_negative_numbers = true)]
    max_frames: i64,

    /// Print a summary to standard error
    #[arg(long)]
    print_stats: bool,

    /// Not needed: recordings are sorted as a whole
    #[arg(long, value_name = "KB")]
    buffer_size: Option<u64>,

    /// Not needed: recordings are sorted as a whole
    #[arg(long, value_name = "KB")]
    max_buffer_size: Option<u64>,
}

/// Exit statuses that hotspot knows.
const CANNOT_OPEN: u8 = 2;
const BAD_MAGIC: u8 = 3;
const BAD_HEADER: u8 = 4;
const BAD_DATA: u8 = 5;
const INVALID_OPTION: u8 = 7;

/// Runs the command.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Nobody to tell where the streams are closed.
            let _ = error.print();
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked { 0 } else { INVALID_OPTION });
        }
    };
    let result = Cli::try_parse_from(words(arguments))
        .map_err(anyhow::Error::from)
        .and_then(|cli| pipeline::main(&cli.main));
    match result {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hotspot-perfparser: {error:#}");
            ExitCode::from(status(&error))
        }
    }
}

/// The command line of the main command that does the same.
fn words(arguments: Arguments) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["unwind-perf".into(), "--format=hotspot".into()];
    if !arguments.print_stats {
        words.push("--quiet".into());
    }
    let max_frames = usize::try_from(arguments.max_frames).unwrap_or(usize::MAX);
    words.push(format!("--max-frames={max_frames}").into());
    let single = [
        ("--output", arguments.output),
        ("--sysroot", arguments.sysroot),
        ("--kallsyms", arguments.kallsyms),
    ];
    let debug = arguments.debug.into_iter().map(|dir| ("--debug-dir", Some(dir)));
    for (option, value) in single.into_iter().chain(debug) {
        if let Some(value) = value {
            words.push(option.into());
            words.push(value.into());
        }
    }
    words.push("--".into());
    words.push(arguments.input.into());
    words
}

fn status(error: &anyhow::Error) -> u8 {
    let header = error.chain().find_map(|cause| cause.downcast_ref::<perf_data::Error>());
    match header {
        Some(perf_data::Error::NotPerfData { .. }) => BAD_MAGIC,
        Some(_) => BAD_HEADER,
        None if error.chain().any(|cause| cause.is::<std::io::Error>()) => CANNOT_OPEN,
        None => BAD_DATA,
    }
}
