//! `unwind-perf`, the command.

use std::process::ExitCode;

fn main() -> ExitCode {
    unwind_perf::unwind_perf()
}
