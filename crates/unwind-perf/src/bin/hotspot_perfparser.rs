//! `hotspot-perfparser`: the backend that hotspot starts.

use std::process::ExitCode;

fn main() -> ExitCode {
    unwind_perf::hotspot_perfparser()
}
