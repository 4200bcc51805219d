//! `perf_to_profile`: the program that `pprof perf.data` runs, with its options.
//!
//! pprof looks for it in `PATH` and calls `perf_to_profile -i RECORDING -o PROFILE -f`.
//!
//! Source: <https://github.com/google/perf_data_converter>, README.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Parser;
use formats::{Format, FormatOptions};
use host::Origin;
use pipeline::{Observer, Options, Unobserved};

use crate::args::{host, pipeline, source, with_argument};
use crate::commands::on_pool;
use crate::terminal::{Inputs, NO_OUTPUT, OutputTarget, Status, exit_code, print_profile};

/// Turn a recording of perf into a profile for pprof.
///
/// Exit status: 0 the profile was written; 2 it was not.
#[derive(Debug, Parser)]
#[command(name = "perf_to_profile", version, max_term_width = 100)]
struct Arguments {
    /// The recording
    #[arg(short, value_name = "FILE")]
    input: PathBuf,

    /// The profile to write
    #[arg(short, value_name = "FILE")]
    output: PathBuf,

    /// Overwrite an existing profile
    #[arg(short)]
    force: bool,

    /// Allow unaligned mappings, as of JIT code; always allowed here
    #[arg(short)]
    jit: bool,
}

/// Runs the command.
pub(crate) fn main() -> ExitCode {
    let result = run().map(|status| {
        if status == Status::Damaged {
            eprintln!(
                "perf_to_profile: the recording is damaged; the profile has its readable part"
            );
        }
        Status::Complete
    });
    exit_code("perf_to_profile", NO_OUTPUT, result)
}

/// Reads the command line, writes the profile.
fn run() -> anyhow::Result<Status> {
    let arguments = Arguments::parse();
    if !arguments.force && host().stat(&arguments.output, Origin::User).is_ok() {
        bail!("{} exists; -f overwrites it", arguments.output.display());
    }
    let options = Options::default();
    let inputs = Inputs::new(&arguments.input, &options, &[]);
    // pprof reads through the descriptor of the file that it created, so the file must not be replaced.
    let target = OutputTarget::in_place(&arguments.output, &inputs)?;
    on_pool(0, || {
        let observer: Arc<dyn Observer> = Arc::new(Unobserved);
        let analysis = pipeline().analyze(source(&arguments.input), &options, &observer);
        let analysis = analysis.map_err(with_argument)?;
        let printer = Format::Pprof.printer(FormatOptions::DEFAULT);
        print_profile(&analysis.profile, &*printer, &target)?;
        Ok(if analysis.is_damaged { Status::Damaged } else { Status::Complete })
    })
}
