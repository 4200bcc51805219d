//! `perf_to_profile`: the converter that pprof starts to read a recording.

use std::process::ExitCode;

fn main() -> ExitCode {
    unwind_perf::perf_to_profile()
}
