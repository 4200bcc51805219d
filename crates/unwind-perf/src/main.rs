//! `unwind-perf`, the command; under the names of its other programs, these.

use std::process::ExitCode;

fn main() -> ExitCode {
    unwind_perf::by_name()
}
