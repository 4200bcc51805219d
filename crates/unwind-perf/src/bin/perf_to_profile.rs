//! `perf_to_profile`: what pprof runs to read a recording.

use std::process::ExitCode;

fn main() -> ExitCode {
    unwind_perf::perf_to_profile()
}
